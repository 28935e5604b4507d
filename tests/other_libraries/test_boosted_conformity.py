"""scikit-learn's own checks of the classifiers around other libraries."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")

from bblr.lightgbm import BetaBernoulliLGBMClassifier  # noqa: E402
from bblr.xgboost import BetaBernoulliXGBClassifier  # noqa: E402

# Few trees and no more threads than the tests have.
SMALL_LGBM = lightgbm.LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1)
SMALL_XGB = xgboost.XGBClassifier(n_estimators=5, n_jobs=1)


@parametrize_with_checks(
    [
        BetaBernoulliLGBMClassifier(SMALL_LGBM),
        BetaBernoulliXGBClassifier(SMALL_XGB),
    ]
)
def test_scikit_learn_checks(estimator, check):
    exact = getattr(check, "func", check).__name__.startswith("check_sample_weight_equivalence")
    if exact and isinstance(estimator, BetaBernoulliXGBClassifier):
        pytest.skip("XGBoost holds gradients in single precision; see test_weights_are_repeats")
    check(estimator)
