"""What the converters write: nodes over double numbers, by the names of their results."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Graph"]

# The first in which every operator used here has the form used here.
_LEAST_OPSET = 13


class Graph:
    """Adds nodes to a graph of skl2onnx; every method returns the name of what it computes.

    Parameters
    ----------
    scope, container
        What skl2onnx hands to a converter: where names are taken from, and where nodes go.
    """

    def __init__(self, scope: Any, container: Any) -> None:
        from onnx import TensorProto

        if container.target_opset < _LEAST_OPSET:
            raise ValueError(
                f"target_opset must be at least {_LEAST_OPSET} for classifiers of bblr, got "
                f"{container.target_opset}."
            )
        self._scope, self._container, self._types = scope, container, TensorProto

    def node(self, kind: str, *inputs: str, result: str | None = None, **attributes: Any) -> str:
        """Add a node; its result gets a name of its own unless one is given."""
        name = self._scope.get_unique_operator_name(kind)
        result = result or self._scope.get_unique_variable_name(kind.lower())
        self._container.add_node(kind, list(inputs), result, name=name, **attributes)
        return result

    def constant(self, values: Any) -> str:
        """Add an array: doubles, 64-bit integers or texts."""
        from onnx import numpy_helper

        array: NDArray[Any] = np.asarray(values)
        name = self._scope.get_unique_variable_name("constant")
        if array.dtype.kind == "U":
            texts = [text.encode("utf-8") for text in array.ravel().tolist()]
            self._container.add_initializer(name, self._types.STRING, array.shape, texts)
        else:
            # As bytes: number by number takes seconds for many vectors.
            tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape))
            self._container.add_initializer(name, None, None, tensor)
        return name

    def cast(self, name: str, kind: str, result: str | None = None) -> str:
        """Cast to "DOUBLE", "FLOAT" or "INT64"."""
        return self.node("Cast", name, result=result, to=getattr(self._types, kind))

    def row_sums(self, name: str) -> str:
        """Sum the rows of a matrix, into a column."""
        return self.node("ReduceSum", name, self.constant([1]), keepdims=1)

    def manhattan(self, rows: str, others: NDArray[np.float64]) -> str:
        """Return the sums of absolute differences of every row with each of the others."""
        from onnx import helper

        # A row at a time: all differences at once would be rows times others times features.
        known, columns = self.constant(others), self.constant([1])
        double = self._types.DOUBLE
        body = helper.make_graph(
            [
                helper.make_node("Sub", [known, "row"], ["difference"]),
                helper.make_node("Abs", ["difference"], ["size"]),
                helper.make_node("ReduceSum", ["size", columns], ["distance"], keepdims=0),
            ],
            "distances",
            [helper.make_tensor_value_info("row", double, [others.shape[1]])],
            [helper.make_tensor_value_info("distance", double, [len(others)])],
        )
        # onnxruntime has no Scan over no rows at all: one of zeros goes along.
        rows = self.node("Concat", rows, self.constant(np.zeros((1, others.shape[1]))), axis=0)
        distances = self.node("Scan", rows, body=body, num_scan_inputs=1)
        return self.node("Slice", distances, self.constant([0]), self.constant([-1]))
