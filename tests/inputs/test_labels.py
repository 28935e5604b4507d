"""Labels of pandas' own types: as distinct, and of the same kind, as their plain equals."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from bblr import BBLRClassifier, KernelBBLRClassifier, RobustClassifier, ZeroOneClassifier
from bblr.audit import find_label_errors

X = np.random.default_rng(0).normal(size=(60, 2))
SIDE = X[:, 0] > 0
LARGE = np.where(SIDE, 2**53 + 1, 2**53)
TEXTS = np.where(SIDE, "yes", "no").astype(object)

PLAIN = {
    "Int64": LARGE,
    "int64[pyarrow]": LARGE,
    "UInt64": LARGE.astype(np.uint64) + np.uint64(2**63),
    "Int8": SIDE.astype(np.int8),
    "boolean": SIDE,
    "bool[pyarrow]": SIDE,
    "Float64": SIDE.astype(float),
    "string": TEXTS,
    "string[pyarrow]": TEXTS,
    "category": TEXTS,
}


def same_classes(model, plain):
    assert_array_equal(model.classes_, np.unique(plain))
    assert model.classes_.dtype == plain.dtype


@pytest.mark.parametrize("kind", PLAIN)
def test_nullable_labels_are_their_plain_equals(kind):
    y, plain = pd.Series(PLAIN[kind]).astype(kind), PLAIN[kind]
    expected = BBLRClassifier().fit(X, plain)
    for given in (y, y.to_frame().iloc[:, 0], y.array):
        model = BBLRClassifier().fit(X, given)
        same_classes(model, plain)
        assert_array_equal(model.predict(X), expected.predict(X))
        assert model.predict(X).dtype == plain.dtype
    assert model.score(X, y) == expected.score(X, plain) > 0.9
    assert_array_equal(model.outlier_scores(X, y), expected.outlier_scores(X, plain))


def test_categories_may_be_nullable_integers():
    y = pd.Series(LARGE).astype("Int64").astype("category")
    same_classes(BBLRClassifier().fit(X, y), LARGE)


@pytest.mark.parametrize("kind", ["Int64", "boolean", "string"])
def test_all_estimators_take_nullable_labels(kind):
    y = pd.Series(PLAIN[kind]).astype(kind)
    for model in (KernelBBLRClassifier(), ZeroOneClassifier(random_state=0)):
        same_classes(model.fit(pd.DataFrame(X).rename(columns=str), y), PLAIN[kind])
    assert find_label_errors(BBLRClassifier(), X, y, random_state=0).classes.dtype == (
        PLAIN[kind].dtype
    )


def test_classifiers_around_others_score_nullable_labels():
    """Floats cannot tell these two apart, so that all predictions were right."""
    y = pd.Series(LARGE).astype("Int64")
    wrong = pd.Series(LARGE[::-1].copy()).astype("Int64")
    model = RobustClassifier(BBLRClassifier(), random_state=0).fit(X, y)
    expected = np.mean(model.predict(X) == LARGE[::-1])
    assert model.score(X, wrong) == expected < 0.9
    boosted = pytest.importorskip("bblr.lightgbm").BetaBernoulliLGBMClassifier().fit(X, y)
    assert boosted.score(X, wrong) == np.mean(boosted.predict(X) == LARGE[::-1]) < 0.9


@pytest.mark.parametrize("kind", [*PLAIN, "object", None])
def test_missing_labels_are_named(kind):
    y = pd.Series(PLAIN.get(kind, TEXTS)).astype(kind or object)
    y[7] = pd.NA if kind else None
    for model in (BBLRClassifier(), KernelBBLRClassifier()):
        with pytest.raises(ValueError, match=r"y contains NaN.* the rows without a label"):
            model.fit(X, y)
    with pytest.raises(ValueError, match=r"y contains NaN.* the rows without a label"):
        find_label_errors(BBLRClassifier(), X, y)


@pytest.mark.parametrize("odd", [np.nan, None, 1, True, b"no"], ids=repr)
def test_a_list_of_texts_holds_nothing_else(odd):
    """NumPy makes texts of all, such as a class 'nan' of missing labels."""
    y = TEXTS.tolist()
    right = BBLRClassifier().fit(X, y)
    y[5], y[6] = odd, odd
    models = [BBLRClassifier(), KernelBBLRClassifier(), RobustClassifier(BBLRClassifier())]
    with suppress(ImportError):
        from bblr.lightgbm import BetaBernoulliLGBMClassifier

        models.append(BetaBernoulliLGBMClassifier())
    for model in models:
        for labels in (y, tuple(y)):
            with pytest.raises(ValueError, match=r"^(Input y contains NaN|y must hold labels of)"):
                model.fit(X, labels)
    if odd is None or odd is np.nan:
        with pytest.raises(ValueError, match="y contains NaN"):
            right.score(X, y)
