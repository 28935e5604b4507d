"""Data frames, of pandas, Polars and others; their columns are named where they are no numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bblr.designs import RowSource
from bblr.inputs.in_memory import ArrayAdapter


class FrameAdapter(ArrayAdapter):
    """Data frames: scikit-learn reads them, and results are arrays."""

    @staticmethod
    def recognises(estimator: Any, X: Any) -> bool:
        """Whether X has columns, in memory."""
        return hasattr(X, "columns") and not isinstance(X, RowSource)

    def read(self, *y: Any, sparse: Any = ("csr", "csc"), reset: bool = True) -> Any:
        """Return rows as scikit-learn checks them, and labels if there are any."""
        X = self.X
        if hasattr(type(X), "collect"):
            raise TypeError(
                f"X is a {type(X).__name__}, whose rows are not in memory: pass X.collect()."
            )
        if getattr(X, "ndim", 2) == 2 and not len(X.columns):
            # scikit-learn does not say that it is a frame.
            raise ValueError(
                f"Found array with 0 feature(s) while a minimum of 1 is required by "
                f"{type(self.estimator).__name__}: X is a data frame without columns."
            )
        try:
            return super().read(*y, sparse=sparse, reset=reset)
        except (ValueError, TypeError) as error:
            # Other names than in training are another matter, and scikit-learn tells them.
            odd = [] if "feature names" in str(error) else list(_not_numbers(X))
            if not odd:
                raise
            shown = ", ".join(f"{name!r} (such as {value!r})" for name, value in odd[:10])
            names = [name for name, _ in odd[:10]]
            raise ValueError(
                f"X must hold numbers, and these columns do not: {shown}"
                f"{', …' if odd[10:] else ''}. Encode them, for instance by "
                "make_column_transformer((OneHotEncoder(handle_unknown='ignore'), "
                f"{names!r}), remainder='passthrough') in front of the classifier, or drop them."
            ) from error


def _not_numbers(X: Any) -> Iterator[tuple[Any, str]]:
    """Yield the columns of a data frame that cannot be numbers, and a value of each."""
    arrow = hasattr(X, "column_names")
    for j, name in enumerate(X.column_names if arrow else X.columns):
        column = np.asarray(X.iloc[:, j] if hasattr(X, "iloc") else X[name])
        if column.dtype.kind in "biuf":
            continue
        if column.dtype.kind in "mM":  # as counts of nanoseconds they would pass for numbers
            column = column.astype(f"{column.dtype.kind}8[us]")
        for value in column.tolist():
            try:
                float(value)
            except (TypeError, ValueError):
                if value is not None and type(value).__name__ != "NAType":
                    yield name, str(value)
                    break
