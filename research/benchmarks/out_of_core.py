"""Rows on disk: how much memory a fit of them takes, and how much longer it takes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from research.benchmarks.cases import Bar, Measured, Settings, case
from research.benchmarks.data import gaussian
from research.benchmarks.processes import run_python
from research.benchmarks.scaling import RESIDENT

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
y, coef, best = np.ones(design.n_rows), np.zeros(design.n_features), np.inf
for _ in range(5):
    started = time.perf_counter()
    design.value_gradient(coef, 0.0, y, y, BetaBernoulli.binary(0.2, 0.6))
    best = min(best, time.perf_counter() - started)
print(8 * design.n_rows * design.n_features / best)
"""


@case(
    "out-of-core",
    "BBLRClassifier().fit of rows on disk: resident memory beside a third of their size, and time "
    "beside the same rows in memory",
    Bar("peak / allowed, memory map", "<=", 1.0),
    Bar("peak / allowed, shards", "<=", 1.0),
    Bar("time / in memory, memory map", "<=", 2.0),
)
def out_of_core(settings: Settings) -> Measured:
    rows = settings.rows(ROWS)
    allowed = SHARE * 8 * rows * FEATURES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, rows, settings.seed)
        fits = {kind: _fit(folder, kind, settings) for kind in ("memory", "map", "shards")}
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


def _fit(folder: Path, kind: str, settings: Settings) -> dict[str, Any]:
    return json.loads(run_python(FIT_SCRIPT, folder, kind, settings.repeats(3)))


def _write(folder: Path, rows: int, seed: int) -> None:
    X, y = gaussian(rows, FEATURES, seed)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    (folder / "X").mkdir()
    for k, part in enumerate(np.array_split(X, FILES)):
        np.save(folder / "X" / f"{k}.npy", part)
