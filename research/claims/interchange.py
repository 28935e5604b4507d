"""The claim about ONNX: graphs give the labels and the probabilities of the classifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

import bblr
from bblr import datasets
from bblr._numeric.arrays import as_dense
from research.claims import claim
from research.core.cases import Measured, Run, Unavailable
from research.core.thresholds import Threshold

_LABELS = "labels that differ"
_PROBABILITIES = "largest difference of probabilities"
KERNELS = ("rbf", "poly", "linear", "laplacian", "cosine")
# Rows to fit on, rows at a time in dense form, and rows for kernels where features are many.
FIT_ROWS, KERNEL_ROWS = 2_000, 500
BLOCK, WIDE, WIDE_ROWS = 500, 1_000, 500
SECONDS = 3.0


class Cell(NamedTuple):
    """One classifier on one data set."""

    data: str
    classifier: str
    rows: int
    differing: int
    distance: float


def sources() -> dict[str, Callable[[], tuple[Any, Any]]]:
    """Every data set, by its name, as what loads it."""
    from sklearn import datasets as theirs

    local: dict[str, Any] = {"download_if_missing": False, "return_X_y": True}
    found: dict[str, Any] = {
        name: partial(datasets.load_uci, name, return_X_y=True) for name in datasets.UCI_NAMES
    }
    for name in ("iris", "wine", "digits"):
        found[name] = partial(getattr(theirs, f"load_{name}"), return_X_y=True)
    for name in datasets.UCI_NAMES:
        found[f"{name}, original"] = partial(datasets.fetch_uci_original, name, **local)
    for name in datasets.ENTITY_RESOLUTION_NAMES:
        found[name] = partial(_pairs, name)
    for name in datasets.REVIEW_DOMAINS:
        found[f"reviews, {name}"] = partial(datasets.fetch_reviews, name, **local)
    found["web8"] = partial(datasets.fetch_web8, **local)
    found["trec07p"] = partial(datasets.fetch_trec07p, return_X_y=True)
    return found


def _pairs(name: str) -> tuple[Any, Any]:
    groups = datasets.fetch_entity_resolution(name, download_if_missing=False).groups
    return np.vstack([g.X for g in groups]), np.concatenate([g.labels for g in groups])


def classifiers(many: bool, wide: bool, seed: int) -> dict[str, Any]:
    """Return the classifiers for a data set, by how they are shown."""
    kernel = partial(bblr.KernelBBLRClassifier, random_state=seed)
    found: dict[str, Any] = {
        "BBLRClassifier": bblr.BBLRClassifier(),
        "BBLRClassifier(learned)": bblr.BBLRClassifier("learned"),
        # What is chosen does not matter here, only that the link is one that was fitted.
        "BBLRClassifierCV": bblr.BBLRClassifierCV(
            "mild", l2s=(3.0,), gamma_limit=2.0, leverage=None, cv=3, random_state=seed
        ),
        **{f"Kernel({name})": kernel(name) for name in KERNELS},
        "Kernel(backward)": kernel(sparsity="backward", max_vectors=20),
        "KernelCV": bblr.KernelBBLRClassifierCV(
            l2s=(0.3,), prior="mild", max_vectors=20, cv=2, random_state=seed
        ),
    }
    if not many:
        found["Kernel(gauss-laplace)"] = kernel(sparsity="gauss-laplace", laplace_share=0.5)
        found["ZeroOne"] = bblr.ZeroOneClassifier(time_limit=SECONDS, random_state=seed)
        # SLA walks along every feature at every step.
        if not wide:
            found["SLA"] = bblr.SLAClassifier()
    return found


def compare(data: str, X: Any, y: Any, seed: int) -> Iterator[Cell]:
    """Fit every classifier and compare it with its graph, on rows of either precision."""
    from sklearn.preprocessing import StandardScaler

    X = X if issparse(X) else StandardScaler().fit_transform(X)
    wide = X.shape[1] > WIDE
    for name, model in classifiers(len(np.unique(y)) > 2, wide, seed).items():
        fast = name.startswith("BBLR")
        train = _some(y, FIT_ROWS if fast else KERNEL_ROWS, seed)
        rows = X if fast or not wide else X[_some(y, WIDE_ROWS, seed)]
        yield _cell(data, name, model.fit(X[train], y[train]), rows)


def _some(y: Any, count: int, seed: int) -> Any:
    from sklearn.model_selection import train_test_split

    if len(y) <= count:
        return np.arange(len(y))
    return train_test_split(np.arange(len(y)), train_size=count, stratify=y, random_state=seed)[0]


def _cell(data: str, name: str, model: Any, X: Any) -> Cell:
    from onnxruntime import InferenceSession

    from bblr.io.onnx import to_onnx

    differing, distance = 0, 0.0
    for dtype in (np.float64, np.float32):
        graph = to_onnx(model, np.empty((1, X.shape[1]), dtype)).SerializeToString()
        session = InferenceSession(graph, providers=["CPUExecutionProvider"])
        # Single precision is a matter of the first rows.
        last = X.shape[0] if dtype == np.float64 else min(BLOCK, X.shape[0])
        for start in range(0, last, BLOCK):
            block = X[start : min(start + BLOCK, last)]
            dense = np.asarray(as_dense(block), dtype=dtype)
            labels, values = session.run(None, {"X": dense})
            differing += int(np.sum(labels != model.predict(dense)))
            if hasattr(model, "predict_proba"):
                gap = np.abs(values - model.predict_proba(dense)).max()
                distance = max(distance, float(gap))
    return Cell(data, name, X.shape[0], differing, distance)


@claim(
    "onnx",
    "every classifier against its ONNX graph in onnxruntime, on every data set available",
    Threshold(_LABELS, "<=", 0.0),
    Threshold(_PROBABILITIES, "<=", 1e-6),
)
def onnx(run: Run) -> Measured:
    for package in ("skl2onnx", "onnxruntime"):
        if find_spec(package) is None:
            raise Unavailable(f"{package} is not installed; run: pip install 'bblr[onnx]'")
    cells: list[Cell] = []
    notes: list[str] = []
    for data, load in sources().items():
        try:
            X, y = load()
        except FileNotFoundError as missing:
            notes.append(f"{data}: skipped: {missing}")
            continue
        for cell in compare(data, X, y, run.seed):
            cells.append(cell)
            notes.append(run.tell(_line(cell)))
    figures = {
        _LABELS: float(sum(cell.differing for cell in cells)),
        _PROBABILITIES: max(cell.distance for cell in cells),
    }
    return Measured(figures, notes, {"cells": [cell._asdict() for cell in cells]})


def _line(cell: Cell) -> str:
    distance = "no probabilities" if cell.classifier == "SLA" else f"{cell.distance:.1e}"
    return (
        f"{cell.data:22} {cell.classifier:24} {cell.rows:7,} rows  "
        f"{cell.differing} labels differ  {distance}"
    )
