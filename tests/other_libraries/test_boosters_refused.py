"""What the classifiers around LightGBM and XGBoost refuse, and in which words."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("lightgbm", reason="LightGBM is not installed")
pytest.importorskip("xgboost", reason="XGBoost is not installed")

from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

from bblr.lightgbm import BetaBernoulliLGBMClassifier
from bblr.xgboost import BetaBernoulliXGBClassifier

MODELS = {
    "lightgbm": BetaBernoulliLGBMClassifier(LGBMClassifier(n_estimators=2, verbosity=-1)),
    "xgboost": BetaBernoulliXGBClassifier(XGBClassifier(n_estimators=2, n_jobs=1)),
}
X = np.arange(40.0).reshape(20, 2)
Y = np.arange(20) % 2
W = np.ones(20)
DAYS = np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")[Y]


@pytest.fixture(params=list(MODELS))
def model(request):
    return MODELS[request.param]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "requires y to be passed"),
        (["a", *Y[1:]], "y must hold labels of one kind"),
        (np.array(["a", *Y[1:]], dtype=object), "y must hold labels of one kind"),
        ([None, *Y[1:]], "Input y contains NaN: 1 label.* first in row 0"),
        (np.where(Y, DAYS, np.datetime64("NaT")), "Input y contains NaN: 10 label"),
        ([np.nan, *Y[1:]], "Input y contains NaN"),
        ([np.inf, *Y[1:]], "Input y contains infinity"),
        (pd.array([None, *Y[1:]], dtype="Int64"), "Input y contains NaN"),
        (Y[:-1], "inconsistent numbers of samples"),
        (np.zeros(20), "y must hold two or more classes, got one class"),
    ],
)
@pytest.mark.parametrize("rows", [X, pd.DataFrame(X, columns=["a", "b"])], ids=["array", "frame"])
def test_labels(rows, y, words, model):
    with pytest.raises(ValueError, match=words):
        model.fit(rows, y)


def test_no_rows(model):
    with pytest.raises(ValueError, match="got no rows"):
        model.fit(pd.DataFrame({"a": []}), [])


PAIRS = r"eval_set must be a list of pairs: eval_set=\[\(X, y\)\]"


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ((X, Y), PAIRS),
        (X, PAIRS),
        (3, PAIRS),
        ([None], PAIRS),
        ([(X,)], PAIRS),
        ([(X, Y), (X, None)], r"eval_set\[1\]: y must hold a label for each row"),
        ([(X, Y[:-1])], r"eval_set\[0\]: .*inconsistent numbers of samples"),
        ([(X, [np.nan, *Y[1:]])], r"eval_set\[0\]: Input y contains NaN"),
        ([(X[:, :1], Y)], r"eval_set\[0\]: X has 1 feature"),
        ([(X, Y.astype(str))], "eval_set must hold no class that the training rows lack"),
    ],
)
def test_parts_to_watch(parts, words, model):
    with pytest.raises(ValueError, match=words):
        model.fit(X, Y, eval_set=parts)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (W, "eval_sample_weight must be a list"),
        (3, "eval_sample_weight must be a list"),
        ([W, W], "eval_sample_weight must hold weights for each of the 1 parts"),
        ([np.r_[np.nan, W[1:]]], r"eval_sample_weight\[0\]: .*contains NaN"),
        ([np.r_[np.inf, W[1:]]], r"eval_sample_weight\[0\]: .*contains infinity"),
        ([-W], r"eval_sample_weight\[0\]: .*weights must be at least 0"),
        ([0 * W], r"eval_sample_weight\[0\]: .*a positive weight"),
        ([W[1:]], r"eval_sample_weight\[0\]: sample_weight.shape"),
        ([1e300 * W], r"eval_sample_weight\[0\]: .*single precision"),
        ([["a"] * 20], r"eval_sample_weight\[0\]: .*a number for each row"),
    ],
)
def test_weights_of_rows_to_watch(weights, words, model):
    with pytest.raises(ValueError, match=words):
        model.fit(X, Y, eval_set=[(X, Y)], eval_sample_weight=weights)


@pytest.mark.parametrize("rho", ["a", None, {}, np.nan])
def test_a_ratio_is_named_as_it_was_given(rho, model):
    with pytest.raises(ValueError, match=rf"^rho must be (a number|finite), got {rho!r}"):
        type(model)(model.estimator, rho=rho).fit(X, Y)
