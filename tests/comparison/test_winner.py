import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from bblr.comparison.methods import METHODS, select_methods
from bblr.comparison.sources import load_table
from bblr.comparison.verdict.metrics import Metric
from bblr.comparison.verdict.winner import FinalFit


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    size, colour = rng.normal(5, 3, 90), rng.choice(["red", "green", "blue"], 90)
    kind = np.where(size + 2 * (colour == "red") + rng.normal(size=90) > 6, "yes", "no")
    rows = [f"{a:.3f},{b},{c}" for a, b, c in zip(size, colour, kind, strict=True)]
    (tmp_path / "own.csv").write_text("size,colour,kind\n" + "\n".join(rows) + "\n")
    return load_table(str(tmp_path / "own.csv"), "kind")


def final(table, name, **options):
    place = {"repeat": 0, "fold": 0, "folds": 1, "seed": 4, **options}
    record = FinalFit.of(table, METHODS[name], **place).run()
    assert "failure" not in record
    return record


def executed(record):
    names = {}
    with threadpool_limits(1):
        exec(record["code"], names)
    return names


@pytest.mark.parametrize("name", ["LR", "SVM", "BBLR0", "BBLR", "HGB", "majority"])
def test_the_code_fits_the_same_model(table, name):
    record = final(table, name)
    found = executed(record)
    assert found["y"].tolist() == [table.classes[code] for code in table.y]
    np.testing.assert_array_equal(found["X"], table.X)
    if name in ("HGB", "majority"):
        assert "scaled" not in record
        return
    np.testing.assert_allclose(found["model"][-1].coef_, record["scaled"])
    per_unit = found["model"][-1].coef_ / found["model"][0].scale_
    np.testing.assert_allclose(record["per_unit"], per_unit)
    assert np.shape(record["scaled"]) == (1, len(table.features))


@pytest.mark.parametrize("name", ["LR", "SVM"])
def test_the_code_has_the_tuned_threshold(table, name):
    record = final(table, name, tuned=Metric("balanced"))
    model = executed(record)["model"]
    assert type(model).__name__ == "FixedThresholdClassifier"
    np.testing.assert_allclose(model.estimator_[-1].coef_, record["scaled"])


@pytest.mark.parametrize("name", ["LR", "BBLR"])
def test_the_code_has_what_was_tuned_for(table, name):
    record = final(table, name, scoring="neg_log_loss")
    model = executed(record)["model"]
    np.testing.assert_allclose(model[-1].coef_, record["scaled"])
    assert getattr(model[-1], "scoring", None) == (None if name == "LR" else "neg_log_loss")


def test_an_embedded_set_is_read_by_name():
    table = load_table("liver")
    found = executed(final(table, "BBLR0"))
    np.testing.assert_array_equal(found["X"], table.X)
    assert "load_uci('liver'" in final(table, "BBLR0")["code"]


@pytest.mark.parametrize("name", ["robust:LR", "robust:majority"])
def test_the_code_fits_a_robust_method(table, name):
    (method,) = select_methods([name])
    record = FinalFit.of(table, method, repeat=0, fold=0, folds=1, seed=4).run()
    assert "failure" not in record
    assert type(executed(record)["model"]).__name__ == "RobustClassifier"
    assert ("scaled" in record) == (name == "robust:LR")
