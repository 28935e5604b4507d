"""Claims on the verdicts of ``bblr compare``: files of known answer, and equal methods."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from bblr.comparison.compare import Comparison
from bblr.comparison.methods import select_file_methods
from bblr.comparison.sources import load_table
from bblr.comparison.verdict.metrics import Metric, OutOfFold, auc_values
from bblr.comparison.verdict.standings import Decision, decide, judge
from bblr.comparison.verdict.wording import sentence
from research.claims import claim
from research.core.cases import Measured, Run
from research.core.thresholds import Threshold

Rng = np.random.Generator
Rows = tuple[Any, Any]
NONE, BBLR, BOOSTING = "no difference", "BBLR", "boosting"
_WRONG, _RIGHT = "wrong winners, of 20 files", "right winners, of 12 files that have one"
_KNOWN = "answers that fresh rows contradict, of 20 files"
# Points of error on fresh rows that are a difference.
_MARGIN = 1.5


_WINNERS = "false winners, % of tables, worst setting"
_MISSED = "tables with an interval that misses 0, %, worst setting"


@dataclass(frozen=True)
class Simulated:
    """A file with a known answer.

    Parameters
    ----------
    name, answer : str
        What it is, and which kind of method makes the fewest errors on fresh rows of it.
    rows, features : int
        Its size.
    make : callable
        ``make(rng, rows, features)`` draws rows and classes.
    """

    name: str
    answer: str
    rows: int
    features: int
    make: Callable[[Rng, int, int], Rows]

    def draw(self, seed: int, rows: int | None = None) -> Rows:
        """Draw rows, those of the file or fresh ones."""
        return self.make(np.random.default_rng(seed), rows or self.rows, self.features)

    def write(self, folder: Path, seed: int) -> Path:
        """Write the file as a user would bring it."""
        X, y = self.draw(seed)
        frame = pd.DataFrame(X, columns=[f"x{place + 1}" for place in range(self.features)])
        path = folder / f"{self.name.replace(' ', '-')}.csv"
        frame.assign(label=np.where(y, "yes", "no")).to_csv(path, index=False)
        return path


def _linear(rng: Rng, rows: int, features: int, steep: float = 6.0) -> tuple[Any, Any, Any]:
    X = rng.normal(size=(rows, features))
    weights = np.linspace(1.0, 0.2, features)
    scores = steep * X @ weights / np.linalg.norm(weights)
    return X, scores, scores + rng.logistic(size=rows) > 0


def linear(steep: float) -> Callable[[Rng, int, int], Rows]:
    """Logistic regression is the truth."""

    def make(rng: Rng, rows: int, features: int) -> Rows:
        X, _, y = _linear(rng, rows, features, steep)
        return X, y

    return make


def gaussians(shift: float, share: float) -> Callable[[Rng, int, int], Rows]:
    """Two normal classes of one covariance, of which logistic regression is the truth too."""

    def make(rng: Rng, rows: int, features: int) -> Rows:
        y = rng.random(rows) < share
        return rng.normal(size=(rows, features)) + shift * y[:, None], y

    return make


def far_rows(reach: float, share: float, label: float) -> Callable[[Rng, int, int], Rows]:
    """A linear truth, and rows far out in every direction that are yes in a share of ``label``."""

    def make(rng: Rng, rows: int, features: int) -> Rows:
        X, _, y = _linear(rng, rows, features)
        out = rng.random(rows) < share
        X[out] *= reach
        y[out] = rng.random(np.count_nonzero(out)) < label
        return X, y

    return make


def wrong_labels(share: float) -> Callable[[Rng, int, int], Rows]:
    """A linear truth with heavy tails, and a share of the yes labels given as no."""

    def make(rng: Rng, rows: int, features: int) -> Rows:
        X, scores, _ = _linear(rng, rows, features)
        X *= np.abs(rng.standard_t(3, size=(rows, 1))) + 0.3
        return X, (scores > 0) & (rng.random(rows) >= share)

    return make


def product(rng: Rng, rows: int, features: int) -> Rows:
    """Draw yes where two features have one sign: nothing is linear."""
    X = rng.normal(size=(rows, features))
    return X, 3 * X[:, 0] * X[:, 1] + rng.logistic(size=rows) > 0


def ring(rng: Rng, rows: int, features: int) -> Rows:
    """Draw yes outside a circle."""
    X = rng.normal(size=(rows, features))
    return X, 3 * (X[:, 0] ** 2 + X[:, 1] ** 2 - 1.4) + rng.logistic(size=rows) > 0


def steps(rng: Rng, rows: int, features: int) -> Rows:
    """Draw yes in stripes."""
    X = rng.uniform(-3, 3, size=(rows, features))
    scores = 2 * np.sign(np.sin(2 * X[:, 0])) + np.sign(np.sin(2 * X[:, 1]))
    return X, scores + 0.5 * rng.logistic(size=rows) > 0


FILES = (
    Simulated("linear", NONE, 300, 4, linear(2.0)),
    Simulated("linear wide", NONE, 600, 20, linear(3.0)),
    Simulated("linear weak", NONE, 400, 8, linear(0.5)),
    Simulated("linear sharp", NONE, 500, 6, linear(20.0)),
    Simulated("gaussians", NONE, 800, 5, gaussians(0.5, 0.5)),
    Simulated("gaussians apart", NONE, 300, 5, gaussians(1.5, 0.5)),
    Simulated("rare class", NONE, 900, 5, gaussians(0.7, 0.06)),
    Simulated("nothing to learn", NONE, 400, 6, gaussians(0.0, 0.4)),
    Simulated("far rows", BBLR, 500, 10, far_rows(20.0, 0.1, 0.5)),
    Simulated("far rows wide", BBLR, 500, 20, far_rows(20.0, 0.1, 0.5)),
    Simulated("far rows few", BBLR, 400, 15, far_rows(30.0, 0.05, 0.5)),
    Simulated("far rows of one class", BBLR, 500, 20, far_rows(10.0, 0.05, 1.0)),
    Simulated("wrong labels", BBLR, 600, 10, wrong_labels(0.2)),
    Simulated("wrong labels wide", BBLR, 600, 20, wrong_labels(0.3)),
    Simulated("product", BOOSTING, 600, 6, product),
    Simulated("product more", BOOSTING, 1_500, 6, product),
    Simulated("ring", BOOSTING, 500, 4, ring),
    Simulated("ring wide", BOOSTING, 800, 10, ring),
    Simulated("stripes", BOOSTING, 500, 8, steps),
    Simulated("stripes few", BOOSTING, 300, 4, steps),
)


def graded(decision: Decision, answer: str) -> str:
    """Say whether a decision is right, undecided or wrong."""
    name = str(decision.method)
    found = NONE
    if decision.kind == "use":
        found = BOOSTING if "HGB" in name else BBLR if "BBLR" in name else name
    if found == answer:
        return "right"
    return "undecided" if found == NONE else "wrong"


def verdict_on(file: Simulated, folder: Path, seed: int, jobs: int = 1) -> tuple[Decision, str]:
    """Compare the default methods on a file, as the command does."""
    table = load_table(str(file.write(folder, seed)))
    comparison = Comparison((table,), select_file_methods())
    records = comparison.run(folder / f"{file.name}.jsonl", jobs=jobs)
    (standing,) = judge(records, Metric())
    return standing.decision, sentence(standing)


def fresh_errors(file: Simulated, seed: int, rows: int = 20_000) -> dict[str, float]:
    """Return the errors on fresh rows, in percent, of the default methods fitted on the file."""
    (X, y), (X_new, y_new) = file.draw(seed), file.draw(seed + 1_000_003, rows)
    with threadpool_limits(1):
        return {
            m.name: 100 * float(np.mean(m.build(seed).fit(X, y).predict(X_new) != y_new))
            for m in select_file_methods()
            if not m.name.startswith("robust")
        }


def borne_out(answer: str, errors: dict[str, float]) -> bool:
    """Say whether errors on fresh rows are as the answer has it."""
    kinds = {
        NONE: errors["LR"],
        BBLR: min(errors["BBLR"], errors["BBLR0"]),
        BOOSTING: errors["HGB"],
    }
    own = kinds.pop(answer)
    if answer == NONE:
        return own <= min(kinds.values()) + _MARGIN
    return own <= min(kinds.values()) - _MARGIN


@claim(
    "verdict-files",
    "bblr compare on 20 simulated files of known answer: nothing, BBLR or boosting is better",
    Threshold(_WRONG, "<=", 0),
    Threshold(_RIGHT, ">=", 10),
    Threshold(_KNOWN, "<=", 0),
)
def verdict_files(run: Run) -> Measured:
    """Grade the verdict on each file."""
    grades, notes, contradicted = [], [], 0
    for file in FILES[::4] if run.quick else FILES:
        with tempfile.TemporaryDirectory() as folder:
            decision, said = verdict_on(file, Path(folder), run.seed, run.jobs)
        errors = fresh_errors(file, run.seed)
        contradicted += not borne_out(file.answer, errors)
        grades.append((file.answer, graded(decision, file.answer)))
        shown = ", ".join(f"{name} {error:.1f}" for name, error in errors.items())
        notes.append(
            f"{file.name} ({file.answer}): {grades[-1][1]}. {said} On fresh rows: {shown}"
        )
        run.tell(notes[-1])
    found = {
        _WRONG: sum(grade == "wrong" for _, grade in grades),
        _RIGHT: sum(grade == "right" and answer != NONE for answer, grade in grades),
        _KNOWN: contradicted,
    }
    return Measured(found, notes, {"grades": grades})


def _equals(rng: Rng, rows: int, methods: int, own: int, shared: int, share: float) -> Any:
    """Draw rows on which methods are equal: each sees features of its own of the same strength."""
    X = rng.normal(size=(rows, (methods + 1) * own + shared))
    weights = np.zeros(X.shape[1])
    weights[: (methods + 1) * own : own] = 1.0
    weights[(methods + 1) * own :] = 1.0
    scores = X @ weights + rng.logistic(size=rows)
    common = np.arange((methods + 1) * own, X.shape[1])
    blocks = [np.r_[m * own : (m + 1) * own, common] for m in range(methods + 1)]
    return X, (scores > np.quantile(scores, 1 - share)).astype(int), blocks


def _least_squares(X: Any, y: Any, X_new: Any) -> Any:
    A = np.column_stack([np.ones(len(X)), X])
    weights = np.linalg.solve(A.T @ A + 1e-3 * np.eye(A.shape[1]), A.T @ y)
    return np.column_stack([np.ones(len(X_new)), X_new]) @ weights


def _lost(X: Any, y: Any, folds: Any, metric: Metric, share: float) -> Any:
    """Return what least squares loses on each row, by cross-validation."""
    scores, auc = np.empty(len(y)), np.empty(len(y))
    for fold in np.unique(folds):
        test = folds == fold
        scores[test] = _least_squares(X[~test], y[~test], X[test])
        auc[test] = auc_values(y[test], scores[test])
    guess = (scores > (0.5 if metric.name == "error" else share)).astype(int)
    values = metric.values(OutOfFold(y, guess, None, auc))
    assert values is not None
    return -values if metric.higher else values


def _folds(rng: Rng, y: Any, n_folds: int) -> Any:
    folds = np.empty(len(y), dtype=int)
    for label in (0, 1):
        mine = rng.permutation(np.flatnonzero(y == label))
        folds[mine] = np.arange(len(mine)) % n_folds
    return folds


# Rows, features of each method's own, shared ones, share of the second class, repeats, folds.
_EQUAL = (
    (200, 3, 0, 0.5, 1, 5), (200, 30, 2, 0.5, 1, 5), (500, 10, 3, 0.5, 1, 10),
    (200, 30, 2, 0.5, 3, 5), (200, 3, 0, 0.1, 1, 5), (200, 60, 2, 0.1, 1, 5),
)  # fmt: skip


def false_winners(seed: int, tables: int, methods: int = 4) -> Iterator[tuple[str, float, float]]:
    """Yield shares of tables on which equal methods get a winner, and an interval without 0."""
    for setting in _EQUAL:
        rows, own, shared, share, repeats, n_folds = setting
        for name in ("error", "balanced", "auc"):
            rng, metric, winners, missed = np.random.default_rng(seed), Metric(name), 0, 0
            for _ in range(tables):
                X, y, blocks = _equals(rng, rows, methods, own, shared, share)
                cuts = [_folds(rng, y, n_folds) for _ in range(repeats)]
                values = {
                    "LR" if not m else f"BBLR{m}": np.mean(
                        [_lost(X[:, b], y, cut, metric, share) for cut in cuts], axis=0
                    )
                    for m, b in enumerate(blocks)
                }
                found = decide(values, n_folds)
                winners += found.kind == "use"
                missed += any(g.low > 0 or g.high < 0 for g in found.gains.values())
            yield f"{setting} {name}", winners / tables, missed / tables


@claim(
    "verdict-coverage",
    "five equal methods on made-up tables, by error, balanced accuracy and AUC",
    Threshold(_WINNERS, "<=", 5.0),
    Threshold(_MISSED, "<=", 5.0),
)
def verdict_coverage(run: Run) -> Measured:
    """Count the winners that equal methods get."""
    found, notes = [], []
    for setting, winners, missed in false_winners(run.seed, 40 if run.quick else 400):
        found.append((100 * winners, 100 * missed))
        notes.append(run.tell(f"{setting}: {100 * winners:.1f} %, {100 * missed:.1f} %"))
    worst = np.max(found, axis=0)
    return Measured({_WINNERS: float(worst[0]), _MISSED: float(worst[1])}, notes)
