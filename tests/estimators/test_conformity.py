"""scikit-learn's own checks, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bblr import BBLRClassifier, BBLRClassifierCV, SLAClassifier, ZeroOneClassifier


@parametrize_with_checks(
    [
        BBLRClassifier(),
        BBLRClassifier(solver="lbfgs", prior="weak"),
        BBLRClassifier(prior="learned"),
        BBLRClassifier(prior="empirical", class_weight="balanced"),
        BBLRClassifierCV(cv=3),
        SLAClassifier(),
        ZeroOneClassifier(random_state=0),
        ZeroOneClassifier(solver="sla"),
        ZeroOneClassifier(solver="csa", random_state=0),
        ZeroOneClassifier(solver="mip", time_limit=5, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
