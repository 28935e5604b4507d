"""This tree against an earlier one, in turns: ``python -m research.benchmarks.earlier TREE``.

TREE is a checkout of an earlier commit, for instance by ``git worktree add ../earlier COMMIT``.
Each tree answers in a process of its own; only names that users have are asked for, so that trees
of very different insides can be compared. With every setting fixed, the model is the same in both:
then objectives and decisions are compared as well.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["compare", "main"]

# What both processes run. It must not use anything that one of the trees lacks.
WORKER = """
import json, sys, time, warnings
import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
import bblr

def rows(n, d, seed=0, flipped=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ np.diag(np.linspace(0.5, 2, d)) + rng.normal(size=(n, 1))
    y = (X @ rng.normal(size=d) > 0).astype(int)
    return X, np.where(rng.random(n) < flipped, 1 - y, y)

def words(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, 60 / d, format="csr", random_state=seed)
    y = (X @ rng.normal(size=d) + 0.1 * rng.normal(size=n) > 0).astype(int)
    return X, y

def digits():
    return load_digits(return_X_y=True)

def model(name, **settings):
    return getattr(bblr, name)(**settings)

def linear(**settings):
    fixed = dict(prior="mild", l2=1.0, leverage=3.0, gamma_max=4.0)
    return model("BBLRClassifier", **{**fixed, **settings})

def kernel(**settings):
    return model("KernelBBLRClassifier", random_state=0, **settings)

CASES = {
    "linear 300 x 13": (linear, rows, (300, 13)),
    "linear 3,000 x 50": (linear, rows, (3000, 50)),
    "linear 50,000 x 20": (linear, rows, (50_000, 20)),
    "linear 200,000 x 100": (linear, rows, (200_000, 100)),
    "linear 5,000 x 1,024": (linear, rows, (5000, 1024)),
    "linear L-BFGS 20,000 x 100": (lambda: linear(solver="lbfgs"), rows, (20_000, 100)),
    "linear sparse 20,000 x 2,000": (linear, words, (20_000, 2000)),
    "linear sparse 5,000 x 20,000": (linear, words, (5000, 20_000)),
    "linear digits": (linear, digits, ()),
    "default 300 x 13": (lambda: model("BBLRClassifier"), rows, (300, 13)),
    "default 50,000 x 20": (lambda: model("BBLRClassifier"), rows, (50_000, 20)),
    "default digits": (lambda: model("BBLRClassifier"), digits, ()),
    "CV 300 x 13": (lambda: model("BBLRClassifierCV", random_state=0), rows, (300, 13)),
    "kernel 500 x 5": (kernel, rows, (500, 5)),
    "kernel 2,000 x 5": (kernel, rows, (2000, 5)),
    "kernel backward 1,000 x 5": (lambda: kernel(sparsity="backward"), rows, (1000, 5)),
    "SLA 500 x 8": (lambda: model("SLAClassifier"), rows, (500, 8)),
    "zero-one proof 60 x 3": (lambda: model("ZeroOneClassifier", solver="mip"), rows, (60, 3)),
}
if len(sys.argv) > 2:
    print(json.dumps(list(CASES)))
    sys.exit()
data = {}
for line in sys.stdin:
    name = json.loads(line)
    make, source, shape = CASES[name]
    if name not in data:
        data.clear()
        data[name] = source(*shape)
        make().fit(*data[name])
    X, y = data[name]
    started = time.perf_counter()
    fitted = make().fit(X, y)
    fit = time.perf_counter() - started
    started = time.perf_counter()
    decision = fitted.decision_function(X)
    predict = time.perf_counter() - started
    path = getattr(fitted, "path_", None)
    value = float(path[-1].value) if path and name.startswith("linear") else None
    found = decision[: 5000].round(14).ravel().tolist() if value is not None else None
    wrong = float((fitted.predict(X) != y).mean())
    print(json.dumps([fit, predict, value, wrong, found]), flush=True)
"""


def _run(tree: Path, *arguments: str, **settings: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-c", WORKER, str(tree / "src"), *arguments]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )


def _cases() -> list[str]:
    listing = _run(Path(__file__).parents[2], "list").communicate()[0]
    found: list[str] = json.loads(listing)
    return found


def _asked(process: subprocess.Popen[str], name: str) -> list[Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(name) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise RuntimeError(f"{name!r} failed: see the message above")
    found: list[Any] = json.loads(answer)
    return found


def compare(earlier: Path, names: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    """Return, case by case, the times of both trees and how far their models are apart."""
    import numpy as np

    trees = [_run(earlier), _run(Path(__file__).parents[2])]
    out = []
    try:
        for name in names:
            runs: list[list[Any]] = [[], []]
            for k in range(rounds):
                for which in (0, 1) if k % 2 == 0 else (1, 0):
                    runs[which].append(_asked(trees[which], name))
            before, now = (min(run[0] for run in each) for each in runs)
            row: dict[str, Any] = {"case": name, "before": before, "now": now}
            row["predict"] = min(r[1] for r in runs[1]) / min(r[1] for r in runs[0])
            row["errors"] = [each[0][3] for each in runs]
            old, new = (each[0] for each in runs)
            if old[2] is not None and new[2] is not None:
                row["objective"] = new[2] / old[2] - 1.0
                a, b = (np.array(each[4]) for each in (old, new))
                row["decisions"] = float(np.abs(a - b).max() / np.abs(a).max())
            out.append(row)
            print(shown(row), flush=True)
    finally:
        for process in trees:
            process.terminate()
            process.communicate()
    return out


def shown(row: dict[str, Any]) -> str:
    """Return a row as a line."""
    gaps = ""
    if "objective" in row:
        gaps = f", objective {row['objective']:+.0e}, decisions apart by {row['decisions']:.0e}"
    errors = " -> ".join(f"{100 * share:.2f} %" for share in row["errors"])
    return (
        f"{row['case']:<30} {1000 * row['before']:>9.1f} -> {1000 * row['now']:>9.1f} ms "
        f"= {row['now'] / row['before']:.2f}; scores {row['predict']:.2f}; errors {errors}{gaps}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the chosen cases; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m research.benchmarks.earlier",
        description="Time this tree against an earlier one, and compare their models.",
    )
    parser.add_argument("tree", type=Path, help="a checkout of the earlier commit")
    parser.add_argument("names", nargs="*", metavar="WORD", help="cases with one of these words")
    parser.add_argument("--rounds", type=int, default=7, help="fits of each (default: 7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures into this")
    chosen = parser.parse_args(arguments)
    if not (chosen.tree / "src" / "bblr").is_dir():
        parser.error(f"{chosen.tree} is no checkout: it has no src/bblr")
    picked = [n for n in _cases() if not chosen.names or any(w in n for w in chosen.names)]
    if not picked:
        parser.error(f"no case has {chosen.names} in its name")
    rows = compare(chosen.tree, picked, chosen.rounds)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
