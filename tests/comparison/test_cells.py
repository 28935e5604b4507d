from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import log_loss

from bblr.comparison import tasks
from bblr.comparison.cells import CLEAN, Cell, Condition
from bblr.comparison.methods import METHODS
from bblr.comparison.sources import make_table

PROTOCOLS = ("uniform-one-class", "uniform-random", "label-flip")
CONDITIONS = [CLEAN, *(Condition(0.2, protocol, "training") for protocol in PROTOCOLS)]


def cell_of(table, condition=CLEAN, method=METHODS["LR"], **changes):
    place = {"repeat": 0, "fold": 0, "folds": 4, "seed": 3, **changes}
    return Cell.of(table, method, condition, **place)


def rows_of(X):
    return {tuple(row) for row in X}


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: c.protocol or "clean")
@pytest.mark.parametrize("repeat", [0, 1])
def test_folds_partition_the_data_and_leave_the_test_part_alone(tiny_table, condition, repeat):
    tested = []
    for fold in range(4):
        part = cell_of(tiny_table, condition, repeat=repeat, fold=fold).split(tiny_table)
        np.testing.assert_array_equal(part.X_test, tiny_table.X[part.rows])
        np.testing.assert_array_equal(part.y_test, tiny_table.y[part.rows])
        assert not rows_of(part.X_test) & rows_of(part.X_train)
        tested.extend(part.rows)
    assert sorted(tested) == list(range(len(tiny_table.y)))


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: c.protocol or "clean")
def test_training_part_is_the_rest_and_its_noise(tiny_table, condition):
    part = cell_of(tiny_table, condition).split(tiny_table)
    rest = np.setdiff1d(np.arange(len(tiny_table.y)), part.rows)
    amount = int(len(rest) * condition.noise)
    n_flipped = np.sum(part.y_train[: len(rest)] != tiny_table.y[rest])
    np.testing.assert_array_equal(part.X_train[: len(rest)], tiny_table.X[rest])
    flips = condition.protocol == "label-flip"
    assert n_flipped == (amount if flips else 0)
    assert len(part.y_train) == len(rest) + (0 if flips else amount)


def test_noise_everywhere_reaches_test_parts(tiny_table):
    condition = Condition(0.2, "uniform-random", "everywhere")
    parts = [cell_of(tiny_table, condition, fold=fold).split(tiny_table) for fold in range(4)]
    tested = np.concatenate([part.rows for part in parts])
    assert sorted(tested) == list(range(72))
    for part in parts:
        assert not rows_of(part.X_test) & rows_of(part.X_train)
        assert len(part.y_test) + len(part.y_train) == 72


def test_methods_share_folds_and_noise(tiny_table):
    a, b = (
        cell_of(tiny_table, CONDITIONS[1], METHODS[name]).split(tiny_table)
        for name in ("LR", "SVM")
    )
    np.testing.assert_array_equal(a.X_train, b.X_train)
    np.testing.assert_array_equal(a.rows, b.rows)


@pytest.mark.parametrize("package", ["bblr", "numpy", "scipy", "scikit-learn"])
def test_results_of_other_versions_are_not_taken_for_these(package, tiny_table, monkeypatch):
    here = tasks.versions()
    before = cell_of(tiny_table).key
    monkeypatch.setattr(tasks, "versions", lambda: {**here, package: "0.0.1"})
    assert cell_of(tiny_table).key != before


@pytest.mark.parametrize(
    "change",
    [
        {"method": "SVM"},
        {"repeat": 1},
        {"fold": 1},
        {"folds": 5},
        {"seed": 4},
        {"condition": CONDITIONS[1]},
        {"fingerprint": "other"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_key_follows_every_setting(tiny_table, change):
    cell = cell_of(tiny_table)
    assert replace(cell).key == cell.key
    assert replace(cell, **change).key != cell.key


def test_fingerprint_follows_the_data(tiny_table):
    X = tiny_table.X.copy()
    assert make_table("tiny", X, tiny_table.y).fingerprint == tiny_table.fingerprint
    X[0, 0] += 1e-9
    assert make_table("tiny", X, tiny_table.y).fingerprint != tiny_table.fingerprint


def test_record_agrees_with_its_own_predictions(tiny_table, make_comparison):
    method = make_comparison().methods[0]
    record = cell_of(tiny_table, method=method).run()
    truth, predictions = np.array(record["truth"]), np.array(record["predictions"])
    given = np.where(truth == 1, record["probabilities"], 1 - np.array(record["probabilities"]))
    assert record["errors"] == np.sum(truth != predictions)
    assert record["log_loss"] == pytest.approx(-np.mean(np.log(given)), abs=1e-4)
    assert record["n_test"] == len(truth) == len(record["rows"])
    assert record["versions"]["bblr"] and record["seconds"] > 0 and record["warnings"] == []


class Constant:
    """Predicts class 1 with a score of exactly zero."""

    def fit(self, X, y):
        import warnings

        warnings.warn("it is constant", stacklevel=1)
        return self

    def predict(self, X):
        return np.ones(X.shape[0], dtype=int)

    def decision_function(self, X):
        return np.zeros(X.shape[0])


def test_training_loss_is_strict_and_warnings_are_kept(tiny_table, failing):
    method = replace(failing, build=lambda random_state, *, sparse=False: Constant())
    record = cell_of(tiny_table, method=method).run()
    assert record["train_errors"] == record["n_train"]
    assert record["errors"] < record["n_test"]
    assert record["log_loss"] is None and record["probabilities"] is None
    assert record["warnings"] == ["UserWarning: it is constant"]


def test_failure_is_recorded_in_one_line(tiny_table, failing):
    record = cell_of(tiny_table, method=failing).run()
    assert record["failure"] == "RuntimeError: it never works"
    # The fit itself tells of it, not what compiles ahead of it.
    cell_of(tiny_table, method=replace(failing, name="BBLR3")).warm_up()
    assert "errors" not in record and record["seconds"] >= 0


@pytest.fixture(scope="module")
def three_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(["cat", "cow", "dog"], 24)
    return make_table("three", rng.normal(size=(72, 3)) + (y == "cow")[:, None], y)


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: c.protocol or "clean")
@pytest.mark.parametrize("name", ["LR", "BBLR0"])
def test_many_classes(three_classes, condition, name):
    cell = cell_of(three_classes, condition, METHODS[name])
    record = cell.run()
    assert "failure" not in record
    part = cell.split(three_classes)
    model = METHODS[name].build(cell.random_state("estimator")).fit(part.X_train, part.y_train)
    probabilities = model.predict_proba(part.X_test)
    np.testing.assert_allclose(record["probabilities"], probabilities.max(axis=1), atol=1e-6)
    assert record["of"] == "predicted"
    assert record["log_loss"] == pytest.approx(log_loss(part.y_test, probabilities))
    assert record["errors"] == np.sum(model.predict(part.X_test) != part.y_test)
