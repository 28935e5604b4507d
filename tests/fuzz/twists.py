"""What is fitted twice and compared: the same data, put differently, must give the same."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import parallel_backend
from numpy.typing import NDArray

from tests.fuzz import layouts
from tests.fuzz.cases import Case
from tests.fuzz.data import Data, make_model
from tests.fuzz.graphs import as_graph
from tests.fuzz.refusals import Wrong

Floats = NDArray[np.float64]

# How far apart probabilities may be of two fits whose objectives `tol` does not tell apart.
_LOW_ENOUGH = 0.02


def _scores(model: Any, X: Any) -> Floats:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    return np.asarray(model.decision_function(X))


def _again(data: Data, **more: Any) -> Any:
    return make_model(data.case, **more).fit(data.X, data.y, sample_weight=data.weight)


def _out_of_time(*models: Any) -> bool:
    """Whether a time limit has ended a fit, which may then be another each time."""
    return any("time limit" in str(getattr(model, "reason_", "")) for model in models)


def same_bits(model: Any, other: Any, X: Any) -> None:
    """Raise Wrong unless two models are the same to the last bit."""
    for name in ("coef_", "intercept_", "dual_coef_", "support_"):
        a, b = getattr(model, name, None), getattr(other, name, None)
        if not np.array_equal(a if a is not None else 0, b if b is not None else 0):
            raise Wrong(f"{name} differs from fit to fit: {a} and {b}")
    if not np.array_equal(_scores(model, X), _scores(other, X)):
        raise Wrong("predictions differ from fit to fit")


def _repeated(model: Any, data: Data) -> None:
    if _out_of_time(model):
        return
    other = _again(data)
    if not _out_of_time(other):
        same_bits(model, other, data.X)


def _refitted(model: Any, data: Data) -> None:
    """Fit the model to other rows and back: nothing of them may be left."""
    if _out_of_time(model) or model.get_params().get("warm_start"):
        return
    if dict(data.case.params).get("kernel") == "precomputed":  # such rows are no table
        return
    other = _again(data)
    rows = np.arange(24.0)[:, None] % 7.0
    # Of the same classes: parameters may name them, or say how many there are.
    classes = np.asarray(model.classes_)
    other.fit(rows, classes[np.arange(24) % len(classes)])
    other.fit(data.X, data.y, sample_weight=data.weight)
    if not _out_of_time(other):
        same_bits(model, other, data.X)
    if set(vars(model)) != set(vars(other)):
        raise Wrong(f"a second fit leaves other attributes: {set(vars(model)) ^ set(vars(other))}")


def _any_jobs(model: Any, data: Data) -> None:
    if _out_of_time(model):
        return
    with parallel_backend("threading", n_jobs=2):
        other = _again(data, n_jobs=2)
    if not _out_of_time(other):
        same_bits(model, other, data.X)


def _pickled(model: Any, data: Data) -> None:
    same_bits(model, pickle.loads(pickle.dumps(model)), data.X)


def alike(model: Any, other: Any, X: Any, X_other: Any, what: str, case: Case) -> None:
    """Raise Wrong unless two fits to the same data, put differently, say the same."""
    if _out_of_time(model):
        return
    if hasattr(model, "zero_one_loss_"):
        if abs(model.zero_one_loss_ - other.zero_one_loss_) > 1e-6 * (1 + model.zero_one_loss_):
            raise Wrong(f"{what}: losses {model.zero_one_loss_} and {other.zero_one_loss_}")
        return
    gap = np.abs(_scores(model, X) - _scores(other, X_other)).max()
    # Rounding may end one of two fits a step before the other.
    most = max(_tolerance(case), _LOW_ENOUGH) if _as_low(model, other) else _tolerance(case)
    if not gap <= most:
        raise Wrong(f"{what}: the answers differ by {gap}")


def _as_low(model: Any, other: Any) -> bool:
    """Whether the ends of two fits are as low as each other, by what `tol` promises."""
    if not hasattr(model, "path_") or not hasattr(model, "tol"):
        return False
    one, two = (fit.path_[-1].value for fit in (model, other))
    return bool(abs(one - two) <= model.tol * (1.0 + abs(one)))


def _tolerance(case: Case) -> float:
    single = ("float32", "csr_float32", "tensor_float32")
    return 0.02 if case.layout in single else 2e-3


def comparable(case: Case) -> bool:
    """Whether a case is ordinary enough for the same answer however it is put."""
    known = layouts.SAME + layouts.ROUNDED + layouts.TENSORS
    return case.plain_data and not case.params and case.layout in known


def _any_layout(model: Any, data: Data) -> None:
    if not comparable(data.case) or data.case.estimator == "SLAClassifier":
        return
    plain = np.ascontiguousarray(data.table)
    y, weight = (None if v is None else np.asarray(v) for v in (data.y, data.weight))
    other = make_model(data.case).fit(plain, y, sample_weight=weight)
    alike(model, other, data.X, plain, "another layout", data.case)


def _row_by_row(model: Any, data: Data) -> None:
    """Ask for each row by itself: the company it comes in must not matter."""
    if not comparable(data.case) or "precomputed" in str(data.case.params):
        return
    whole = _scores(model, data.X)
    for k in range(0, data.case.n, 7):
        alone = _scores(model, data.laid_out(data.table[k : k + 1]))
        if not np.allclose(alone[0], whole[k], rtol=1e-6, atol=1e-9):
            raise Wrong(f"row {k} alone gets {alone[0]}, among others {whole[k]}")


def _duplicated(model: Any, data: Data) -> None:
    if not comparable(data.case) or data.case.weights not in ("small_ints", "list", "some_zero"):
        return
    some = np.repeat(np.arange(data.case.n), np.asarray(data.weight))
    X, y = data.laid_out(data.table[some]), np.asarray(data.y)[some]
    other = make_model(data.case).fit(X, y)
    alike(model, other, data.X, data.X, "rows twice instead of weights", data.case)


def _scaled_by_powers(model: Any, data: Data) -> None:
    if not comparable(data.case) or data.case.layout not in layouts.SAME:
        return
    rng = np.random.default_rng(data.case.seed + 4)
    powers = 2.0 ** rng.integers(-40, 40, len(data.case.columns))
    X = data.laid_out(data.table * powers)
    other = make_model(data.case).fit(X, data.y, sample_weight=data.weight)
    alike(model, other, data.X, X, "columns in other units", data.case)


def _in_any_order(model: Any, data: Data) -> None:
    if not comparable(data.case):
        return
    # Elimination is greedy: which of several equal vectors goes is a matter of their order.
    if "backward" in data.case.estimator and len(np.unique(data.table, axis=0)) < data.case.n:
        return
    order = np.random.default_rng(data.case.seed + 5).permutation(data.case.n)
    weight = data.weight
    weight = None if weight is None else np.asarray(weight)[order]
    X = data.laid_out(data.table[order])
    y = np.asarray(data.y)[order]
    other = make_model(data.case).fit(X, y, sample_weight=weight)
    alike(model, other, data.X, data.X, "rows in another order", data.case)


TWISTS: dict[str, Callable[[Any, Data], None]] = {
    "repeat": _repeated,
    "refit": _refitted,
    "n_jobs": _any_jobs,
    "pickle": _pickled,
    "onnx": as_graph,
    "layout": _any_layout,
    "rows": _row_by_row,
    "duplicate": _duplicated,
    "power": _scaled_by_powers,
    "order": _in_any_order,
}
