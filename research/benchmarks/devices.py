"""Fits on a GPU and on a Dask cluster against the same fits on the cores of one machine."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from bblr import BBLRClassifier, KernelBBLRClassifier, ZeroOneClassifier
from research.benchmarks import benchmark
from research.benchmarks.data import gaussian
from research.benchmarks.timing import as_measured, race, run_python
from research.core.cases import Measured, Run, Unavailable
from research.core.thresholds import Threshold

CORES = 2
SHAPE = 350_000, 254
KERNEL_ROWS, KERNEL_FEATURES, CENTRES = 50_000, 20, 5_000

# In a process of its own, which keeps to two cores whatever the machine has.
CPU_SCRIPT = """
import json, os, sys, time
cores = sorted(os.sched_getaffinity(0))[: int(sys.argv[3])]
os.sched_setaffinity(0, cores)
for name in ("NUMBA", "OMP", "MKL", "OPENBLAS"):
    os.environ[name + "_NUM_THREADS"] = str(len(cores))
from research.benchmarks import devices
from research.core.cases import Run
work, data = getattr(devices, sys.argv[2])(Run(**json.loads(sys.argv[1])))
devices.warm_up(work, data)
times = []
for _ in range(int(sys.argv[4])):
    started = time.perf_counter()
    model = work().fit(*data)
    times.append(time.perf_counter() - started)
print(json.dumps({"seconds": times, "objective": model.path_[-1].value}))
"""


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise Unavailable("PyTorch is not installed: pip install 'bblr[gpu]'") from None
    if not torch.cuda.is_available():
        raise Unavailable("torch finds no GPU on this machine")
    return torch


def warm_up(make: Callable[[], Any], data: tuple[Any, Any]) -> None:
    """Load and compile what a fit needs."""
    some = slice(0, 3000)
    make().fit(data[0][some], data[1][some])


def linear(run: Run) -> tuple[Callable[[], Any], tuple[Any, Any]]:
    rows, features = run.rows(SHAPE[0]), SHAPE[1]
    return BBLRClassifier, gaussian(rows, features, run.seed, dtype=np.float32)


def many_classes(run: Run) -> tuple[Callable[[], Any], tuple[Any, Any]]:
    rng = np.random.default_rng(run.seed)
    X = rng.standard_normal((run.rows(100_000), 100), dtype=np.float32)
    y = np.argmax(X @ rng.standard_normal((100, 10)) + rng.gumbel(size=(len(X), 10)), axis=1)
    return BBLRClassifier, (X, y)


def kernel(run: Run) -> tuple[Callable[[], Any], tuple[Any, Any]]:
    rows, centres = run.rows(KERNEL_ROWS), max(50, run.rows(CENTRES))
    X, _ = gaussian(rows, KERNEL_FEATURES, run.seed)
    noise = np.random.default_rng(run.seed + 1).normal(size=rows)
    y = np.where((X**2).sum(axis=1) + 2.0 * noise > KERNEL_FEATURES, 1.0, -1.0)

    def make(**where: Any) -> Any:
        # The features take 2 GB: as much room as the GPU gives them.
        return KernelBBLRClassifier(
            max_centers=centres, cache_size=4000, random_state=run.seed, **where
        )

    return make, (X, y)


def _race(run: Run, name: str, repeats: int) -> Measured:
    torch = _torch()
    if not hasattr(os, "sched_setaffinity"):
        raise Unavailable("this system cannot keep a process to two cores")
    make, (X, y) = globals()[name](run)
    plain = json.dumps({"quick": run.quick, "seed": run.seed})
    times = run.times(repeats)
    cpu = json.loads(run_python(CPU_SCRIPT, plain, name, CORES, min(times, 3)))
    data = torch.as_tensor(X, device="cuda"), torch.as_tensor(y, device="cuda")
    warm_up(lambda: make(device="cuda"), data)

    def fit() -> Any:
        model = make(device="cuda").fit(*data)
        torch.cuda.synchronize()
        return model

    timings = race({"GPU": fit}, times, warm_up=True)
    best, ours = min(cpu["seconds"]), timings["GPU"].best
    gap = abs(timings["GPU"].result.path_[-1].value / cpu["objective"] - 1.0)
    where = torch.cuda.get_device_name()
    return as_measured(
        timings,
        {"time of two CPU cores / GPU": best / ours},
        f"two cores {best:.3g} s; objectives differ by {gap:.1e}; {where}",
        two_cores=cpu["seconds"],
        gpu=where,
        gap=gap,
    )


def _faster(least: float) -> Threshold:
    return Threshold("time of two CPU cores / GPU", ">=", least)


for _name, _about, _made, _repeats, _least in (
    ("fit", "BBLRClassifier().fit, 350,000 x 254 float32", "linear", 9, 60.0),
    ("kernel", "KernelBBLRClassifier, 50,000 rows, 5,000 centres", "kernel", 1, 30.0),
    ("classes", "BBLRClassifier().fit, ten classes, 100,000 x 100", "many_classes", 5, 40.0),
):
    benchmark(f"gpu-{_name}", f"{_about} on a GPU, against two cores", _faster(_least))(
        partial(_race, name=_made, repeats=_repeats)
    )


def _on_gpu(torch: Any, rows: int, features: int, seed: int) -> tuple[Any, Any]:
    """Make rows of two classes on the GPU, a twentieth of the labels wrong."""
    from bblr._numeric.tensors import find_device

    device = find_device("cuda")
    generator = torch.Generator(device).manual_seed(seed)
    X = torch.randn(rows, features, device=device, generator=generator)
    scores = X @ torch.randn(features, device=device, generator=generator)
    y = torch.where(scores > scores.median(), 1.0, -1.0)
    y[torch.rand(rows, device=device, generator=generator) < 0.05] *= -1.0
    return X, y


def _gpu_fits(torch: Any, X: Any, y: Any, times: int) -> Any:
    def fit() -> Any:
        model = BBLRClassifier(device="cuda").fit(X, y)
        torch.cuda.synchronize()
        return model

    return race({"GPU": fit}, times, warm_up=True)


@benchmark(
    "gpu-large",
    "BBLRClassifier().fit, 10,000,000 x 254 float32 on a GPU, over one product with the matrix",
    Threshold("time / one product", "<=", 45.0),
)
def gpu_large(run: Run) -> Measured:
    torch = _torch()
    X, y = _on_gpu(torch, run.rows(10_000_000), 254, run.seed)
    weights = torch.ones(254, device=X.device)

    def products() -> None:
        for _ in range(20):
            X @ weights
        torch.cuda.synchronize()

    timings = _gpu_fits(torch, X, y, run.times(7))
    one = race({"products": products}, run.times(5), warm_up=True)["products"].best / 20
    note = f"one product {1e3 * one:.3g} ms; {torch.cuda.get_device_name()}"
    return as_measured(timings, {"time / one product": timings["GPU"].best / one}, note)


@benchmark(
    "gpu-small",
    "BBLRClassifier(device='cuda').fit, 3,000 x 50 float32 tensors on a GPU",
    Threshold("milliseconds", "<=", 10.0),
)
def gpu_small(run: Run) -> Measured:
    torch = _torch()
    timings = _gpu_fits(torch, *_on_gpu(torch, 3_000, 50, run.seed), run.times(25))
    note = torch.cuda.get_device_name()
    return as_measured(timings, {"milliseconds": 1e3 * timings["GPU"].best}, note)


@benchmark(
    "gpu-recorded",
    "BBLRClassifier().fit with its steps recorded as a CUDA graph, over the same without: "
    "350,000 x 254, 30,000 x 40, and ten classes of 100,000 x 100",
    Threshold("time / launched, at most", "<=", 1.0),
)
def gpu_recorded(run: Run) -> Measured:
    torch = _torch()
    from bblr._numeric import device_code

    cases = {"30,000 x 40": _on_gpu(torch, 30_000, 40, run.seed)}
    for name, made in (("350,000 x 254", linear), ("ten classes", many_classes)):
        cases[name] = tuple(torch.as_tensor(part, device="cuda") for part in made(run)[1])
    record, figures = device_code._graph, {}
    for name, (X, y) in cases.items():
        best = []
        for graph in (record, lambda *_: None):
            device_code._graph = graph
            try:
                best.append(_gpu_fits(torch, X, y, run.times(15))["GPU"].best)
            finally:
                device_code._graph = record
        figures[name] = best[0] / best[1]
    worst = {"time / launched, at most": max(figures.values())}
    return Measured(worst, [f"{figures}; {torch.cuda.get_device_name()}"], figures)


@benchmark(
    "gpu-search",
    "ZeroOneClassifier(), 350,000 x 20 on a GPU: the loss after ten seconds, against the CPU",
)
def gpu_search(run: Run) -> Measured:
    torch = _torch()
    X, y = gaussian(run.rows(350_000), 20, run.seed, flipped=0.2)
    limit = 2.0 if run.quick else 10.0
    losses = {}
    for device in ("cuda", None):
        model = ZeroOneClassifier(time_limit=limit, device=device, random_state=run.seed)
        losses[device or "NumPy"] = model.fit(X, y).zero_one_loss_
    return Measured(
        {"loss on the GPU / loss on the CPU": losses["cuda"] / losses["NumPy"]},
        [f"{losses}; {torch.cuda.get_device_name()}"],
        losses,
    )


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


@benchmark(
    "dask-overhead",
    "DaskBBLRClassifier().fit on 2 workers x 1 thread, 2 million x 50, rows on the workers, over "
    "BBLRClassifier().fit on the same two cores",
    Threshold("time / local", "<=", 1.5),
)
def overhead(run: Run) -> Measured:
    from bblr.dask import DaskBBLRClassifier

    n = run.rows(ROWS)
    with _cluster() as client:
        X, y = _dealt_out(client, n, run.seed)
        local_X, local_y = client.compute([X, y], sync=True)
        timings = race(
            {
                "2 workers": lambda: DaskBBLRClassifier(client=client).fit(X, y),
                "local": lambda: BBLRClassifier().fit(local_X, local_y),
            },
            run.times(7),
            warm_up=True,
        )
    ratio = timings["2 workers"] / timings["local"]
    apart = _apart(timings["2 workers"].result, timings["local"].result)
    note = f"{n:,} x {FEATURES}; objectives differ by {apart:.1e}"
    return as_measured(timings, {"time / local": ratio}, note)


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


@benchmark(
    "dask-partitions",
    "objective of DaskBBLRClassifier on 1, 2, 7 and 50 partitions, an empty one among them, "
    "against that of BBLRClassifier",
    Threshold("largest relative difference", "<=", 1e-8),
)
def partitions(run: Run) -> Measured:
    from bblr.dask import DaskBBLRClassifier

    n = run.rows(PARTITION_ROWS)
    local = BBLRClassifier().fit(
        _rows(0, n, FEATURES, run.seed), _labels(0, n, FEATURES, run.seed)
    )
    apart = {}
    with _cluster() as client:
        for parts in PARTITIONS:
            bounds = _bounds(n, parts, empty=parts > 1)
            X, y = _lazy(bounds, FEATURES, run.seed)
            apart[parts] = _apart(DaskBBLRClassifier(client=client).fit(X, y), local)
    shown = ", ".join(f"{parts}: {value:.1e}" for parts, value in apart.items())
    return Measured({"largest relative difference": max(apart.values())}, [shown])


@benchmark(
    "dask-killed",
    "objective of DaskBBLRClassifier with a worker killed in the middle of the fit, against that "
    "of BBLRClassifier",
    Threshold("relative difference", "<=", 1e-8),
)
def killed(run: Run) -> Measured:
    from bblr.dask import DaskBBLRClassifier
    from bblr.solvers import FisherScoring

    n = run.rows(PARTITION_ROWS)

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
        _rows(0, n, FEATURES, run.seed), _labels(0, n, FEATURES, run.seed)
    )
    with _cluster() as client:
        solver = Killing(list(client.run(os.getpid).values()))
        X, y = _lazy(_bounds(n, 8), FEATURES, run.seed)
        model = DaskBBLRClassifier(solver=solver, client=client).fit(X, y)
    apart = _apart(model, local)
    lines = [f"{n:,} x {FEATURES}, 8 partitions, 1 of 2 workers killed: {apart:.1e}"]
    return Measured({"relative difference": apart}, lines)
