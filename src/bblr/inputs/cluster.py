"""Rows on a Dask cluster: loaded, checked and encoded there, and scored lazily."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from bblr.inputs.adapter import Adapter, Training
from bblr.inputs.labels import Floats, Labels, encode, refuse_no_weight
from bblr.inputs.pieces import (
    checked_collection,
    is_dask,
    make_pieces,
    resolve_client,
    row_values,
)

if TYPE_CHECKING:
    from bblr.designs.dask import DaskRows, Session


class DaskAdapter(Adapter):
    """Dask arrays and dataframes, for estimators with a ``client``; rows stay on their workers.

    Other rows are refused by a fit, and left to the local estimator by predictions.
    """

    _session: Session | None = None

    @staticmethod
    def recognises(estimator: Any, X: Any) -> bool:
        """Whether the estimator works on a cluster."""
        return hasattr(estimator, "client")

    def training(self, y: Any, sample_weight: Any, *, streamed: bool = False) -> Training:
        """Load the data on the cluster, check and encode them there."""
        from bblr.designs.dask import DaskDesign, DaskRows, Session

        estimator = self.estimator
        client = resolve_client(estimator.client)
        if y is None:
            raise ValueError(f"{type(estimator).__name__} requires y to be passed, but y is None.")
        session = Session(client, *make_pieces(estimator, self.X, y, sample_weight))
        self._session = session
        session.open()
        rows = DaskRows(session, _sizes(session, estimator.n_features_in_))
        design = DaskDesign(rows, estimator.n_features_in_)
        labels = _RemoteLabels(rows, y, sample_weight)
        return Training(self, None, design, *encode(estimator, labels))

    def __exit__(self, *error: object) -> None:
        """Release the rows on the workers."""
        if self._session is not None:
            self._session.close()

    def here(self, values: Any) -> Any:
        """Return what a lazy array or series holds, as a NumPy array."""
        from dask.base import compute

        return super().here(compute(values)[0])

    def labels(self, y: Any) -> Any:
        """Return labels to compare predictions with."""
        from dask.base import compute

        return super().labels(compute(y)[0])

    def callback_data(self, y: Any, sample_weight: Any) -> tuple[()]:
        """Return the training data for callbacks: none, since there are no arrays."""
        return ()

    def ask(self, method: str) -> Any:
        """Return what the local classifier answers: lazily for rows on the cluster."""
        check_is_fitted(self.estimator)
        model, classes = self.estimator.to_local(), self.estimator.classes_
        if not is_dask(self.X):
            return getattr(model, method)(self.X)
        X = checked_collection(self.estimator, self.X, reset=False)
        single = method == "predict" or (method == "decision_function" and len(classes) == 2)
        shape = () if single else (len(classes),)
        dtype = classes.dtype if method == "predict" else np.dtype(np.float64)
        known = {"model": model, "method": method, "shape": shape, "dtype_": dtype}
        if not hasattr(X, "columns"):
            axes = {"drop_axis": 1} if single else {"chunks": (X.chunks[0], shape)}
            empty = np.empty((0, *shape), dtype)
            return X.map_blocks(_apply, **known, dtype=dtype, meta=empty, **axes)
        import dask.array as da
        from dask.delayed import delayed

        apply = delayed(_apply)
        parts = [
            da.from_delayed(apply(part, **known), (np.nan, *shape), dtype=dtype)
            for part in X.to_delayed()
        ]
        return da.concatenate(parts, allow_unknown_chunksizes=True)


def _apply(
    block: Any, model: Any, method: str, shape: tuple[int, ...], dtype_: np.dtype[Any]
) -> NDArray[Any]:
    if block.shape[0] == 0:
        return np.empty((0, *shape), dtype_)
    found: NDArray[Any] = getattr(model, method)(block)
    return found


def _sizes(session: Session, n_features: int) -> dict[int, int]:
    """Return the number of rows of each partition that has any."""
    described = session.call("describe", how="gather")
    sizes = {}
    for number in session.numbers:
        found = described[number]
        if found["problem"]:
            raise ValueError(f"partition {number} of the data: {found['problem']}")
        if found["features"] != n_features:
            raise ValueError(
                f"partition {number} of the data: X has {found['features']} columns here, "
                f"{n_features} were announced."
            )
        if found["rows"]:
            sizes[number] = found["rows"]
    if not sizes:
        raise ValueError("Found array with 0 sample(s): every partition of X is empty.")
    session.only(list(sizes))
    return sizes


class _RemoteLabels(Labels):
    """Labels and weights on the workers, wherever they were."""

    rows: DaskRows

    def __init__(self, rows: DaskRows, y: Any, sample_weight: Any) -> None:
        self.rows, self.plain = rows, sample_weight is None
        if sample_weight is not None and np.ndim(sample_weight) == 0:
            sample_weight = np.full(rows.n_rows, sample_weight)
        self.weight = self._given(sample_weight, "weight", "sample_weight")
        self.y = self._given(y, "labels", "y")
        refuse_no_weight(self.plain or self.heaviest() > 0)

    def _given(self, values: Any, name: str, parameter: str) -> Any:
        if values is None:
            return self.rows.ones(None)
        if is_dask(values):
            return self.rows.new("given", name)
        return self.rows.vector(row_values(values, self.rows.n_rows, parameter))

    def classes(self) -> NDArray[Any]:
        """Return the sorted labels of the rows of positive weight."""
        try:
            classes = np.unique(
                np.concatenate(self.rows.in_order("operations.labels", self.y, self.weight))
            )
        except TypeError as error:
            raise ValueError(f"y must hold labels of one kind: {error}.") from None
        check_classification_targets(classes)
        return classes

    def count(self, classes: NDArray[Any]) -> Floats:
        """Assign numbers to the labels, and return the weight of each class."""
        self.codes = self.rows.new("operations.codes", self.y, classes)
        return np.asarray(self.rows.ask("numpy.bincount", self.codes, self.weight, len(classes)))

    def weigh(self, factors: Floats) -> None:
        """Multiply the weight of each row by the factor of its class."""
        self.weight = self.weight * self.rows.new("operator.getitem", factors, self.codes)
        self.plain = False

    def target(self, n_classes: int) -> Any:
        """Return the labels of the loss: signs with two classes, class numbers with more."""
        target = self.codes * 2.0 + -1.0 if n_classes == 2 else self.codes
        self.rows.stands(target, np.float64 if n_classes == 2 else np.intp)
        self.rows.stands(self.weight, np.float64)
        return target
