"""Claims about the zero-one loss itself: what is found and proved, and how fast."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any

from bblr.comparison.sources import load_table
from bblr.datasets import UCI_NAMES
from research.claims import claim
from research.claims.held_out import load
from research.core.cases import Measured, Run
from research.core.thresholds import Threshold
from research.studies.zero_one import Solve

__all__ = ["PUBLISHED"]

SEEDS = (0, 1, 2, 3, 4)
SEARCH_SECONDS = 10.0
SEARCH_LIMITS = {"breast": 11, "heart": 24, "liver": 82, "pima": 148}
# Training losses of Nguyen and Sanner (2013); their Breast has the patient's number as a feature.
PUBLISHED = {
    "sla": {"breast": 13, "heart": 27, "liver": 89, "pima": 156},
    "csa": {"breast": 13, "heart": 31, "liver": 91, "pima": 157},
    "pcs": {"breast": 19, "heart": 33, "liver": 91, "pima": 159},
    "bnb": {"breast": 10, "heart": 25, "liver": 95, "pima": 161},
}
PUBLISHED_SECONDS = 300.0
PROOF_SECONDS = 300.0
WEB8_SECONDS = 60.0
_START = "the BBLR fit it starts from"


def _solved(run: Run, solvers: Iterable[str], seconds: float, seeds: Iterable[int]) -> Any:
    """Solve the embedded sets, one at a time: the runs are timed."""
    tables = [load_table(name) for name in UCI_NAMES]
    tasks = [
        Solve.of(table, solver, time_limit=seconds, seed=seed)
        for solver, table, seed in product(solvers, tables, seeds)
    ]
    return replace(run, jobs=1).frame(tasks)


def _measured(figures: dict[str, float], found: Any) -> Measured:
    notes = [
        f"{r.method} on {r.data}, seed {r.seed}: loss {r.loss:g}, bound {r.lower_bound:g} in "
        f"{r.seconds:.1f} s, {r.reason}"
        for r in found.itertuples()
    ]
    kept = ["method", "data", "seed", "loss", "lower_bound", "seconds", "reason"]
    return Measured(figures, notes, {"runs": found[kept].to_dict("records")})


def _largest(name: str) -> str:
    return f"{name}: largest loss over five seeds"


def _above(solver: str, name: str) -> str:
    return f"{solver} on {name}, loss above the published"


@claim(
    "zero-one-search",
    "ZeroOneClassifier(), training loss of the embedded sets, five seeds, 10 s each",
    *(Threshold(_largest(name), "<=", limit) for name, limit in SEARCH_LIMITS.items()),
    Threshold("longest run, seconds", "<=", SEARCH_SECONDS),
)
def _search(run: Run) -> Measured:
    found = _solved(run, ["search"], SEARCH_SECONDS, SEEDS)
    losses = found.groupby("data")["loss"].max()
    figures = {_largest(name): loss for name, loss in losses.items()}
    return _measured({**figures, "longest run, seconds": found["seconds"].max()}, found)


@claim(
    "zero-one-published",
    "SLA, CSA, PCS and BnB on the embedded sets, 300 s each at most, against the article",
    *(
        Threshold(_above(solver, name), "<=", 0)
        for solver, losses in PUBLISHED.items()
        for name in losses
    ),
)
def _published(run: Run) -> Measured:
    found = _solved(run, PUBLISHED, PUBLISHED_SECONDS, [run.seed])
    figures = {
        _above(r.method, r.data): r.loss - PUBLISHED[r.method][r.data] for r in found.itertuples()
    }
    return _measured(figures, found)


@claim(
    "zero-one-proof",
    "ZeroOneClassifier('mip'): Breast and Liver proved optimal; bounds of the others after 300 s",
    Threshold("breast: gap", "<=", 0),
    Threshold("liver: gap", "<=", 0),
    Threshold("heart: bound", ">=", 24),
    Threshold("pima: bound", ">=", 100),
    Threshold("breast: seconds to the proof", "<=", 120),
)
def _proof(run: Run) -> Measured:
    found = _solved(run, ["mip"], PROOF_SECONDS, [run.seed])
    found = found.set_index("data", drop=False)
    figures = {
        **{f"{name}: gap": found.loc[name, "gap"] for name in ("breast", "liver")},
        **{f"{name}: bound": found.loc[name, "lower_bound"] for name in ("heart", "pima")},
        "breast: seconds to the proof": found.loc["breast", "seconds"],
    }
    return _measured(figures, found)


@claim(
    "zero-one-web8",
    "ZeroOneClassifier() on web8's training rows in 60 s, against its start, LR and SVM",
    *(Threshold(f"training errors / {name}", "<", 1.0) for name in (_START, "LR", "SVM")),
)
def _web8(run: Run) -> Measured:
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    from bblr import ZeroOneClassifier

    table: Any = load("web8")
    train = np.delete(np.arange(len(table.y)), table.test)
    X, y = table.X[train], table.y[train]
    started = time.perf_counter()
    model = ZeroOneClassifier(time_limit=WEB8_SECONDS, random_state=run.seed).fit(X, y)
    seconds = time.perf_counter() - started
    errors = {
        _START: model.trace_[0].loss,
        "LR": float(np.sum(LogisticRegression(max_iter=1000).fit(X, y).predict(X) != y)),
        "SVM": float(np.sum(LinearSVC(dual="auto").fit(X, y).predict(X) != y)),
    }
    mine = model.zero_one_loss_
    shown = ", ".join(f"{name} {count:g}" for name, count in errors.items())
    return Measured(
        {f"training errors / {name}": mine / count for name, count in errors.items()},
        [f"search {mine:g} errors in {seconds:.1f} s; {shown}"],
        {"errors": {"search": mine, **errors}, "seconds": seconds},
    )
