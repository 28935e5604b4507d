"""What a first fit costs in a fresh process."""

from __future__ import annotations

from benchmarks.cases import Bar, Measured, Settings, case
from benchmarks.processes import run_python
from benchmarks.timing import race, seconds, show

MAKE_DATA = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
y = X[:, 0] > rng.normal(size=2000)
"""
SPARSE = "import scipy.sparse as sp\nX = sp.csr_matrix(np.maximum(X - 1, 0))\n"
MINE = "from bblr import BBLRClassifier\nBBLRClassifier().fit(X, y)\n"
THEIRS = "from sklearn.linear_model import LogisticRegression\nLogisticRegression().fit(X, y)\n"


@case(
    "first-fit",
    "a first fit in a fresh process, warm numba cache, beyond that of LogisticRegression",
    Bar("seconds beyond LogisticRegression, dense", "<=", 0.5),
    Bar("seconds beyond LogisticRegression, sparse", "<=", 0.5),
)
def first_fit(settings: Settings) -> Measured:
    scripts = {
        "BBLR": MAKE_DATA + MINE,
        "LR": MAKE_DATA + THEIRS,
        "BBLR sparse": MAKE_DATA + SPARSE + MINE,
        "LR sparse": MAKE_DATA + SPARSE + THEIRS,
    }
    runs = {name: lambda code=code: run_python(code) for name, code in scripts.items()}
    timings = race(runs, settings.repeats(7), warm_up=True)
    best = {name: timing.best for name, timing in timings.items()}
    return Measured(
        {
            "seconds beyond LogisticRegression, dense": best["BBLR"] - best["LR"],
            "seconds beyond LogisticRegression, sparse": best["BBLR sparse"] - best["LR sparse"],
        },
        [show(timings)],
        {"seconds": seconds(timings)},
    )
