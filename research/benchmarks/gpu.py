"""Fits on a GPU beside the same fits on two cores of the CPU."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from bblr import BBLRClassifier, KernelBBLRClassifier, ZeroOneClassifier
from research.benchmarks.cases import Bar, Measured, Settings, Unavailable, case
from research.benchmarks.data import gaussian
from research.benchmarks.processes import run_python
from research.benchmarks.timing import race, seconds, show

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
from research.benchmarks.cases import Settings
from research.benchmarks import gpu
settings = Settings(**json.loads(sys.argv[1]))
work, data = getattr(gpu, sys.argv[2])(settings)
gpu.warm_up(work, data)
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


def linear(settings: Settings) -> tuple[Callable[[], Any], tuple[Any, Any]]:
    rows, features = settings.rows(SHAPE[0]), SHAPE[1]
    return BBLRClassifier, gaussian(rows, features, settings.seed, dtype=np.float32)


def many_classes(settings: Settings) -> tuple[Callable[[], Any], tuple[Any, Any]]:
    rng = np.random.default_rng(settings.seed)
    X = rng.standard_normal((settings.rows(100_000), 100), dtype=np.float32)
    y = np.argmax(X @ rng.standard_normal((100, 10)) + rng.gumbel(size=(len(X), 10)), axis=1)
    return BBLRClassifier, (X, y)


def kernel(settings: Settings) -> tuple[Callable[[], Any], tuple[Any, Any]]:
    rows, centres = settings.rows(KERNEL_ROWS), max(50, settings.rows(CENTRES))
    X, _ = gaussian(rows, KERNEL_FEATURES, settings.seed)
    noise = np.random.default_rng(settings.seed + 1).normal(size=rows)
    y = np.where((X**2).sum(axis=1) + 2.0 * noise > KERNEL_FEATURES, 1.0, -1.0)

    def make(**where: Any) -> Any:
        # The features take 2 GB: as much room as the GPU gives them.
        return KernelBBLRClassifier(
            max_centers=centres, cache_size=4000, random_state=settings.seed, **where
        )

    return make, (X, y)


def _race(settings: Settings, name: str, repeats: int) -> Measured:
    torch = _torch()
    if not hasattr(os, "sched_setaffinity"):
        raise Unavailable("this system cannot keep a process to two cores")
    make, (X, y) = globals()[name](settings)
    plain = json.dumps({"quick": settings.quick, "seed": settings.seed})
    times = settings.repeats(repeats)
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
    return Measured(
        {"time of two CPU cores / GPU": best / ours},
        [f"{show(timings)}, two cores {best:.3g} s; objectives differ by {gap:.1e}; {where}"],
        {"seconds": {**seconds(timings), "two cores": cpu["seconds"]}, "gpu": where, "gap": gap},
    )


@case(
    "gpu-fit",
    "BBLRClassifier().fit, 350,000 x 254 float32 on a GPU, against two cores of its machine",
    Bar("time of two CPU cores / GPU", ">=", 30.0),
)
def gpu_fit(settings: Settings) -> Measured:
    return _race(settings, "linear", 9)


@case(
    "gpu-kernel",
    "KernelBBLRClassifier, 50,000 rows, 5,000 centres on a GPU, against two cores of its machine",
    Bar("time of two CPU cores / GPU", ">=", 30.0),
)
def gpu_kernel(settings: Settings) -> Measured:
    return _race(settings, "kernel", 1)


@case(
    "gpu-classes",
    "BBLRClassifier().fit, ten classes, 100,000 x 100 float32 on a GPU, against two cores",
)
def gpu_classes(settings: Settings) -> Measured:
    return _race(settings, "many_classes", 5)


@case(
    "gpu-search",
    "ZeroOneClassifier(), 350,000 x 20 on a GPU: the loss after ten seconds, against the CPU",
)
def gpu_search(settings: Settings) -> Measured:
    torch = _torch()
    X, y = gaussian(settings.rows(350_000), 20, settings.seed, flipped=0.2)
    limit = 2.0 if settings.quick else 10.0
    losses = {}
    for device in ("cuda", None):
        model = ZeroOneClassifier(time_limit=limit, device=device, random_state=settings.seed)
        losses[device or "NumPy"] = model.fit(X, y).zero_one_loss_
    return Measured(
        {"loss on the GPU / loss on the CPU": losses["cuda"] / losses["NumPy"]},
        [f"{losses}; {torch.cuda.get_device_name()}"],
        losses,
    )
