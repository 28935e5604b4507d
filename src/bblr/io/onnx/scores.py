"""Scores of fitted classifiers as nodes: X @ coef_ + intercept_, or a sum over kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from bblr._numeric.arrays import as_dense, square_norms
from bblr._numeric.tensors import local
from bblr.io.onnx.graph import Graph

__all__ = ["decision"]

Floats = NDArray[np.float64]


def decision(graph: Graph, model: Any, X: str, scale: float = 1.0) -> str:
    """Add the scores of the rows X times `scale`: a column of two classes, a column each of more.

    Factors go into the weights: onnxruntime joins a product of matrices and a number that follows
    it, and rounds the number to single precision.
    """
    intercept = scale * _floats(model.intercept_)[None, :]
    if hasattr(model, "dual_coef_"):
        return _expansion(graph, model, X, scale * _floats(model.dual_coef_), intercept)
    return _linear(graph, X, scale * _floats(model.coef_), intercept)


def _linear(graph: Graph, X: str, coef: Floats, intercept: Floats) -> str:
    product = graph.node("MatMul", X, graph.constant(np.ascontiguousarray(coef.T)))
    return graph.node("Add", product, graph.constant(intercept))


def _expansion(graph: Graph, model: Any, X: str, weights: Floats, intercept: Floats) -> str:
    function = model._function
    if not isinstance(function.name, str) or function.name == "precomputed":
        kind = "a callable" if callable(function.name) else repr(function.name)
        raise ValueError(
            f"kernel is {kind}, which no ONNX graph can hold; fit with one of the kernels that "
            "have a name, as kernel='rbf'."
        )
    if not weights.size:
        return _linear(graph, X, np.zeros((len(weights), model.n_features_in_)), intercept)
    vectors = _floats(model.support_vectors_)
    if function.name == "linear":
        return _linear(graph, X, weights @ vectors, intercept)
    kernel = {"rbf": _rbf, "laplacian": _laplacian, "cosine": _cosine, "poly": _poly}
    similar = kernel[function.name](graph, function, X, vectors)
    return _linear(graph, similar, weights, intercept)


def _rbf(graph: Graph, function: Any, X: str, vectors: Floats) -> str:
    # As the classifier does: distances from the middle of the vectors lose fewer digits.
    origin = vectors.mean(axis=0)
    X, vectors = graph.node("Sub", X, graph.constant(origin)), vectors - origin
    twice = graph.node("MatMul", X, graph.constant(np.ascontiguousarray(2.0 * vectors.T)))
    own = graph.row_sums(graph.node("Mul", X, X))
    closeness = graph.node("Sub", graph.node("Sub", twice, own), graph.constant(
        square_norms(vectors)[None, :]
    ))  # fmt: skip
    closeness = graph.node("Min", closeness, graph.constant(0.0))
    return graph.node("Exp", graph.node("Mul", closeness, graph.constant(function.gamma)))


def _laplacian(graph: Graph, function: Any, X: str, vectors: Floats) -> str:
    distance = graph.manhattan(X, vectors)
    return graph.node("Exp", graph.node("Mul", distance, graph.constant(-function.gamma)))


def _cosine(graph: Graph, function: Any, X: str, vectors: Floats) -> str:
    # A row of zeros is as similar to nothing as to itself: it stays zero.
    length = graph.node("Sqrt", graph.row_sums(graph.node("Mul", X, X)))
    zero = graph.node("Equal", length, graph.constant(0.0))
    length = graph.node("Where", zero, graph.constant(1.0), length)
    unit = np.ascontiguousarray(normalize(vectors).T)
    return graph.node("MatMul", graph.node("Div", X, length), graph.constant(unit))


def _poly(graph: Graph, function: Any, X: str, vectors: Floats) -> str:
    factors = np.ascontiguousarray(function.gamma * vectors.T)
    product = graph.node("MatMul", X, graph.constant(factors))
    product = graph.node("Add", product, graph.constant(function.coef0))
    return graph.node("Pow", product, graph.constant(function.degree))


def _floats(values: Any) -> Floats:
    return np.asarray(as_dense(local(values)), dtype=np.float64)
