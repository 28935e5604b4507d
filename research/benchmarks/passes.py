"""The fused passes over the data: value with gradient, and the probe along a coordinate."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bblr._numeric.threads import num_threads
from bblr.designs import DenseDesign, ScaledDesign
from bblr.losses import BetaBernoulli
from research.benchmarks.cases import Bar, Measured, Settings, case
from research.benchmarks.data import gaussian
from research.benchmarks.timing import race, seconds, show

ROWS, FEATURES = 350_000, 254
LOSS = BetaBernoulli.binary(0.1, 0.8, gamma=4.0)
STEPS = np.arange(-40, 41) / 40.0


@numba.njit(nogil=True, fastmath=True)
def _add_up(x: Any) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total


# Whichever reads fastest on this machine stands for its bandwidth.
READERS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "read by max": np.max,
    "read by sum": np.sum,
    "read by loop": _add_up,
}


def _reader(read: Callable[[NDArray[Any]], Any], X: NDArray[Any], pool: Any) -> Callable[[], Any]:
    parts = np.array_split(X.ravel(), num_threads())
    return lambda: list(pool.map(read, parts))


def _fused(settings: Settings, dtype: type) -> Measured:
    X, y = gaussian(settings.rows(ROWS), FEATURES, settings.seed, dtype=dtype)
    coef = np.random.default_rng(settings.seed + 1).normal(scale=0.1, size=(1, FEATURES))
    weight, intercept = np.ones(len(y)), np.array([0.1])
    # What a fit makes of X: for such columns, products in the precision of X.
    design = ScaledDesign(DenseDesign(X), weight, fit_intercept=True).design
    with ThreadPoolExecutor(num_threads()) as pool:
        rivals = {name: _reader(read, X, pool) for name, read in READERS.items()}
        rivals["pass"] = lambda: design.value_gradient(coef, intercept, y, weight, LOSS).value
        timings = race(rivals, settings.repeats(25), warm_up=True)
    best_read = min(timings[name].best for name in READERS)
    mine = timings["pass"].best
    rates = [f"{X.nbytes / 1e9 / s:.1f} GB/s" for s in (best_read, mine)]
    return Measured(
        {"bandwidth / bandwidth of a bare read": best_read / mine},
        [f"{show(timings)}; bare read {rates[0]}, pass {rates[1]}, {num_threads()} threads"],
        {"shape": X.shape, "seconds": seconds(timings)},
    )


@case(
    "fused-float64",
    "value and gradient of 350,000 x 254 float64, against reading the matrix",
    Bar("bandwidth / bandwidth of a bare read", ">=", 0.80),
)
def fused_float64(settings: Settings) -> Measured:
    return _fused(settings, np.float64)


@case(
    "fused-float32",
    "value and gradient of 350,000 x 254 float32, against reading the matrix",
    Bar("bandwidth / bandwidth of a bare read", ">=", 0.80),
)
def fused_float32(settings: Settings) -> Measured:
    return _fused(settings, np.float32)


def _numpy_probe(raw: Any, x: Any, y: Any, weight: Any) -> NDArray[np.float64]:
    costs = []
    for step in STEPS:
        z = LOSS.gamma * y * (raw + step * x)
        low = np.where(y > 0, LOSS.low[1], LOSS.low[0])
        costs.append(weight @ -np.log(low + LOSS.b / (1.0 + np.exp(-z))))
    return np.array(costs)


@case(
    "probe",
    "the loss at 81 steps along one coordinate, 350,000 rows, against NumPy",
    Bar("time / NumPy", "<=", 1 / 25),
)
def probe(settings: Settings) -> Measured:
    X, y = gaussian(settings.rows(ROWS), FEATURES, settings.seed)
    weight = np.ones(len(y))
    raw = X @ np.random.default_rng(settings.seed + 1).normal(scale=0.1, size=FEATURES)
    design, j = DenseDesign(X), FEATURES // 2
    timings = race(
        {
            "probe": lambda: design.probe(raw, (j, 0.0, 0, STEPS), y, weight, LOSS),
            "NumPy": lambda: _numpy_probe(raw, X[:, j], y, weight),
        },
        settings.repeats(9),
        warm_up=True,
    )
    np.testing.assert_allclose(timings["probe"].result, timings["NumPy"].result, rtol=1e-9)
    ratio = timings["probe"].best / timings["NumPy"].best
    return Measured(
        {"time / NumPy": ratio},
        [f"{show(timings)}: 1/{1 / ratio:.1f}"],
        {"steps": len(STEPS), "seconds": seconds(timings)},
    )
