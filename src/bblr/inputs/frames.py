"""Data frames that hold no numbers, refused in words that name their columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def refuse_no_columns(estimator: Any, X: Any) -> None:
    """Raise a ValueError for a data frame without columns, which scikit-learn does not name."""
    if hasattr(X, "columns") and getattr(X, "ndim", 2) == 2 and not len(X.columns):
        raise ValueError(
            f"Found array with 0 feature(s) while a minimum of 1 is required by "
            f"{type(estimator).__name__}: X is a data frame without columns."
        )


@contextmanager
def naming_columns(X: Any) -> Iterator[None]:
    """Say which columns of a data frame are no numbers, where scikit-learn refuses it."""
    try:
        yield
    except (ValueError, TypeError) as error:
        # Other names than in training are another matter, and scikit-learn tells them.
        named = hasattr(X, "columns") and "feature names" not in str(error)
        odd = list(_not_numbers(X)) if named else []
        if not odd:
            raise
        shown = ", ".join(f"{name!r} (such as {value!r})" for name, value in odd[:10])
        names = [name for name, _ in odd[:10]]
        raise ValueError(
            f"X must hold numbers, and these columns do not: {shown}{', …' if odd[10:] else ''}. "
            "Encode them, for instance by make_column_transformer((OneHotEncoder("
            f"handle_unknown='ignore'), {names!r}), remainder='passthrough') in front of the "
            "classifier, or drop them."
        ) from error


def _not_numbers(X: Any) -> Iterator[tuple[Any, str]]:
    """Yield the columns of a data frame that cannot be numbers, and a value of each."""
    for j, name in enumerate(X.columns):
        column = np.asarray(X.iloc[:, j] if hasattr(X, "iloc") else X[name])
        if column.dtype.kind in "biuf":
            continue
        for value in column.tolist():
            try:
                float(value)
            except (TypeError, ValueError):
                if value is not None and type(value).__name__ != "NAType":
                    yield name, str(value)
                    break
