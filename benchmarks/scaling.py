"""How memory and time grow with the data."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from bblr import BBLRClassifier
from benchmarks.cases import Bar, Measured, Settings, case
from benchmarks.data import gaussian
from benchmarks.processes import run_python
from benchmarks.timing import race, seconds

MEMORY_ROWS, MEMORY_FEATURES = 200_000, 254
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
GROWTH_FEATURES = 20

# In a process of its own: the peak is that of a process. Linux counts it for the running program
# (VmHWM) and can set it back; ru_maxrss would hold what the process was started from.
MEMORY_SCRIPT = """
import json, resource, sys
from benchmarks.data import gaussian

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

module, name, rows, features, seed = sys.argv[1:]
estimator = getattr(__import__(module, fromlist=[name]), name)
tiny = gaussian(200, 3, 1)
estimator().fit(*tiny)
X, y = gaussian(int(rows), int(features), int(seed))
before = baseline()
estimator().fit(X, y)
print(json.dumps({"X": X.nbytes, "extra": peak() - before}))
"""


def _peak(module: str, name: str, settings: Settings) -> float:
    """Peak memory of a fit, X included, over the size of X."""
    rows = settings.rows(MEMORY_ROWS)
    printed = run_python(MEMORY_SCRIPT, module, name, rows, MEMORY_FEATURES, settings.seed)
    answer: dict[str, Any] = json.loads(printed)
    return 1.0 + float(answer["extra"]) / float(answer["X"])


@case(
    "memory",
    "peak resident memory of BBLRClassifier().fit, X included, over the size of a dense X",
    Bar("peak memory / X", "<=", 1.3),
)
def memory(settings: Settings) -> Measured:
    peaks = {
        "BBLR": _peak("bblr", "BBLRClassifier", settings),
        "LogisticRegression": _peak("sklearn.linear_model", "LogisticRegression", settings),
    }
    shape = f"{settings.rows(MEMORY_ROWS):,} x {MEMORY_FEATURES} float64"
    shown = ", ".join(f"{name} {ratio:.3f}" for name, ratio in peaks.items())
    return Measured({"peak memory / X": peaks["BBLR"]}, [f"{shape}: {shown}"], peaks)


@case(
    "growth",
    "log-log slope of the time of BBLRClassifier().fit against n = 10^4 ... 10^6, 20 features",
    Bar("slope of log time by log n", "<=", 1.1),
)
def growth(settings: Settings) -> Measured:
    sizes = SIZES[:3] if settings.quick else SIZES
    X, y = gaussian(sizes[-1], GROWTH_FEATURES, settings.seed)
    fits = {f"{n:,}": lambda n=n: BBLRClassifier().fit(X[:n], y[:n]) for n in sizes}
    timings = race(fits, settings.repeats(7), warm_up=True)
    best = [timing.best for timing in timings.values()]
    slope = float(np.polyfit(np.log(sizes), np.log(best), 1)[0])
    shown = ", ".join(f"{n} {1000 * s:.3g} ms" for n, s in zip(timings, best, strict=True))
    return Measured(
        {"slope of log time by log n": slope}, [shown], {"seconds": seconds(timings)}
    )
