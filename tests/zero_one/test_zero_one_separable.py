"""ZeroOneClassifier on separable data: no error, whatever the solver, and before any search."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from bblr import ZeroOneClassifier
from bblr.zero_one import zero_one_classifier as zero_one
from bblr.zero_one.run import Run

SOLVERS = ("search", "sla", "pcs", "csa", "bnb", "mip", "exact")
REASON = "linearly separable"


def planted(n, d, seed=0, offset=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) > offset).astype(int)


def overlapping(n=60, d=2, seed=0):
    X, y = planted(n, d, seed)
    y[:6] = 1 - y[:6]
    return X, y


def check(model, X, y, weight=None):
    counted = slice(None) if weight is None else np.asarray(weight) > 0
    np.testing.assert_array_equal(model.predict(X)[counted], y[counted])
    assert (model.zero_one_loss_, model.lower_bound_, model.gap_) == (0.0, 0.0, 0.0)
    assert model.optimal_
    assert model.reason_ == REASON
    assert (model.trace_[-1].loss, model.trace_[-1].bound) == (0.0, 0.0)
    assert np.linalg.norm(model.coef_) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("n", "d"),
    [(50, 2), (208, 60), (300, 5), (1000, 100), (5000, 2), (5000, 20), (60, 200), (2, 1)],
)
def test_planted_data_of_many_shapes(n, d):
    for seed in range(3):
        X, y = planted(n, d, seed)
        if 0 < y.sum() < n:
            check(ZeroOneClassifier(random_state=seed).fit(X, y), X, y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_begins_so(solver):
    X, y = planted(80, 2)
    model = ZeroOneClassifier(solver, max_steps=1, random_state=0).fit(X, y)
    check(model, X, y)
    other = ZeroOneClassifier(random_state=1).fit(X, y)
    np.testing.assert_array_equal(model.coef_, other.coef_)


def test_labels_without_a_plan():
    """Of 208 rows with 60 features, as many as Sonar has, classes that just do not overlap."""
    for seed in (0, 1, 2, 3, 5):
        X, y = make_classification(
            208, 60, n_informative=40, n_redundant=0, flip_y=0.0, random_state=seed
        )
        check(ZeroOneClassifier(random_state=0).fit(X, y), X, y)
    # Fewer rows than twice the parameters can nearly always be separated, whatever the labels.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 60)), rng.integers(0, 2, 100)
    check(ZeroOneClassifier(random_state=0).fit(X, y), X, y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_other_data_are_searched_as_if_nobody_had_asked(solver, monkeypatch):
    X, y = overlapping()
    model = ZeroOneClassifier(solver, time_limit=None, max_steps=20, random_state=0)
    asked = model.fit(X, y)
    found = asked.coef_, asked.intercept_, asked.zero_one_loss_, asked.lower_bound_, asked.reason_
    monkeypatch.setattr(Run, "_separate_table", lambda *_: None)
    again = model.fit(X, y)
    np.testing.assert_array_equal(again.coef_, found[0])
    np.testing.assert_array_equal(again.intercept_, found[1])
    assert (again.zero_one_loss_, again.lower_bound_, again.reason_) == found[2:]


@pytest.mark.parametrize("solver", ["search", "mip"])
def test_equal_rows_with_both_labels_cannot_be_separated(solver):
    X, y = planted(40, 3)
    X, y = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    model = ZeroOneClassifier(solver, time_limit=60, random_state=0).fit(X, y)
    assert model.zero_one_loss_ == 1
    assert model.reason_ != REASON


@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_enumeration(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 3))
    X = rng.integers(-2, 3, (n, d)).astype(float)
    y = rng.permutation(np.arange(n) % 2)
    options = {"fit_intercept": bool(seed % 3), "random_state": 0}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "_separate_table", lambda *_: None)
        least = ZeroOneClassifier("exact", **options).fit(X, y).zero_one_loss_
    model = ZeroOneClassifier("exact", **options).fit(X, y)
    assert model.zero_one_loss_ == least
    assert (model.reason_ == REASON) == (least == 0)


def test_units_and_order_do_not_matter():
    X, y = planted(150, 8)
    plain = ZeroOneClassifier().fit(X, y)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    np.testing.assert_array_equal(ZeroOneClassifier().fit(X[order], y[order]).coef_, plain.coef_)
    factor = 10.0 ** rng.integers(-9, 10, 8)
    moved = X * factor + 3 * factor
    check(ZeroOneClassifier().fit(moved, y), moved, y)
    shuffled = X[:, rng.permutation(8)]
    check(ZeroOneClassifier().fit(shuffled, y), shuffled, y)
    for factor in (1e-300, 1e300):
        check(ZeroOneClassifier().fit(X * factor, y), X * factor, y)


def test_rows_without_weight_are_ignored_and_light_ones_are_not():
    X, y = planted(120, 4)
    wrong, few = y.copy(), np.arange(0, 120, 10)
    wrong[few] = 1 - wrong[few]
    weight = np.ones(120)
    weight[few] = 0.0
    check(ZeroOneClassifier().fit(X, wrong, weight), X, wrong, weight)
    # The solvers leave out rows that are a millionth of the heaviest.
    rng = np.random.default_rng(0)
    light = np.where(rng.random(120) < 0.8, 1e-9, rng.uniform(0.5, 1.0, 120))
    check(ZeroOneClassifier().fit(X, y, light), X, y)
    light[few] = 1e-9
    model = ZeroOneClassifier("mip", random_state=0).fit(X, wrong, light)
    assert model.reason_ != REASON
    assert 0 < model.zero_one_loss_ < 1e-6


def test_weights_do_not_count_where_nothing_is_wrong():
    X, y = planted(120, 4)
    weight = np.random.default_rng(0).integers(1, 5, 120)
    copies = np.repeat(np.arange(120), weight)
    weighted = ZeroOneClassifier().fit(X, y, weight)
    check(weighted, X, y)
    again = ZeroOneClassifier().fit(X[copies], y[copies])
    np.testing.assert_array_equal(again.coef_, weighted.coef_)


@pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_array, np.asfortranarray])
def test_storage_does_not_matter(convert):
    X, y = planted(200, 12)
    X[np.abs(X) < 0.7] = 0.0
    y = (X @ np.random.default_rng(3).normal(size=12) > 0.1).astype(int)
    dense = ZeroOneClassifier().fit(X, y)
    check(dense, X, y)
    np.testing.assert_array_equal(ZeroOneClassifier().fit(convert(X), y).coef_, dense.coef_)


def test_without_an_intercept():
    X, y = planted(150, 5, offset=0.0)
    model = ZeroOneClassifier(fit_intercept=False).fit(X, y)
    check(model, X, y)
    assert model.intercept_ == 0
    # Separable, but not by a hyperplane through the origin.
    X = np.array([[1.0], [2.0], [3.0]])
    y = np.array([0, 1, 1])
    check(ZeroOneClassifier().fit(X, y), X, y)
    assert ZeroOneClassifier(fit_intercept=False).fit(X, y).zero_one_loss_ == 1


@pytest.mark.parametrize("solver", ["search", "sla"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, sparse.csc_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_large_data(solver, convert, fit_intercept, monkeypatch):
    monkeypatch.setattr(zero_one, "MAX_TABLE", 100)
    X, y = planted(3000, 10, offset=0.2 * fit_intercept)
    X[np.abs(X) < 0.5] = 0.0
    score = X @ np.random.default_rng(3).normal(size=10)
    X, y = X[score != 0], (score[score != 0] > 0.1 * fit_intercept).astype(int)
    weight = np.ones(len(y))
    weight[::50] = 0.0
    wrong = np.where(weight > 0, y, 1 - y)
    model = ZeroOneClassifier(solver, fit_intercept=fit_intercept, time_limit=None)
    check(model.fit(convert(X), wrong, weight), X, wrong, weight)
    X, y = overlapping(400, 3)
    rough = ZeroOneClassifier(solver, time_limit=None, random_state=0)
    found = rough.fit(convert(X), y).coef_
    assert rough.reason_ != REASON
    monkeypatch.setattr(Run, "_separate_rows", lambda *_: None)
    np.testing.assert_array_equal(rough.fit(convert(X), y).coef_, found)


def test_large_data_on_a_device(monkeypatch):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.setattr(zero_one, "MAX_TABLE", 100)
    X, y = planted(2000, 6)
    model = ZeroOneClassifier(device="cpu")
    check(model.fit(X, y), X, y)
    rows = torch.from_numpy(X)
    model.fit(rows, torch.from_numpy(y))
    assert torch.is_tensor(model.coef_)
    assert (model.zero_one_loss_, model.reason_) == (0.0, REASON)


def test_enumeration_still_refuses_many_features():
    X, y = planted(30, 5)
    with pytest.raises(ValueError, match="solver='exact' is for one or two features"):
        ZeroOneClassifier("exact").fit(X, y)


def test_no_time_at_all():
    X, y = planted(100, 4)
    model = ZeroOneClassifier(time_limit=1e-9, random_state=0).fit(X, y)
    assert model.reason_ != REASON


def test_a_plane_that_rounding_spoils_is_not_taken(monkeypatch):
    """Then the search goes on."""
    monkeypatch.setattr(Run, "_distances", lambda run, _: -run.training.y)
    X, y = planted(60, 3)
    model = ZeroOneClassifier(random_state=0).fit(X, y)
    assert model.zero_one_loss_ == 0
    assert model.reason_ != REASON


def test_what_is_printed(capsys):
    X, y = planted(60, 3)
    ZeroOneClassifier("mip", verbose=1).fit(X, y)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("loss 0, bound 0, gap 0 %")
