"""How memory grows with the data."""

from __future__ import annotations

import json
from typing import Any

from research.benchmarks.cases import Bar, Measured, Settings, case
from research.benchmarks.processes import run_python

MEMORY_ROWS, MEMORY_FEATURES = 200_000, 254
SPARSE_SHAPE = (200_000, 20_000, 100)

# In a process of its own: the peak is that of a process. Linux counts it for the running program
# (VmHWM) and can set it back; ru_maxrss would hold what the process was started from.
RESIDENT = """
import json, resource, sys
from research.benchmarks.data import gaussian
from research.benchmarks.made import indicators

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


@case(
    "memory",
    "peak resident memory of BBLRClassifier().fit, X included, over the size of a dense X",
    Bar("peak memory / X", "<=", 1.3),
)
def memory(settings: Settings) -> Measured:
    rows = settings.rows(MEMORY_ROWS)
    peaks = _peaks("gaussian", rows, MEMORY_FEATURES, settings.seed)
    shown = ", ".join(f"{name} {ratio:.3f}" for name, ratio in peaks.items())
    shape = f"{rows:,} x {MEMORY_FEATURES} float64"
    return Measured({"peak memory / X": peaks["BBLR"]}, [f"{shape}: {shown}"], peaks)


@case("memory-csr", "peak resident memory of a fit, X included, over the size of a sparse X")
def memory_csr(settings: Settings) -> Measured:
    rows, features, entries = settings.rows(SPARSE_SHAPE[0]), *SPARSE_SHAPE[1:]
    peaks = _peaks("indicators", rows, features, entries, settings.seed)
    shape = f"{rows:,} x {features:,}, at most {entries} entries a row"
    figures = {f"{name}: peak memory / X": ratio for name, ratio in peaks.items()}
    return Measured(figures, [shape], peaks)
