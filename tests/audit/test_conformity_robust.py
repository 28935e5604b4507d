"""scikit-learn's own checks of the classifier around others, with no expected failure."""

from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from bblr import BBLRClassifier, RobustClassifier


@parametrize_with_checks(
    [
        RobustClassifier(BBLRClassifier()),
        RobustClassifier(LogisticRegression(), method="soft"),
        RobustClassifier(DecisionTreeClassifier(random_state=0), n_rounds=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
