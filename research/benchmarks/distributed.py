"""Fits on a Dask cluster beside fits on one machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from bblr import BBLRClassifier
from research.benchmarks.cases import Bar, Measured, Settings, Unavailable, case
from research.benchmarks.timing import race, seconds, show

ROWS, FEATURES = 2_000_000, 50
PARTITION_ROWS = 200_000
PARTITIONS = (1, 2, 7, 50)


@contextmanager
def _cluster(workers: int = 2) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise Unavailable("needs Dask: pip install 'bblr[dask]'") from None
    before = dict(os.environ)
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        # Dask sets OMP_NUM_THREADS=1 for its workers, and here on the way.
        os.environ.clear()
        os.environ.update(before)
        yield client


def _block(start: int, stop: int, n_features: int, seed: int) -> np.ndarray[Any, Any]:
    """Rows and, in the last column, labels: the same for the same seed and number of a row."""
    plane = np.random.default_rng(seed).standard_normal(n_features)
    parts = []
    for tile in range(start // 1000, -(-stop // 1000)):
        rng = np.random.default_rng([seed, tile])
        X = rng.standard_normal((1000, n_features))
        y = (X @ plane + rng.standard_normal(1000) > 0) ^ (rng.random(1000) < 0.05)
        rows = slice(max(start - 1000 * tile, 0), min(stop - 1000 * tile, 1000))
        parts.append(np.column_stack([X, y])[rows])
    return np.concatenate(parts) if parts else np.empty((0, n_features + 1))


def _rows(start: int, stop: int, n_features: int, seed: int) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(_block(start, stop, n_features, seed)[:, :-1])


def _labels(start: int, stop: int, n_features: int, seed: int) -> np.ndarray[Any, Any]:
    return _block(start, stop, n_features, seed)[:, -1]


def _lazy(bounds: list[int], n_features: int, seed: int) -> tuple[Any, Any]:
    """Return the rows as Dask arrays that are made on the workers."""
    import dask.array as da
    from dask.delayed import delayed

    X, y = [], []
    for a, b in pairwise(bounds):
        made = (a, b, n_features, seed)
        X.append(da.from_delayed(delayed(_rows)(*made), (b - a, n_features), dtype=float))
        y.append(da.from_delayed(delayed(_labels)(*made), (b - a,), dtype=float))
    return da.concatenate(X), da.concatenate(y)


def _bounds(n_rows: int, parts: int, *, empty: bool = False) -> list[int]:
    bounds = [n_rows * k // parts for k in range(parts + 1)]
    return sorted([*bounds, bounds[parts // 2]]) if empty else bounds


def _objective(model: Any) -> float:
    return float(model.path_[-1].value)


@case(
    "dask-overhead",
    "DaskBBLRClassifier().fit on 2 workers x 1 thread, 2 million x 50, rows on the workers, over "
    "BBLRClassifier().fit on the same two cores",
    Bar("time / local", "<=", 1.5),
)
def overhead(settings: Settings) -> Measured:
    from bblr.dask import DaskBBLRClassifier

    n = settings.rows(ROWS)
    with _cluster() as client:
        X, y = _dealt_out(client, n, settings.seed)
        local_X, local_y = client.compute([X, y], sync=True)
        timings = race(
            {
                "2 workers": lambda: DaskBBLRClassifier(client=client).fit(X, y),
                "local": lambda: BBLRClassifier().fit(local_X, local_y),
            },
            settings.repeats(7),
            warm_up=True,
        )
    ratio = timings["2 workers"].best / timings["local"].best
    apart = _apart(timings["2 workers"].result, timings["local"].result)
    lines = [f"{n:,} x {FEATURES}: {show(timings)}; objectives differ by {apart:.1e}"]
    return Measured({"time / local": ratio}, lines, {"seconds": seconds(timings)})


def _dealt_out(client: Any, n: int, seed: int) -> tuple[Any, Any]:
    """Return rows that lie on the workers, as many on each: Dask may make all on one."""
    import dask.array as da
    from distributed import wait

    workers = sorted(client.nthreads())
    parts = []
    for worker, (start, stop) in zip(workers, pairwise(_bounds(n, len(workers))), strict=True):
        bounds = [start, (start + stop) // 2, stop]
        parts.append([client.persist(a, workers=[worker]) for a in _lazy(bounds, FEATURES, seed)])
    wait(parts)
    X, y = zip(*parts, strict=True)
    return da.concatenate(X), da.concatenate(y)


def _apart(model: Any, local: Any) -> float:
    return abs(_objective(model) / _objective(local) - 1.0)


@case(
    "dask-partitions",
    "objective of DaskBBLRClassifier on 1, 2, 7 and 50 partitions, an empty one among them, "
    "beside that of BBLRClassifier",
    Bar("largest relative difference", "<=", 1e-8),
)
def partitions(settings: Settings) -> Measured:
    from bblr.dask import DaskBBLRClassifier

    n = settings.rows(PARTITION_ROWS)
    local = BBLRClassifier().fit(
        _rows(0, n, FEATURES, settings.seed), _labels(0, n, FEATURES, settings.seed)
    )
    apart = {}
    with _cluster() as client:
        for parts in PARTITIONS:
            bounds = _bounds(n, parts, empty=parts > 1)
            X, y = _lazy(bounds, FEATURES, settings.seed)
            apart[parts] = _apart(DaskBBLRClassifier(client=client).fit(X, y), local)
    shown = ", ".join(f"{parts}: {value:.1e}" for parts, value in apart.items())
    return Measured({"largest relative difference": max(apart.values())}, [shown])


@case(
    "dask-killed",
    "objective of DaskBBLRClassifier with a worker killed in the middle of the fit, beside that "
    "of BBLRClassifier",
    Bar("relative difference", "<=", 1e-8),
)
def killed(settings: Settings) -> Measured:
    from bblr.dask import DaskBBLRClassifier
    from bblr.solvers import FisherScoring

    n = settings.rows(PARTITION_ROWS)

    class Killing:
        """Kill a worker before the third stage."""

        def __init__(self, pids: list[int]) -> None:
            self.pids, self.stage = pids, 0

        def minimise(self, objective: Any, theta0: Any, **options: Any) -> Any:
            self.stage += 1
            if self.stage == 3 and self.pids:
                os.kill(self.pids[0], signal.SIGKILL)
            return FisherScoring().minimise(objective, theta0, **options)

    local = BBLRClassifier(solver=Killing([])).fit(
        _rows(0, n, FEATURES, settings.seed), _labels(0, n, FEATURES, settings.seed)
    )
    with _cluster() as client:
        solver = Killing(list(client.run(os.getpid).values()))
        X, y = _lazy(_bounds(n, 8), FEATURES, settings.seed)
        model = DaskBBLRClassifier(solver=solver, client=client).fit(X, y)
    apart = _apart(model, local)
    lines = [f"{n:,} x {FEATURES}, 8 partitions, 1 of 2 workers killed: {apart:.1e}"]
    return Measured({"relative difference": apart}, lines)
