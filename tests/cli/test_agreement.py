"""Predictions through files are those in memory, whatever the format, blocks or columns."""

from __future__ import annotations

import csv
import json
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bblr as package
from bblr import BBLRClassifier
from bblr.cli.fit_job import CLASSIFIERS
from bblr.evaluation import expected_calibration_error
from bblr.io import load_model, read_table
from bblr.io.columns.column_kinds import features_of
from bblr.io.tables import blocks
from bblr.io.tables.training_table import ColumnChoices, read_training
from tests.cli.conftest import FAST, bblr, fitted, make_frame

FORMATS = ("csv", "parquet", "svm")


def model_in_memory(ending):
    training = read_training(Path(f"train.{ending}"))
    return BBLRClassifier(gamma_max=1, random_state=0).fit(training.X, training.y)


def predictions(*arguments, model="model.bblr"):
    result = bblr("predict", model, *arguments, "--proba", "--out", "out.csv")
    assert result.exit_code == 0, result.stderr
    with open("out.csv", newline="") as file:
        exact = pd.DataFrame(csv.DictReader(file)).iloc[:, 1:].map(float)
    return pd.read_csv("out.csv")[["label"]].join(exact)


@pytest.mark.parametrize("ending", FORMATS)
def test_predictions_are_those_in_memory(folder, ending):
    fitted(f"train.{ending}")
    expected = model_in_memory(ending)
    test = read_training(Path(f"test.{ending}"))
    found = predictions(f"test.{ending}")
    assert found["label"].tolist() == expected.predict(test.X).tolist()
    assert list(found)[1:] == [f"proba_{label}" for label in expected.classes_.tolist()]
    np.testing.assert_array_equal(found.to_numpy()[:, 1:], expected.predict_proba(test.X))


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("rows", [1, 7, 70])
def test_the_size_of_blocks_does_not_matter(folder, monkeypatch, ending, rows):
    fitted(f"train.{ending}")
    whole = predictions(f"test.{ending}")
    for name in ("_LEAST_ROWS", "_MOST_ROWS", "_LINES"):
        monkeypatch.setattr(blocks, name, rows)
    parts = predictions(f"test.{ending}")
    assert parts["label"].equals(whole["label"])
    np.testing.assert_allclose(parts.iloc[:, 1:], whole.iloc[:, 1:], rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 70])
def test_an_index_in_either_file_does_not_matter(folder, monkeypatch, rows):
    monkeypatch.setattr(blocks, "_LEAST_ROWS", rows)
    monkeypatch.setattr(blocks, "_MOST_ROWS", rows)
    fitted()
    expected = predictions("test.csv")
    for name in ("train", "test"):
        pd.read_csv(f"{name}.csv").to_csv(f"{name}_export.csv")
    assert predictions("test_export.csv").equals(expected)
    fitted("train_export.csv")
    assert predictions("test.csv").equals(expected)
    assert predictions("test_export.csv").equals(expected)
    assert bblr("evaluate", "model.bblr", "test_export.csv").exit_code == 0
    result = bblr("audit", "train_export.csv", "--target", "kind", "--in-sample")
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("rows", [1, 70])
def test_gaps_and_dropped_columns_in_new_files(folder, monkeypatch, ending, rows):
    for name in ("train", "test"):
        frame = pd.read_csv(f"{name}.csv")
        frame["id"] = [f"{name} {i}" for i in range(len(frame))]
        # Scattered over the rows, so that some blocks hold nothing else.
        for place, column in enumerate(("weight", "fur", "tame")):
            frame[column] = frame[column].astype(object).mask(frame.index % 4 == place)
        frame = frame.infer_objects()
        frame.to_csv(f"{name}.csv", index=False)
        frame.to_parquet(f"{name}.parquet")
    monkeypatch.setattr(blocks, "_LEAST_ROWS", rows)
    monkeypatch.setattr(blocks, "_MOST_ROWS", rows)
    result = bblr("fit", f"train.{ending}", "--target", "kind", "--drop", "id", *FAST,
                  "--model", "model.bblr")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "missing values get an indicator, and numbers their median: 'we" in result.stdout
    training = read_training(Path(f"train.{ending}"), ColumnChoices("kind", ["id"]))
    model = BBLRClassifier(gamma_max=1, random_state=0).fit(training.X, training.y)
    frame, found = pd.read_csv("test.csv"), predictions(f"test.{ending}")
    frame["weight"] = frame["weight"].fillna(training.layout.columns[0].fill)
    X = np.column_stack([features_of(c, frame[c.name]) for c in training.layout.columns])
    X[:, 1] = frame.index % 4 == 0
    np.testing.assert_allclose(found.iloc[:, 1:], model.predict_proba(X), rtol=1e-12)


def test_order_of_columns_presence_of_the_target_and_format_do_not_matter(folder):
    fitted()
    whole = predictions("test.csv")
    frame = pd.read_csv("test.csv")
    frame[frame.columns[::-1]].to_csv("turned.csv", index=False, sep=";")
    frame.drop(columns="kind").to_csv("bare.csv", index=False)
    frame.assign(fur=frame["fur"].astype("category")).sample(
        frac=1, axis=1, random_state=0
    ).to_parquet("turned.parquet")
    frame.set_index(np.arange(len(frame))[::-1]).to_parquet("indexed.parquet")
    frame.assign(tame=frame["tame"].astype(int)).to_csv("flags.csv", index=False)
    others = ("turned.csv", "bare.csv", "turned.parquet", "indexed.parquet", "flags.csv")
    for other in (*others, "test.parquet"):
        pd.testing.assert_frame_equal(predictions(other), whole, check_exact=True)


def test_two_classes_are_encoded_as_read_table_does(folder):
    frame = make_frame(60, 2)
    frame.assign(kind=frame["kind"] == "owl").to_csv("two.csv", index=False)
    X, y, names = read_table("two.csv", "kind")
    training = read_training(Path("two.csv"), ColumnChoices("kind"))
    np.testing.assert_array_equal(training.X, X)
    np.testing.assert_array_equal(training.y, y)
    assert training.layout.feature_names == names
    fitted("two.csv")
    expected = BBLRClassifier(gamma_max=1, random_state=0).fit(X, y).predict(X)
    assert predictions("two.csv")["label"].tolist() == expected.tolist()
    assert bblr("evaluate", "model.bblr", "two.csv").exit_code == 0


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_round_trip_of_every_classifier(folder, name):
    frame = make_frame(60, 3)
    frame = frame[frame["kind"] != "dog"][["weight", "legs", "fur", "kind"]]
    frame.to_csv("two.csv", index=False)
    params = {
        "BBLRClassifierCV": {"cv": 3, "l2s": (1, 3), "prior": "mild"},
        "KernelBBLRClassifierCV": {"cv": 3, "l2s": (1.0,), "kernel_gammas": (0.5,)},
        "ZeroOneClassifier": {"max_steps": 5},
    }.get(name, {})
    typed = [word for key, value in params.items() for word in ("--param", f"{key}={value}")]
    result = bblr("fit", "two.csv", "--classifier", name, "--model", "two.bblr", *typed)
    assert result.exit_code == 0, result.stderr
    X, y, _ = read_table("two.csv")
    classifier = getattr(package, name)(**params)
    if "random_state" in classifier.get_params():
        classifier.set_params(random_state=0)
    expected = make_pipeline(StandardScaler(), classifier) if "Kernel" in name else classifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected.fit(X, y)
    found = load_model(Path("two.bblr"))
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    if "random_state" in classifier.get_params():
        np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    assert bblr("evaluate", "two.bblr", "two.csv").exit_code == 0
    assert bblr("predict", "two.bblr", "two.csv").stdout.splitlines()[0] == "label"


def test_a_kernel_on_sparse_features(folder):
    arguments = ("--classifier", "KernelBBLRClassifier", "--model", "kernel.bblr")
    assert bblr("fit", "train.svm", *arguments).exit_code == 0
    training, model = read_training(Path("train.svm")), load_model(Path("kernel.bblr"))
    assert (
        predictions("train.svm", model="kernel.bblr")["label"].tolist()
        == model.predict(training.X).tolist()
    )
    assert np.mean(model.predict(training.X) == training.y) > 0.6


@pytest.mark.parametrize("ending", FORMATS)
def test_scores_are_those_in_memory(folder, monkeypatch, ending):
    monkeypatch.setattr(blocks, "_MOST_ROWS", 9)
    monkeypatch.setattr(blocks, "_LEAST_ROWS", 1)
    monkeypatch.setattr(blocks, "_LINES", 9)
    fitted(f"train.{ending}")
    result = bblr("evaluate", "model.bblr", f"test.{ending}", "--json", "scores.json")
    assert result.exit_code == 0, result.stderr
    expected, test = model_in_memory(ending), read_training(Path(f"test.{ending}"))
    label, proba = expected.predict(test.X), expected.predict_proba(test.X)
    scores = json.loads((folder / "scores.json").read_text())
    assert scores["rows"] == 70
    assert scores["errors"] == np.sum(label != test.y)
    assert scores["accuracy"] == pytest.approx(expected.score(test.X, test.y))
    assert scores["log_loss"] == pytest.approx(log_loss(test.y, proba))
    calibration = expected_calibration_error(test.y, proba)
    assert scores["calibration_error"] == pytest.approx(calibration)
    assert scores["confusion"] == confusion_matrix(test.y, label).tolist()
    by_class = precision_recall_fscore_support(test.y, label)
    for name, values in zip(("precision", "recall", "f1"), by_class, strict=False):
        assert scores[name] == pytest.approx(values)
    for k, column in enumerate(proba.T):
        own = test.y == expected.classes_[k]
        assert scores["class_auc"][k] == pytest.approx(roc_auc_score(own, column))
        precision = average_precision_score(own, column)
        assert scores["average_precision"][k] == pytest.approx(precision)
    assert f"errors             {scores['errors']}" in result.stdout


def test_the_same_seed_gives_the_same_file(folder):
    for model in ("one.bblr", "two.bblr"):
        assert bblr("fit", "train.csv", "--model", model, *FAST).exit_code == 0
    assert (folder / "one.bblr").read_bytes() == (folder / "two.bblr").read_bytes()


def test_names_with_dots_and_blanks(folder):
    names = {"weight": "a", "legs": "a.b", "fur": "a b"}
    for name in ("train", "test"):
        frame = pd.read_csv(f"{name}.csv").rename(columns=names)
        frame.to_csv(f"dots_{name}.csv", index=False)
        frame.to_parquet(f"dots_{name}.parquet")
    fitted("dots_train.parquet")
    one, two = predictions("dots_test.parquet"), predictions("dots_test.csv")
    pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_blank_lines_do_not_shift_rows(folder):
    (folder / "one.csv").write_text("a,y\n" + "1,u\n2,v\n" * 6)
    fitted("one.csv")
    (folder / "new.csv").write_text("a\n\n1\n\n\n2\n")
    assert len(predictions("new.csv")) == 2
    (folder / "new.csv").write_text("a\n1\n  \n2\n")
    assert bblr("predict", "model.bblr", "new.csv").exit_code == 2


def test_zero_based_svmlight(folder):
    (folder / "zero.svm").write_text("".join(f"{k % 2} 0:{k % 2} 2:{k % 3}\n" for k in range(12)))
    fitted("zero.svm")
    (folder / "late.svm").write_text("1 2:1\n0 0:1\n")
    model = load_model(Path("model.bblr"))
    expected = model.predict(np.array([[0.0, 0, 1], [1, 0, 0]]))
    assert predictions("late.svm")["label"].tolist() == expected.tolist()


@pytest.mark.parametrize("ending", ["csv", "parquet", "svm"])
def test_memory_does_not_grow_with_rows(folder, ending):
    def peak(n):
        path = Path(f"many.{ending}")
        if ending == "svm":
            path.write_text("1 1:0.5 2:3 3:1\n" * n)
        elif ending == "csv":
            make_frame(n, 0).to_csv(path, index=False)
        else:
            make_frame(n, 0).to_parquet(path, row_group_size=500)
        layout = load_model(Path(fitted("train.svm" if ending == "svm" else "train.csv"))).layout
        reader = blocks.Reader(layout, rows=200)
        tracemalloc.start()
        rows = sum(block.X.shape[0] for block in reader.blocks(path))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert rows == n
        return most

    peak(1_000)  # what is loaded once
    # A cluster of other tests may be alive, and its threads are counted too.
    assert peak(48_000) < 1.5 * peak(2_000) + 2**19
