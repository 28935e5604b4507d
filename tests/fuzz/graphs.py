"""Fitted models as ONNX graphs, which must say what the models say."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.cases import PLAIN_COLUMNS
from tests.fuzz.data import Data
from tests.fuzz.refusals import Wrong, refusal

# Labels that ONNX has a type for.
_LABELS = ("ints", "signs", "strings", "objects", "list", "big_ints", "empty_text", "series")


def as_graph(model: Any, data: Data) -> None:
    """Raise Wrong unless the graph of a model has its labels and probabilities."""
    try:
        import onnxruntime
        import skl2onnx  # noqa: F401
    except ImportError:
        return
    from bblr.io.onnx import to_onnx

    # Frames have an input a column, which other tests look at.
    if "frame" in data.case.layout or data.case.layout == "polars":
        return
    X = np.ascontiguousarray(data.table)
    try:
        graph = to_onnx(model, X)
    except (ValueError, TypeError) as error:
        if data.case.labels in _LABELS and "kernel" not in dict(data.case.params):
            raise Wrong(f"a model was not converted: {error}") from error
        refusal(error, ("kernel",))
        return
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    labels, second = session.run(None, {"X": X})
    # Far out of the ordinary, sums of another order are other sums.
    if not set(data.case.columns) <= set(PLAIN_COLUMNS) or data.case.params:
        if not np.isfinite(second).all():
            raise Wrong(f"a graph says what is not finite: {second[:5]}")
        return
    _compare(model, X, labels, second)


def _compare(model: Any, X: Any, labels: Any, second: Any) -> None:
    if hasattr(model, "predict_proba"):
        gap = np.abs(second - model.predict_proba(X)).max()
        if not gap <= 1e-6:
            raise Wrong(f"a graph has other probabilities, by {gap}")
    decision = np.asarray(model.decision_function(X))
    sorted_ = np.sort(decision.reshape(len(X), -1), axis=1)
    margin = np.abs(decision) if decision.ndim == 1 else sorted_[:, -1] - sorted_[:, -2]
    # A row on the boundary may fall to either side by the last digit of a sum.
    clear = margin > 1e-9 * (1.0 + np.abs(X).max())
    if not np.array_equal(labels[clear], np.asarray(model.predict(X))[clear]):
        raise Wrong("a graph has other labels")
