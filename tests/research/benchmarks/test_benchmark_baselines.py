"""The baselines, the data made up for them, and the races, on little data."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from bblr import BBLRClassifierCV
from research.benchmarks import data as made
from research.benchmarks import fits, growth, memory, tournaments
from research.benchmarks.__main__ import load_cases
from research.benchmarks.data import cut
from research.benchmarks.timing import slope
from research.benchmarks.tournaments import (
    KERNEL,
    LINEAR,
    OURS,
    Baseline,
    Liblinear,
    racing,
    tournament,
)
from research.core.cases import Run
from research.core.parts import Parts

QUICK = Run(quick=True)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (made.correlated, (300, 4)),
        (made.indicators, (300, 20, 5)),
        (made.text, (300, 50)),
        (made.rings, (300, 4)),
        (made.many, (300, 4, 3)),
    ],
)
def test_made_data_follow_the_seed(make, shape):
    (X, y), (again, labels), (other, _) = (make(*shape, seed) for seed in (1, 1, 2))
    assert X.shape == (shape[0], shape[1]) and y.shape == (300,)
    assert abs(X - again).sum() == 0 and np.array_equal(y, labels) and abs(X - other).sum() > 0
    assert len(np.unique(y)) == (shape[2] if make is made.many else 2)
    assert np.unique(y, return_counts=True)[1].min() > 30


def test_indicators_are_ones_and_no_more_than_asked():
    X, _ = made.indicators(500, 30, 7, 0)
    assert set(X.data) == {1.0} and np.diff(X.indptr).max() <= 7


# Without skglm, which compiles for half a minute. saga stops at its limit of iterations.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("baseline", LINEAR[:-1], ids=lambda baseline: baseline.name)
def test_every_baseline_does_the_work_it_says(baseline):
    if baseline.missing():
        pytest.skip(baseline.missing())
    work = {
        "dense": made.correlated(600, 5, 0),
        "sparse": made.indicators(600, 20, 6, 0),
        "wide": made.text(600, 200, 0),
        "many": made.many(600, 4, 3, 0),
    }
    for kind in baseline.fits.split():
        X, y = work[kind]
        assert baseline.make(len(y)).fit(X, y).score(X, y) > (0.5 if kind == "many" else 0.6)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_liblinear_decides_as_scikit_learn_does(classes, kind):
    pytest.importorskip("liblinear")
    X, y = made.many(500, 5, classes, 0)
    names = np.array(["d", "b", "c", "a"])[y]
    predicted = Liblinear("-s 0 -c 1 -B 1 -e 1e-6 -q").fit(kind(X), names).predict(kind(X))
    expected = LogisticRegression(tol=1e-8).fit(X, names).predict(X)
    # Of many classes it fits each against the others, scikit-learn all at once.
    assert np.mean(predicted == expected) > (0.98 if classes == 2 else 0.85)


def test_a_baseline_that_is_not_installed_is_named():
    ghost = Baseline("ghost", "", lambda rows: None, "dense", "no_such_module")
    able, missing = racing((LINEAR[0], ghost, KERNEL[0]), "dense")
    assert able == [LINEAR[0]]
    assert "no_such_module is not installed" in missing["ghost"]


class Warns(DummyClassifier):
    def fit(self, X, y):
        warnings.warn("limit", ConvergenceWarning, stacklevel=2)
        return super().fit(X, y)


def test_a_tournament_counts_errors_of_the_test_part_and_marks_who_stopped():
    baselines = (
        Baseline(OURS, "", lambda rows: LogisticRegression(), "dense"),
        Baseline("constant", "", lambda rows: Warns(strategy="constant", constant=1), "dense"),
    )
    X = np.repeat([[-1.0], [1.0]], 100, axis=0)
    y = np.sign(X[:, 0])
    parts = Parts(X, y, X[90:], y[90:])
    found = tournament(baselines, {"ghost": "gone"}, parts, 2)
    ours, constant = found.details["table"]
    assert ours["ratio"] == 1.0 and ours["error"] == 0.0 and not ours["stopped"]
    assert constant["error"] == pytest.approx(100 * 10 / 110, abs=0.01) and constant["stopped"]
    assert constant["ratio"] == pytest.approx(constant["seconds"] / ours["seconds"], rel=0.01)
    assert found.notes[-1] == "ghost: gone" and "stopped at its limit" in found.notes[2]


def test_cut_keeps_all_rows():
    parts = cut(np.arange(10), np.arange(10), 7)
    assert list(parts.X_train) == list(range(7)) and list(parts.y_test) == [7, 8, 9]


def test_slopes_of_powers():
    assert slope([(n, 3e-6 * n**1.5) for n in (10, 50, 200)]) == pytest.approx(1.5)
    assert np.isnan(slope([(1, 1.0)]))


@pytest.fixture
def tiny(monkeypatch):
    """Data so small that all cases take seconds, and few baselines: compiling takes long."""
    shapes = {
        "dense": (400, 5),
        "csr": (400, 30, 5),
        "text": (400, 100),
        "kernel": (80, 3),
        "cv": (80, 2),
        "many": (400, 5, 3),
    }
    for kind, shape in shapes.items():
        monkeypatch.setitem(tournaments.SHAPES, kind, (tournaments.SHAPES[kind][0], shape))
    monkeypatch.setattr(tournaments, "STRENGTHS", np.array([0.1, 1.0]))
    monkeypatch.setattr(tournaments, "LINEAR", LINEAR[:2])
    monkeypatch.setattr(
        tournaments, "BBLRClassifierCV", partial(BBLRClassifierCV, cv=2, l2s=(3.0,), leverage=None)
    )
    monkeypatch.setattr(growth, "ROWS", (300, 600, 1_200))
    monkeypatch.setattr(growth, "FEATURES", (3, 6))
    monkeypatch.setattr(growth, "FEATURES_ROWS", 300)
    monkeypatch.setattr(growth, "ENTRIES_SHAPE", (300, 50))
    monkeypatch.setattr(growth, "CLASSES_SHAPE", (300, 5))
    monkeypatch.setattr(growth, "THREADS_SHAPE", (300, 16))
    monkeypatch.setattr(growth, "WORKERS_SHAPE", (80, 2))
    monkeypatch.setattr(growth, "_counts", lambda: [1, 2])
    monkeypatch.setattr(memory, "SPARSE_SHAPE", (2_000, 200, 10))
    monkeypatch.setattr(fits, "REFIT_SHAPE", (500, 5))


@pytest.mark.parametrize(
    "name",
    [f"baselines-{kind}" for kind in ("dense", "csr", "text", "many", "kernel", "cv", "zero-one")],
)
def test_tournaments_on_little_data(tiny, name):
    outcome = load_cases()[name].run(QUICK)
    assert outcome.failure == "" and outcome.measured is not None
    table = outcome.measured.details["table"]
    assert table[0]["baseline"] == OURS and len(table) >= 2
    assert all(row["seconds"] > 0 and 0 <= row["error"] < 60 for row in table)


@pytest.mark.parametrize("kind", ["n", "d", "nnz", "classes", "threads", "workers"])
def test_growth_on_little_data(tiny, kind):
    outcome = load_cases()[f"growth-{kind}"].run(QUICK)
    assert outcome.failure == "" and outcome.measured is not None
    points = outcome.measured.details["series"]["points"]
    sizes = [[size for size, _ in found] for found in points.values()]
    assert len(points) >= 2 and all(s == sorted(s) and s == sizes[0] for s in sizes)
    assert all(seconds > 0 for found in points.values() for _, seconds in found)


@pytest.mark.parametrize("name", ["memory-csr", "warm-start"])
def test_memory_and_warm_starts_on_little_data(tiny, name):
    outcome = load_cases()[name].run(QUICK)
    assert outcome.failure == "" and outcome.measured is not None
    assert len(outcome.measured.figures) == 2


def test_a_cold_start_has_a_cache_of_its_own(monkeypatch):
    caches = []

    def run(code, environment):
        caches.append(environment["NUMBA_CACHE_DIR"])
        return ""

    monkeypatch.setattr(fits, "run_python", run)
    outcome = load_cases()["first-compile"].run(Run())
    assert outcome.failure == "" and len(outcome.measured.figures) == 10
    assert caches[::2] == caches[1::2] and len(set(caches)) == 5


def test_thread_counts_end_at_the_cores(monkeypatch):
    for cores, counts in {1: [1], 2: [1, 2], 6: [1, 2, 4, 6], 8: [1, 2, 4, 8]}.items():
        monkeypatch.setattr(growth.joblib, "cpu_count", lambda cores=cores: cores)
        assert growth._counts() == counts
