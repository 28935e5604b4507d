"""Ways to put the same problem differently, and how far the scores may then be apart.

A relation takes a problem and returns it put differently, with what leads its scores back, or None
where it does not hold: parameters in turn (SLA, the zero-one search) have an order and a sign,
folds that are drawn have one of the rows, and kernels know the units of columns.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from bblr import Plateaus
from tests.metamorphic.problems import KERNELS, Floats, Problem

Back = Callable[[Floats], Floats]
Put = tuple[Problem, Back] | None

# What float64 owes, as a share of the largest score; float32 forms products in single precision.
MOST = {"float32": 5e-3, "device": 2e-2}
LEAST = 1e-8
# Where penalty or plateaus of many classes are estimated.
ESTIMATED = 1e-7
# Quasi-Newton steps multiply rounding errors: after so many, two fits only are as low as `tol`
# promises. Such pairs are counted by themselves. Before a search the loss is sharpened, mostly
# under next to no penalty, and errors grow faster.
_MANY_STEPS, _MANY_OF_A_SEARCH = 40, 20


def _as_it_is(scores: Floats) -> Floats:
    return scores


def _rows(problem: Problem, rng: np.random.Generator) -> Put:
    if problem.finds_folds:
        return None
    order = rng.permutation(len(problem.y))
    place = np.argsort(order)
    folds = problem.folds and [(np.sort(place[a]), np.sort(place[b])) for a, b in problem.folds]
    weight = None if problem.weight is None else problem.weight[order]
    X, y = problem.X[order], problem.y[order]
    return problem.with_(X=X, y=y, weight=weight, folds=folds), _as_it_is


def _of_columns(problem: Problem, change: Callable[[Floats], Floats]) -> Put:
    return problem.with_(X=change(problem.X), asked=change(problem.asked)), _as_it_is


def _columns(problem: Problem, rng: np.random.Generator) -> Put:
    order = rng.permutation(problem.X.shape[1])
    return None if problem.walks_by_coordinate else _of_columns(problem, lambda X: X[:, order])


def _signs(problem: Problem, rng: np.random.Generator) -> Put:
    signs = rng.choice([-1.0, 1.0], problem.X.shape[1])
    return None if problem.walks_by_coordinate else _of_columns(problem, lambda X: X * signs)


def _knows_units(problem: Problem) -> bool:
    return problem.name in KERNELS


def _powers(problem: Problem, rng: np.random.Generator) -> Put:
    units = 2.0 ** rng.integers(-30, 30, problem.X.shape[1])
    return None if _knows_units(problem) else _of_columns(problem, lambda X: X * units)


def _units(problem: Problem, rng: np.random.Generator) -> Put:
    units = 10.0 ** rng.uniform(-3, 3, problem.X.shape[1])
    return None if _knows_units(problem) else _of_columns(problem, lambda X: X * units)


def _one_unit(problem: Problem, rng: np.random.Generator) -> Put:
    """All columns of a kernel in another unit, where its width is a matter of the data."""
    params = problem.params
    own = params.get("kernel_gamma", params.get("kernel_gammas")) in ("scale", "auto")
    known = params.get("kernel") == "rbf" and params.get("kernel_gamma") != "auto"
    unit = 2.0 ** int(rng.integers(-20, 20))
    return _of_columns(problem, lambda X: X * unit) if own and known else None


def _relabelled(problem: Problem, order: Any) -> Problem:
    """Class k becomes class order[k]; parameters that name classes go with it."""
    params = dict(problem.params)
    if isinstance(params.get("class_weight"), dict):
        params["class_weight"] = {int(order[k]): v for k, v in params["class_weight"].items()}
    if isinstance(params.get("prior"), Plateaus):
        low = np.array(params["prior"].low)
        params["prior"] = Plateaus(tuple(low[np.argsort(order)]))
    return problem.with_(params=params, y=order[problem.y])


def _labels(problem: Problem, rng: np.random.Generator) -> Put:
    # Folds are drawn class by class, and the first step that gains depends on its sign.
    if problem.walks_by_coordinate or problem.finds_folds:
        return None
    classes = len(problem.classes)
    order = np.roll(np.arange(classes), 1) if classes == 2 else rng.permutation(classes)

    def back(scores: Floats) -> Floats:
        return -scores if scores.ndim == 1 else scores[:, order]

    return _relabelled(problem, order), back


def _names(problem: Problem, _: Any) -> Put:
    names = np.array([f"class {chr(97 + k)}" for k in range(len(problem.classes))])
    params = dict(problem.params)
    if isinstance(params.get("class_weight"), dict):
        params["class_weight"] = {names[k]: v for k, v in params["class_weight"].items()}
    return problem.with_(params=params, y=names[problem.y]), _as_it_is


def _copies(problem: Problem, _: Any) -> Put:
    weight = problem.weight
    if problem.finds_folds or weight is None or not np.all(weight == np.round(weight)):
        return None
    if problem.params.get("class_weight") == "balanced":  # counts rows, as scikit-learn does
        return None
    times = np.repeat(np.arange(len(weight)), weight.astype(int))
    at = [np.flatnonzero(np.isin(times, part)) for fold in problem.folds or () for part in fold]
    folds = list(zip(at[::2], at[1::2], strict=True)) or None
    return (
        problem.with_(X=problem.X[times], y=problem.y[times], weight=None, folds=folds),
        _as_it_is,
    )


def _no_weight(problem: Problem, rng: np.random.Generator) -> Put:
    """Rows of weight 0 among the others, with any label."""
    balanced = problem.params.get("class_weight") == "balanced"  # counts rows, of any weight
    if problem.name == "RobustClassifier" or balanced:
        return None
    n, more = len(problem.y), 15
    place = np.sort(rng.permutation(n + more)[:n])
    far = 3.0 * rng.normal(size=(n + more, problem.X.shape[1]))
    y, weight = rng.choice(problem.classes, n + more), np.zeros(n + more)
    far[place], y[place] = problem.X, problem.y
    weight[place] = 1.0 if problem.weight is None else problem.weight
    folds = problem.folds and [(place[a], place[b]) for a, b in problem.folds]
    return problem.with_(X=far, y=y, weight=weight, folds=folds), _as_it_is


def _constant(problem: Problem, rng: np.random.Generator) -> Put:
    place, value = int(rng.integers(problem.X.shape[1] + 1)), float(np.round(rng.normal(), 3))
    if problem.name in KERNELS:
        known = problem.params["kernel"] in ("rbf", "laplacian")
        if not known or problem.params.get("kernel_gamma") == "auto":  # 1 / number of columns
            return None
    elif not problem.params.get("fit_intercept", True):
        value = 0.0
    return _of_columns(problem, lambda X: np.insert(X, place, value, axis=1))


def _stored(make: Callable[[Floats], Any]) -> Callable[[Problem, Any], Put]:
    return lambda problem, _: (
        problem.with_(X=make(problem.X), asked=make(problem.asked)), _as_it_is
    )  # fmt: skip


def _mapped(X: Floats) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.npy")
        np.save(path, X)
        return np.load(path, mmap_mode="r")


def _tensor(X: Floats) -> Any:
    import torch

    return torch.as_tensor(X)


def _on_a_device(problem: Problem, _: Any) -> Put:
    """Tensors that torch itself computes with."""
    if "device" not in getattr(problem.model, "get_params", dict)():
        return None
    params = problem.params
    if params.get("sparsity") == "gauss-laplace" and params["kernel"] in ("poly", "linear"):
        # Of vectors that span the same functions the last bit of products chooses some.
        return None
    return (
        problem.with_(params={**problem.params, "device": "cpu"}, X=_tensor(problem.X),
                      asked=_tensor(problem.asked)),
        lambda scores: scores,
    )  # fmt: skip


def _in_single_precision(problem: Problem, _: Any) -> Put:
    if problem.params.get("sparsity") is not None:  # products decide which vectors go
        return None
    return _of_columns(problem, lambda X: X.astype(np.float32))


def _on_a_cluster(problem: Problem, rng: np.random.Generator) -> Put:
    """Rows, labels and weights in parts on a Dask cluster."""
    if find_spec("dask") is None:
        return None
    import bblr.dask

    name = f"Dask{problem.name}"
    given = problem.folds is not None or problem.walks_by_coordinate
    if given or not hasattr(bblr.dask, name):
        return None
    import dask.array as da

    from tests.fuzz.cluster import cluster_client

    cut = sorted(rng.choice(np.arange(1, len(problem.y)), 2, replace=False).tolist())
    sizes = tuple(np.diff([0, *cut, len(problem.y)]).tolist())

    def spread(rows: Any) -> Any:
        return da.from_array(rows, chunks=(sizes, *rows.shape[1:]))

    weight = None if problem.weight is None else spread(problem.weight)
    params = {**problem.params, "client": cluster_client()}
    return problem.with_(
        name=name, params=params, X=spread(problem.X), y=spread(problem.y), weight=weight
    ), _as_it_is


RELATIONS: dict[str, Callable[[Problem, Any], Put]] = {
    "rows": _rows,
    "columns": _columns,
    "signs": _signs,
    "powers of two": _powers,
    "units": _units,
    "one unit": _one_unit,
    "labels": _labels,
    "names": _names,
    "copies": _copies,
    "no weight": _no_weight,
    "constant": _constant,
    "csr": _stored(sparse.csr_matrix),
    "csc": _stored(sparse.csc_array),
    "float32": _in_single_precision,
    "fortran": _stored(np.asfortranarray),
    "memory map": _stored(_mapped),
    "frame": _stored(lambda X: pd.DataFrame(X).rename(columns="x{}".format)),
    "tensor": _stored(_tensor),
    "device": _on_a_device,
    "cluster": _on_a_cluster,
}


def takes_many_steps(problem: Problem, other: Problem) -> bool:
    """Say whether rounding errors may have grown beyond any tolerance."""
    most = _MANY_OF_A_SEARCH if problem.walks_by_coordinate else _MANY_STEPS
    return max(problem.steps, other.steps) > most


def most_apart(name: str, problem: Problem) -> float:
    """Return how far apart the answers may be."""
    return MOST.get(name, ESTIMATED if problem.estimates_many else LEAST)


def gap(problem: Problem, other: Problem, back: Back) -> float:
    """Return how far apart the answers are, as a share of the largest score.

    Where the zero-one loss is minimised, many planes are as good: its least value is compared.
    """
    if problem.name == "ZeroOneClassifier":
        return _loss_gap(problem.model, other.model)
    one, two = problem.scores, back(other.scores)
    apart = float(np.abs(one - two).max()) / max(1.0, float(np.abs(one).max()))
    if problem.table is not None and one.ndim == two.ndim:
        order = _columns_of(problem, other, back)
        apart = max(apart, float(np.abs(problem.table - other.table[:, order]).max()))
    return apart


def _columns_of(problem: Problem, other: Problem, back: Back) -> Any:
    """Return which column of the other's probabilities belongs to each class."""
    classes = len(problem.classes)
    if classes > 2:
        return back(np.arange(classes)[None].astype(float))[0].astype(int)
    return [1, 0] if back(np.ones(1))[0] < 0 else [0, 1]


def _loss_gap(one: Any, two: Any) -> float:
    if "optimal" not in one.reason_ or "optimal" not in two.reason_:
        return 0.0
    return abs(one.zero_one_loss_ - two.zero_one_loss_) / max(1.0, one.zero_one_loss_)


def consistent(problem: Problem) -> bool:
    """Whether predictions are the argmax of scores and of probabilities."""
    classes, scores = np.asarray(problem.model.classes_), problem.scores
    predicted = np.asarray(problem.model.predict(problem.asked))
    best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    fits = np.array_equal(predicted, classes[best])
    if problem.table is None:
        return fits
    return fits and np.array_equal(predicted, classes[problem.table.argmax(axis=1)])
