"""What `bblr fit` tells before a model is trusted: held-out figures, warnings, coefficients."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.model_selection import StratifiedKFold

from bblr import BBLRClassifier
from bblr.cli.fit_warnings import cautions
from bblr.cli.held_out_check import held_out
from bblr.evaluation.tally import Tally, interval
from bblr.io import SavedModel, load_model
from bblr.io.model import Typical
from bblr.io.tables.training_table import ColumnChoices, read_training
from research.studies.strangers import STRANGERS
from tests.cli.conftest import FAST, bblr, fitted
from tests.io.forging import changed
from tests.io.test_forgeries import refusal

QUIET = Console(quiet=True)


def two_columns(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.5, "yes", "no")


def test_held_out_rows_are_scored_by_models_without_them():
    X, y = two_columns()
    found = held_out(BBLRClassifier(), X, y, 4, QUIET)
    errors = sum(
        int((BBLRClassifier().fit(X[train], y[train]).predict(X[test]) != y[test]).sum())
        for train, test in StratifiedKFold(5, shuffle=True, random_state=4).split(X, y)
    )
    assert found.how == "held out, 5-fold cross-validation"
    assert (found.scores.errors, found.scores.rows) == (errors, 200)


def test_labels_by_chance_cannot_be_predicted():
    """A thousand columns fit any labels; rows that were held out show it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 60)), rng.permutation(np.arange(120) % 2)
    model = BBLRClassifier("weak", l2=1e-3, solver="lbfgs")
    assert model.fit(X, y).score(X, y) > 0.95
    scores = held_out(model, X, y, 0, QUIET).scores
    assert 0.35 < scores.mean_auc < 0.65 and scores.errors > 40


def test_many_rows_are_held_out_once(monkeypatch):
    X, y = two_columns(2_000)
    monkeypatch.setattr("bblr.cli.held_out_check._ALL_FOLDS", 10)
    found = held_out(BBLRClassifier(), X, y, 0, QUIET)
    assert found.how == "held out, 400 rows" and found.scores.rows == 400


def test_a_rare_class_of_many_rows_is_held_out_in_all_folds(monkeypatch):
    """Of 40 positives, one fifth would be 8: no figure can rest on them."""
    X, _ = two_columns(400)
    monkeypatch.setattr("bblr.cli.held_out_check._ALL_FOLDS", 10)
    found = held_out(BBLRClassifier(), X, np.arange(400) % 10 == 0, 0, QUIET)
    assert found.how == "held out, 5-fold cross-validation" and found.scores.rows == 400
    monkeypatch.setattr("bblr.cli.held_out_check._ALL_IF_RARE", 10)
    assert held_out(BBLRClassifier(), X, np.arange(400) % 10 == 0, 0, QUIET).scores.rows == 80


def test_a_class_of_few_rows_has_no_held_out_figures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{i},{'ab'[i % 2]}" for i in range(20)]
    Path("few.csv").write_text("\n".join(["x,y", *lines, "3.5,c", "4.5,c"]) + "\n")
    ours = ("--number", "x", "--model", "m.bblr", "--json", "fit.json")
    result = bblr("fit", "few.csv", *ours)
    assert result.exit_code == 0, result.stderr
    assert "no held-out figures: class 'c' has too few rows" in result.stdout
    assert json.loads(Path("fit.json").read_text())["held_out"] is None


def test_no_check_saves_the_time(folder, monkeypatch):
    def never(*_):
        raise AssertionError("checked all the same")

    monkeypatch.setattr("bblr.cli.fit_job.held_out", never)
    result = bblr("fit", "train.csv", "--model", "m.bblr", "--no-check", *FAST)
    assert result.exit_code == 0, result.stderr
    assert "no held-out figures: --no-check was given" in result.stdout


def warned(frame, target="y", predicted=None, scores=None):
    """The kinds and sentences of the warnings on a model of a table."""
    path = Path("table.csv")
    frame.to_csv(path, index=False)
    table = read_training(path, ColumnChoices(target))
    classifier = BBLRClassifier().fit(table.X, table.y)
    model = SavedModel(classifier, table.layout, len(table.y), typical=Typical.of(table.X))
    made = classifier.predict(table.X) if predicted is None else np.array(predicted)
    return dict(cautions(model, table.X, table.y, made, scores))


def test_a_sound_model_gives_no_warning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = two_columns()
    assert warned(pd.DataFrame(X, columns=["a", "b"]).assign(y=y)) == {}


def test_constant_predictions_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = two_columns()
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    said = warned(frame, predicted=["no"] * len(y))["constant"]
    assert "predicts 'no' for every row, never 'yes'" in said and "class_weight=balanced" in said
    three = frame.assign(y=[*y[:-9], *["so"] * 9])
    said = warned(three, predicted=["no", "yes"] * 100)["constant"]
    assert "never predicts 'so'" in said


def test_constant_predictions_on_held_out_rows_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = two_columns()
    tally = Tally(2)
    tally.add((y == "yes").astype(int), np.zeros(200, dtype=int), np.tile([0.7, 0.3], (200, 1)))
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    said = warned(frame, scores=tally.scores())["constant"]
    assert said.startswith("on held-out rows, the model predicts 'no' for every row, never 'yes'")


def test_the_features_of_a_text_are_told_as_one(tmp_path, monkeypatch):
    """With the spread of what they add to the score together; numbered ones mean nothing."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = STRANGERS["id, dates, text"].make(rng, 400)
    frame.to_csv("tickets.csv", index=False)
    result = bblr("fit", "tickets.csv", "--model", "m.bblr", "--json", "fit.json", *FAST)
    assert result.exit_code == 0, result.stderr
    first, *others = json.loads(Path("fit.json").read_text())["coefficients"]
    assert (first["feature"], first["coefficient"]) == ("message", None)
    assert "text features" in first["unit"]
    assert not any("message" in each["feature"] for each in others)
    saved, X = load_model("m.bblr"), read_training(Path("tickets.csv"), ColumnChoices(None)).X
    start = saved.layout.feature_names.index("message text 1")
    part = slice(start, start + int(first["unit"].split()[0]))
    together = float(np.std(X[:, part] @ saved.classifier.coef_[0, part]))
    assert first["per_standard_deviation"] == pytest.approx(together, rel=0.1)
    assert any(
        line.startswith("  message ") and line.endswith(f"{first['per_standard_deviation']:.3f}")
        for line in result.stdout.splitlines()
    )


def test_evaluate_tells_of_a_class_that_is_never_predicted(folder):
    fitted()
    frame = pd.read_csv("test.csv")
    frame.assign(weight=-50.0).to_csv("light.csv", index=False)
    result = bblr("evaluate", "model.bblr", "light.csv", "--json", "found.json")
    told = "Warning: the model predicts 'cat' for every row, never 'dog', 'owl'; "
    assert result.exit_code == 0 and told in result.stderr
    (found,) = json.loads(Path("found.json").read_text())["warnings"]
    assert found["kind"] == "constant"
    # A class that the file lacks need not be predicted.
    cats = frame[frame["kind"] == "cat"].assign(weight=-50.0)
    cats.to_csv("cats.csv", index=False)
    assert "Warning" not in bblr("evaluate", "model.bblr", "cats.csv").stderr


@pytest.mark.parametrize(
    ("rows", "shown"), [(20, "1 training error ("), (19, "0 training errors")]
)
def test_one_error_is_one(folder, rows, shown):
    """Two values of a column, and a row where it is wrong."""
    lines = [f"{i % 2},{i % 3},{'ab'[i % 2]}" for i in range(19)]
    lines += ["0,0,b"] * (rows - 19)
    Path("one.csv").write_text("\n".join(["x,z,y", *lines]) + "\n")
    result = bblr("fit", "one.csv", "--model", "one.bblr", "--number", "x", *FAST)
    assert shown in result.stdout


@pytest.mark.parametrize(
    "make",
    [
        lambda y: np.where(y == "yes", 3.5, 1.25),  # two values
        lambda y: np.where(y == "yes", "late", "soon"),  # texts
        lambda y: np.where(y == "yes", 5.0, 0.0) + np.linspace(0, 4, len(y)),  # a threshold
        lambda y: -np.where(y == "yes", 5.0, 0.0) - np.linspace(0, 4, len(y)),  # turned round
        lambda y: np.where(y == "yes", np.nan, np.arange(len(y)) % 7),  # where it is missing
    ],
)
def test_a_column_that_tells_the_class_is_named(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)
    X, y = two_columns()
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(after=make(y), y=y)
    said = warned(frame)["leakage"]
    assert "column 'after' alone determines the class" in said and said.endswith("--drop after")
    # One row in ten against it is no leak any more.
    worse = frame.assign(after=frame["after"].where(np.arange(200) % 10 > 0, frame["after"][::-1]))
    rng = np.random.default_rng(0)
    worse["after"] = frame["after"].sample(frac=1, random_state=0).to_numpy()
    assert "leakage" not in warned(worse.iloc[rng.permutation(200)])


def test_intervals_hold_what_they_promise():
    """Wilson's interval covers a rate in about 95 of 100 samples."""
    rng = np.random.default_rng(0)
    for rate in (0.02, 0.2, 0.5):
        ends = np.array([interval(k, 150) for k in rng.binomial(150, rate, 4000)])
        covered = np.mean((ends[:, 0] <= rate) & (rate <= ends[:, 1]))
        assert 0.92 < covered < 0.98


def test_scores_do_not_depend_on_blocks_or_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    truth, proba = rng.integers(0, 3, 60), rng.dirichlet([1, 1, 1], 60)
    whole, parts = Tally(3), Tally(3)
    whole.add(truth, proba.argmax(axis=1), proba)
    order = rng.permutation(60)
    for rows in np.array_split(order, 7):
        parts.add(truth[rows], proba[rows].argmax(axis=1), proba[rows])
    one, two = whole.scores().as_dict(), parts.scores().as_dict()
    for key, value in one.items():
        if key == "majority":
            assert two[key] == value
        elif key == "calibration":
            for part in value:
                np.testing.assert_allclose(two[key][part], value[part])
        else:
            np.testing.assert_allclose(two[key], value)


def test_a_class_without_rows_has_no_figures():
    tally = Tally(2)
    tally.add(np.zeros(4, dtype=int), np.array([0, 0, 1, 0]), np.full((4, 2), 0.5))
    scores = tally.scores()
    assert scores.recall == [0.75, None] and scores.auc == (None, None)
    assert any("none" in line for line in scores.by_class(["no", "yes"]))
    assert "AUC" not in "\n".join(scores.overall())


def test_forged_means_and_spreads_are_refused(folder):
    content = Path(fitted()).read_bytes()
    typical = load_model("model.bblr").typical
    assert typical.mean.shape == typical.spread.shape
    place = ("model", "params", "typical", "params")
    for steps, value in (
        ((*place, "mean"), None),
        ((*place, "spread"), {"float": "nan"}),
        ((*place[:-1],), 3),
        ((*place[:-1], "type"), "Scaling"),
    ):
        forged = changed(content, *steps, to=value)
        assert "is not a sound model" in refusal(forged, Path("forged.bblr"))
