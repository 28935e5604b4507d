"""The list of data sets, which loaders enter by being defined, and what loaders return."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from sklearn.utils import Bunch

from bblr.datasets._duplicates import within

__all__ = ["DATASETS", "dataset", "packed"]

Load = TypeVar("Load", bound=Callable[..., Any])

DATASETS: dict[str, Callable[..., Any]] = {}
"""What loads each data set, by name: ``web8``, ``reviews/books``, ``uci/heart``."""


def dataset(*names: str) -> Callable[[Load], Load]:
    """Enter a loader into `DATASETS`, once for each name that its first parameter takes."""

    def enter(load: Load) -> Load:
        family = load.__name__.partition("_")[2]
        if names:
            DATASETS.update({f"{family}/{name}": partial(load, name) for name in names})
        else:
            DATASETS[family] = load
        return load

    return enter


def packed(
    load: Callable[..., Any],
    X: Any,
    y: Any,
    return_X_y: bool,
    duplicates: Callable[[], dict[str, int]] | None = None,
    **more: Any,
) -> Any:
    """Return what a loader returns: ``(X, y)``, or a Bunch.

    Parameters
    ----------
    load : callable
        The loader; its docstring describes the data.
    X, y : array or sparse matrix, array
        Features and classes.
    return_X_y : bool
        Whether these are all that is asked for.
    duplicates : callable or None, default=None
        Counts repeated rows; those of `X`, as `all`, when None.
    **more : Any
        What else the Bunch has.
    """
    if return_X_y:
        return X, y
    counts = {"all": within(X)} if duplicates is None else duplicates()
    return Bunch(data=X, target=y, duplicates=counts, DESCR=load.__doc__, **more)
