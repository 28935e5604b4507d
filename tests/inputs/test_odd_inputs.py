"""Odd rows, labels, weights and folds: used as what they are, or refused by name."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bblr import BBLRClassifier, BBLRClassifierCV, KernelBBLRClassifier, RobustClassifier

rng = np.random.default_rng(0)
Y = np.arange(40) % 2
X = rng.normal(size=(40, 2)) + Y[:, None]
HIDDEN = np.arange(40) == 3
MODELS = [BBLRClassifier(), KernelBBLRClassifier(), RobustClassifier(BBLRClassifier())]


@pytest.mark.parametrize("model", MODELS[:2], ids=repr)
def test_what_a_mask_hides_is_missing(model):
    """NumPy hands on the numbers under a mask as if they were seen."""
    masked = np.ma.masked_array(X, mask=np.tile(HIDDEN[:, None], 2))
    for fitted in (model, model.fit(X, Y)):
        with pytest.raises(ValueError, match=r"X contains NaN: .* hides 2 of its numbers"):
            fitted.fit(masked, Y)
    with pytest.raises(ValueError, match="hides 2"):
        model.decision_function(masked)
    with pytest.raises(ValueError, match=r"y contains NaN: 1 label\(s\) .* row 3"):
        model.fit(X, np.ma.masked_array(Y, mask=HIDDEN))
    with pytest.raises(ValueError, match="sample_weight must hold a number for each row"):
        model.fit(X, Y, sample_weight=np.ma.masked_array(np.ones(40), mask=HIDDEN))
    seen = np.ma.masked_array(X, mask=False)
    np.testing.assert_array_equal(
        model.fit(seen, Y).decision_function(seen), model.fit(X, Y).decision_function(X)
    )


@pytest.mark.parametrize(
    "weight",
    [
        np.ones(40) + 0j,
        np.full(40, np.datetime64("2020")),
        np.full(40, np.timedelta64(1)),
        sparse.csr_matrix(np.ones(40)),
    ],
    ids=["complex", "dates", "spans", "sparse"],
)
def test_weights_are_numbers(weight):
    with pytest.raises(ValueError, match="sample_weight must hold a number for each row, got"):
        BBLRClassifier().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize(
    "weight", [[None] * 40, pd.Series([None, *[1.0] * 39], dtype="Float64")], ids=["None", "NA"]
)
def test_missing_weights_are_not_called_zero(weight):
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        BBLRClassifier().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([1, "a"] * 20, dtype=object),
        [10**30 + int(label) for label in Y],
        pd.Series(pd.PeriodIndex(np.array(["2020", "2021"])[Y], freq="Y")),
        pd.Series(pd.to_datetime(np.array(["2020", "2021"])[Y]).tz_localize("UTC")),
    ],
    ids=["mixed", "huge", "periods", "zoned"],
)
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_labels_that_are_objects_are_named(model, labels):
    """scikit-learn suspects a regression."""
    with pytest.raises(ValueError, match=r"y must hold labels of one kind.* into text, for inst"):
        model.fit(X, labels)


def test_frames_of_other_libraries_are_read_or_named():
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    expected = BBLRClassifier().fit(X, Y).decision_function(X)
    for table in (pa.table, pa.record_batch):
        rows = table({"a": X[:, 0], "b": X[:, 1]})
        found = BBLRClassifier().fit(rows, Y).decision_function(rows)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        with pytest.raises(ValueError, match=r"these columns do not: 'a' \(such as 'x'\)"):
            BBLRClassifier().fit(table({"a": ["x"] * 40, "b": X[:, 1]}), Y)
        with pytest.raises(ValueError, match="X contains NaN"):
            BBLRClassifier().fit(table({"a": [None, *X[1:, 0]], "b": X[:, 1]}), Y)
    with (
        warnings.catch_warnings(action="ignore"),  # Polars names what is slow for a lazy frame
        pytest.raises(TypeError, match=r"X is a LazyFrame.* pass X.collect\(\)"),
    ):
        BBLRClassifier().fit(pl.DataFrame(X).lazy(), Y)


def test_folds_are_rows_by_number_or_by_mask():
    at = np.arange(40)
    folds = [(np.flatnonzero(at % 3 != k), np.flatnonzero(at % 3 == k)) for k in range(3)]
    ways = [
        folds,
        [(train - 40, test - 40) for train, test in folds],
        [(at % 3 != k, at % 3 == k) for k in range(3)],
        [(train.tolist(), test.tolist()) for train, test in folds],
    ]
    found = [
        BBLRClassifierCV(cv=way, l2s=[0.1, 1.0], random_state=0).fit(X, Y).coef_ for way in ways
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize(
    "fold",
    [
        ([], []),
        (Y[:20] > 0, Y > 0),
        (np.arange(40.0), [1]),
        (1.0, 2),
        ([[1, 2]], [3]),
        ([99], [1]),
    ],
    ids=["empty", "short mask", "floats", "numbers", "square", "beyond"],
)
def test_other_folds_are_named(fold):
    with pytest.raises(ValueError, match=r"^cv (must give every fold|names rows beyond)"):
        BBLRClassifierCV(cv=[fold]).fit(X, Y)


def test_as_many_workers_as_there_is_work():
    """joblib starts all workers that it is allowed, before it has work for them."""
    from bblr._numeric.threads import jobs_for

    assert [jobs_for(3, n) for n in (10**9, 2, -1, None)] == [3, 2, -1, None]
    assert jobs_for(0, 5) == 1
