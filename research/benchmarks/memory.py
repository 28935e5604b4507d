"""How much memory a fit takes: of rows in memory, dense and sparse, and of rows on disk."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from research.benchmarks import benchmark
from research.benchmarks.data import gaussian
from research.benchmarks.timing import run_python
from research.core.cases import Measured, Run
from research.core.thresholds import Threshold

MEMORY_ROWS, MEMORY_FEATURES = 200_000, 254
SPARSE_SHAPE = (200_000, 20_000, 100)

# In a process of its own: the peak is that of a process. Linux counts it for the running program
# (VmHWM) and can set it back; ru_maxrss would hold what the process was started from.
RESIDENT = """
import json, resource, sys
from research.benchmarks.data import gaussian, indicators


def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))

def peak():
    try:
        return status("VmHWM")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

def baseline():
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return status("VmRSS")
    except OSError:
        return peak()
"""
MEMORY_SCRIPT = (
    RESIDENT
    + """
def size(X):
    return sum(part.nbytes for part in ((X.data, X.indices, X.indptr) if sparse else (X,)))

module, name, maker, *shape = sys.argv[1:]
sparse = maker == "indicators"
make = indicators if sparse else gaussian
estimator = getattr(__import__(module, fromlist=[name]), name)
# The rest of the shape is the seed alone, or the entries of a row and the seed.
tiny = make(200, 3, *map(int, shape[2:]))
estimator().fit(*tiny)
X, y = make(*map(int, shape))
before = baseline()
estimator().fit(X, y)
print(json.dumps({"X": size(X), "extra": peak() - before}))
"""
)


def _peak(module: str, name: str, maker: str, *shape: int) -> float:
    """Peak memory of a fit, X included, over the size of X."""
    answer: dict[str, Any] = json.loads(run_python(MEMORY_SCRIPT, module, name, maker, *shape))
    return 1.0 + float(answer["extra"]) / float(answer["X"])


def _peaks(maker: str, *shape: int) -> dict[str, float]:
    return {
        "BBLR": _peak("bblr", "BBLRClassifier", maker, *shape),
        "LogisticRegression": _peak("sklearn.linear_model", "LogisticRegression", maker, *shape),
    }


@benchmark(
    "memory",
    "peak resident memory of BBLRClassifier().fit, X included, over the size of a dense X",
    Threshold("peak memory / X", "<=", 1.3),
)
def memory(run: Run) -> Measured:
    rows = run.rows(MEMORY_ROWS)
    peaks = _peaks("gaussian", rows, MEMORY_FEATURES, run.seed)
    shown = ", ".join(f"{name} {ratio:.3f}" for name, ratio in peaks.items())
    shape = f"{rows:,} x {MEMORY_FEATURES} float64"
    return Measured({"peak memory / X": peaks["BBLR"]}, [f"{shape}: {shown}"], peaks)


@benchmark("memory-csr", "peak resident memory of a fit, X included, over the size of a sparse X")
def memory_csr(run: Run) -> Measured:
    rows, features, entries = run.rows(SPARSE_SHAPE[0]), *SPARSE_SHAPE[1:]
    peaks = _peaks("indicators", rows, features, entries, run.seed)
    shape = f"{rows:,} x {features:,}, at most {entries} entries a row"
    figures = {f"{name}: peak memory / X": ratio for name, ratio in peaks.items()}
    return Measured(figures, [shape], peaks)


ROWS, FEATURES, FILES = 300_000, 254, 4
# A fit may add a third of the size of its rows to what the process had before.
SHARE = 1 / 3

FIT_SCRIPT = (
    RESIDENT
    + """
import time
import numpy as np
from bblr import BBLRClassifier
from bblr.inputs import disk

folder, kind, repeats = sys.argv[1:]
disk.LEAST_BYTES = np.inf if kind == "memory" else 0
BBLRClassifier().fit(*gaussian(2000, 3, 1))
y = np.load(folder + "/y.npy")
X = folder + "/X" if kind == "shards" else np.load(folder + "/X.npy", mmap_mode="r")
if kind == "memory":
    X = np.array(X)
before, seconds = baseline(), []
for _ in range(int(repeats)):
    started = time.perf_counter()
    model = BBLRClassifier().fit(X, y)
    seconds.append(time.perf_counter() - started)
answer = {"extra": peak() - before, "seconds": seconds, "objective": model.path_[-1].value}
print(json.dumps(answer))
"""
)

READ_SCRIPT = """
import sys, time
buffer = bytearray(2**25)
with open(sys.argv[1], "rb", buffering=0) as file:
    started, size = time.perf_counter(), 0
    while read := file.readinto(buffer):
        size += read
print(size / (time.perf_counter() - started))
"""

PASS_SCRIPT = """
import sys, time
import numpy as np
from bblr.designs import Shards, StreamedDesign
from bblr.losses import BetaBernoulli

design = StreamedDesign(Shards(sys.argv[1]))
y, coef, best = np.ones(design.n_rows), np.zeros((1, design.n_features)), np.inf
for _ in range(5):
    started = time.perf_counter()
    design.value_gradient(coef, np.zeros(1), y, y, BetaBernoulli.binary(0.2, 0.6))
    best = min(best, time.perf_counter() - started)
print(8 * design.n_rows * design.n_features / best)
"""


@benchmark(
    "out-of-core",
    "BBLRClassifier().fit of rows on disk: resident memory against a third of their size, and "
    "time against the same rows in memory",
    Threshold("peak / allowed, memory map", "<=", 1.0),
    Threshold("peak / allowed, shards", "<=", 1.0),
    Threshold("time / in memory, memory map", "<=", 2.0),
)
def out_of_core(run: Run) -> Measured:
    rows = run.rows(ROWS)
    allowed = SHARE * 8 * rows * FEATURES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, rows, run.seed)
        fits = {kind: _fit(folder, kind, run) for kind in ("memory", "map", "shards")}
        read = max(float(run_python(READ_SCRIPT, folder / "X.npy")) for _ in range(3))
        streamed = float(run_python(PASS_SCRIPT, folder / "X.npy"))
    best = {kind: min(fit["seconds"]) for kind, fit in fits.items()}
    values = [fit["objective"] for fit in fits.values()]
    each = [f"{k} +{fit['extra'] / 1e6:.0f} MB {best[k]:.2f} s" for k, fit in fits.items()]
    shown = [
        f"{8 * rows * FEATURES / 1e6:.0f} MB, a third allowed: {', '.join(each)}",
        f"one pass over the map {streamed / 1e9:.1f} GB/s, a bare read {read / 1e9:.1f} GB/s; "
        f"objectives differ by {np.ptp(values) / values[0]:.1e} of their size",
    ]
    figures = {
        "peak / allowed, memory map": fits["map"]["extra"] / allowed,
        "peak / allowed, shards": fits["shards"]["extra"] / allowed,
        "time / in memory, memory map": best["map"] / best["memory"],
    }
    return Measured(figures, shown, {"fits": fits, "pass": streamed, "read": read})


def _fit(folder: Path, kind: str, run: Run) -> dict[str, Any]:
    return json.loads(run_python(FIT_SCRIPT, folder, kind, run.times(3)))


def _write(folder: Path, rows: int, seed: int) -> None:
    X, y = gaussian(rows, FEATURES, seed)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    (folder / "X").mkdir()
    for k, part in enumerate(np.array_split(X, FILES)):
        np.save(folder / "X" / f"{k}.npy", part)
