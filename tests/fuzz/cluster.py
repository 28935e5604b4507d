"""Cases for the classifiers on a Dask cluster, which here is a thread of this process."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

import bblr
from tests.fuzz.answers import check_answer
from tests.fuzz.cases import Case
from tests.fuzz.data import Data
from tests.fuzz.refusals import FITTED, REFUSED, Wrong, no_warnings, refusal
from tests.fuzz.strategies import BASE, fits
from tests.fuzz.twists import alike, same_bits

# How rows lie on the cluster.
FORMS = ("array", "cut_columns", "unknown", "sparse", "empty_part", "frame", "float32", "ints",
         "one_a_row")  # fmt: skip
WRONG_FORMS = ("here", "flat", "text", "frame_text", "uneven", "delayed")


@dataclass(frozen=True)
class ClusterCase:
    """A fit, how its rows are spread, and whether labels and weights are, too."""

    case: Case
    form: str = "array"
    spread: bool = False

    @property
    def estimator(self) -> str:
        """The name under which outcomes are counted."""
        return self.case.estimator


@st.composite
def cluster_cases(draw: Any) -> ClusterCase:
    """Draw a fit of rows in a plain layout, in one of the forms a collection may have."""
    form = draw(st.sampled_from((*FORMS, *FORMS, *WRONG_FORMS)))
    # Rounded before they are spread: Dask casts lazily, and NumPy warns of that on a worker.
    layout = {"float32": "float32", "ints": "int64"}.get(form, "rows")
    return ClusterCase(replace(draw(fits("dask")), layout=layout), form, draw(st.booleans()))


@cache
def cluster_client() -> Any:
    """Return a client of the cluster, which is made by the first call."""
    from distributed import Client, LocalCluster

    # A partition that is refused is what many cases are about, and no news.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    cluster = LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    return Client(cluster, set_as_default=False)


def close() -> None:
    """End the cluster, if there is one."""
    if cluster_client.cache_info().currsize:
        client = cluster_client()
        client.close()
        client.cluster.close()
        cluster_client.cache_clear()


def collection(form: str, table: Any) -> Any:
    """Return rows on the cluster."""
    import dask.array as da
    import dask.dataframe as dd
    from dask.delayed import delayed

    n, d = table.shape
    step = max(1, n // 3)
    whole = da.from_array(table, chunks=(step, -1))
    frame = pd.DataFrame(table, columns=[f"column {j}" for j in range(d)])
    made: dict[str, Callable[[], Any]] = {
        "array": lambda: whole,
        "cut_columns": lambda: whole.rechunk((step, 1)),
        # No one knows how many rows a mask leaves.
        "unknown": lambda: whole[da.ones(n, chunks=step) > 0],
        "sparse": lambda: whole.map_blocks(sparse.csr_matrix, meta=sparse.csr_matrix((0, d))),
        "empty_part": lambda: da.concatenate([whole[:step], whole[:0], whole[step:]]),
        "frame": lambda: dd.from_pandas(frame, npartitions=3, sort=False),
        "float32": lambda: whole.astype(np.float32),
        "ints": lambda: whole.astype(np.int64),
        "one_a_row": lambda: whole.rechunk((1, -1)),
        "here": lambda: table,
        "flat": lambda: whole[:, 0],
        "text": lambda: da.full((n, d), "word", chunks=(step, -1)),
        "frame_text": lambda: dd.from_pandas(frame.astype(str), npartitions=3),
        "uneven": lambda: _uneven(table, step),
        "delayed": lambda: delayed(table),
    }
    return made[form]()


def _uneven(table: Any, step: int) -> Any:
    """Rows whose second part has a column more than was announced."""
    import dask.array as da
    from dask.delayed import delayed

    d = table.shape[1]
    wide = np.column_stack([table[step:], table[step:, :1]])
    parts = (table[:step], (step, d)), (wide, (len(wide), d))
    return da.concatenate([da.from_delayed(delayed(p), s, dtype=float) for p, s in parts])


def _spread(values: Any, X: Any) -> Any:
    """Return labels or weights in the partitions of X, where they can be."""
    import dask.array as da
    import dask.dataframe as dd

    if values is None or np.ndim(values) == 0:
        return values
    if hasattr(X, "columns"):
        if len(values) != sum(X.map_partitions(len).compute()) or np.ndim(values) != 1:
            return values
        series = pd.Series(np.asarray(values))
        return dd.from_pandas(series, npartitions=3, sort=False)
    array = np.asarray(values)
    rows = X.chunks[0] if hasattr(X, "chunks") else ()
    known = sum(rows) == len(array) if rows and not np.isnan(rows).any() else False
    chunks = (rows if known else max(1, len(array) // 3), *array.shape[1:])
    return da.from_array(array, chunks=chunks)


def run_cluster(spread: ClusterCase) -> str:
    """Fit on the cluster; return "fitted" or "refused", or raise Wrong."""
    case = spread.case
    data = Data(case)
    form = spread.form
    if not case.columns and form in ("cut_columns", "unknown", "flat", "uneven"):
        form = "array"
    model = _make(case)
    with no_warnings():
        try:
            X = collection(form, data.table)
            y, weight = data.y, data.weight
            if spread.spread:
                y, weight = _spread(y, X), _spread(weight, X)
        except Exception:  # Dask has no such collection, and no fit sees it
            return REFUSED
        before = set(vars(model))
        try:
            model.fit(X, y, sample_weight=weight)
        except Exception as error:
            outcome = refusal(error, model.get_params(deep=False))
            if must_fit(spread):
                raise Wrong(f"plain data were refused: {error}") from error
            if set(vars(model)) != before:
                raise Wrong("a refused fit left something behind") from error
            return outcome
        if case.wrong_data or form in WRONG_FORMS:
            raise Wrong("data were taken that no fit may take")
        _check(model, data, X, form)
    return FITTED


def must_fit(spread: ClusterCase) -> bool:
    """Whether nothing about a case gives a reason to refuse it."""
    case = spread.case
    return (
        case.plain_data
        and not case.params
        and spread.form in FORMS
        and not (spread.spread and spread.form in ("unknown", "empty_part", "frame"))
        and not (case.weights == "some_zero" and case.n < 8 * case.classes)
    )


def _make(case: Case) -> Any:
    import bblr.dask

    known = getattr(bblr.dask, case.estimator)
    return known(client=cluster_client(), **_seeded(known, case, dict(case.params)))


def _seeded(known: Any, case: Case, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a classifier, a seed among them if it has one."""
    seed = {"random_state": 0} if "random_state" in known().get_params() else {}
    return {**seed, **BASE[case.estimator], **params}


def _nameless(model: Any) -> Any:
    """Return the local model, without the names of a frame, which rows of an array have not."""
    local = model.to_local()
    vars(local).pop("feature_names_in_", None)
    return local


def _check(model: Any, data: Data, X: Any, form: str) -> None:
    case = data.case
    local = _nameless(model)
    if form in ("array", "sparse", "cut_columns", "one_a_row"):
        check_answer(local, data)
    lazy = model.predict_proba(X).compute(scheduler="synchronous")
    if not np.isfinite(lazy).all() or np.abs(lazy.sum(axis=1) - 1.0).max() > 1e-12:
        raise Wrong(f"probabilities are none: {lazy[:5]}")
    predicted = model.predict(X).compute(scheduler="synchronous")
    if not np.array_equal(predicted, np.asarray(local.classes_)[lazy.argmax(axis=1)]):
        raise Wrong("predict is not the argmax of predict_proba")
    if case.twist == "pickle":
        same_bits(local, _nameless(pickle.loads(pickle.dumps(model))), data.table)
    comparable = case.plain_data and not case.params and form not in ("float32", "ints")
    if case.twist == "local" and comparable:
        known = getattr(bblr, case.estimator.removeprefix("Dask"))
        here = known(**_seeded(known, case, {}))
        here.fit(data.table, data.y, sample_weight=data.weight)
        alike(local, here, data.table, data.table, "on a cluster and here", case)


__all__ = ["ClusterCase", "close", "cluster_cases", "run_cluster"]
