"""The claim about ONNX, on little data."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

import bblr.io.onnx
from bblr import BBLRClassifier, SLAClassifier
from bblr.io.onnx import to_onnx
from research.claims import CLAIMS, interchange
from research.core.cases import Run

pytest.importorskip("onnxruntime")


def missing() -> Any:
    raise FileNotFoundError("set BBLR_DATA_HOME")


def sparse() -> Any:
    rng = np.random.default_rng(0)
    X = sp.random_array((1200, 30), density=0.2, rng=rng, format="csr")
    return X, (X @ rng.normal(size=30) > 0).astype(int)


@pytest.fixture
def run(monkeypatch):
    def few(many: bool, wide: bool, seed: int) -> dict[str, Any]:
        return {"BBLRClassifier": BBLRClassifier()} | ({} if many else {"SLA": SLAClassifier()})

    loaders = {"iris": partial(load_iris, return_X_y=True), "sparse": sparse, "absent": missing}
    monkeypatch.setattr(interchange, "sources", lambda: loaders)
    monkeypatch.setattr(interchange, "classifiers", few)
    return Run()


def test_graphs_agree(run):
    outcome = CLAIMS["onnx"].run(run)
    assert outcome.failure == "" and outcome.measured is not None
    assert outcome.missed == []
    cells = outcome.measured.details["cells"]
    rows = [(cell["data"], cell["classifier"], cell["rows"]) for cell in cells]
    assert rows == [("iris", "BBLRClassifier", 150), ("sparse", "BBLRClassifier", 1200),
                    ("sparse", "SLA", 1200)]  # fmt: skip
    assert "absent: skipped: set BBLR_DATA_HOME" in outcome.measured.notes
    json.dumps(outcome.as_record())


def test_a_wrong_graph_is_noticed(run, monkeypatch):
    def wrong(model: Any, X: Any) -> Any:
        other = BBLRClassifier("weak", l2=100.0).fit(*load_iris(return_X_y=True))
        return to_onnx(other if len(model.classes_) > 2 else model, X)

    monkeypatch.setattr(bblr.io.onnx, "to_onnx", wrong)
    outcome = CLAIMS["onnx"].run(run)
    assert len(outcome.missed) == 2


def test_without_the_packages_it_is_skipped(run, monkeypatch):
    monkeypatch.setattr(interchange, "find_spec", lambda name: None)
    outcome = CLAIMS["onnx"].run(run)
    assert "pip install 'bblr[onnx]'" in outcome.skipped


def test_every_data_set_and_classifier_is_there():
    names = set(interchange.sources())
    assert {"breast", "heart", "liver", "pima", "iris", "wine", "digits", "web8"} <= names
    assert {"trec07p", "dblp-acm", "amazon-google", "reviews, dvd"} <= names
    kinds = {type(model) for model in interchange.classifiers(False, False, 0).values()}
    from bblr.io.onnx.convert import CONVERTED

    assert kinds == set(CONVERTED)
