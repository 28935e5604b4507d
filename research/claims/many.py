"""Claims about many classes: errors, log-loss and calibration beside tuned logistic regression."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from bblr.comparison.methods import select_methods
from bblr.evaluation import add_noise, expected_calibration_error, mcnemar, pooled_mcnemar
from bblr.evaluation.mcnemar import McNemarResult
from research.claims.base import Claim, ClaimRun
from research.core.targets import Bar, Measured

__all__ = ["MANY_CLAIMS"]

DATA = ("iris", "wine", "digits")
RIVAL, OWN = "LR", "BBLR"
FOLDS = 5
CLEAN = "clean"
NOISES = {
    "10 % flipped labels": ("label-flip", 0.1),
    "20 % flipped labels": ("label-flip", 0.2),
    "10 % outlier rows": ("uniform-random", 0.1),
}
_SMALLEST = 1e-15


class Scores(NamedTuple):
    """What a method made of the test parts."""

    errors: float
    log_loss: float
    calibration: float


class Cell(NamedTuple):
    """One data set under one noise in one division: both methods on the same test rows."""

    data: str
    noise: str
    rival: Scores
    own: Scores
    test: McNemarResult
    n: int


def load(name: str) -> tuple[Any, Any]:
    """Return one of scikit-learn's own sets."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y


def measure(name: str, noise: str, fold: int, seed: int) -> Cell:
    """Fit both methods on a noisy training part and score them on the clean test part."""
    from sklearn.model_selection import StratifiedKFold

    X, y = load(name)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    train, test = list(folds.split(X, y))[fold]
    X_train, y_train = X[train], y[train]
    if noise != CLEAN:
        protocol, fraction = NOISES[noise]
        X_train, y_train = add_noise(
            X_train, y_train, protocol=protocol, fraction=fraction, random_state=seed
        )
    predicted, scores = {}, {}
    for method in select_methods((RIVAL, OWN)):
        model: Any = method.build(seed).fit(X_train, y_train)
        probability = model.predict_proba(X[test])
        predicted[method.name] = model.predict(X[test])
        own = np.maximum(probability[np.arange(len(test)), y[test]], _SMALLEST)
        scores[method.name] = Scores(
            float(np.sum(predicted[method.name] != y[test])),
            float(-np.log(own).mean()),
            expected_calibration_error(y[test], probability, labels=np.unique(y)),
        )
    found = mcnemar(y[test], predicted[OWN], predicted[RIVAL])
    return Cell(name, noise, scores[RIVAL], scores[OWN], found, len(test))


def _totals(cells: list[Cell], repeats: int) -> tuple[Scores, Scores]:
    """Errors of a repeat, and log-loss and calibration error as means over data sets."""
    totals = []
    for who in ("rival", "own"):
        found: list[Scores] = [getattr(cell, who) for cell in cells]
        means = [
            [np.mean([s[k] for s, c in zip(found, cells, strict=True) if c.data == name])
             for name in dict.fromkeys(c.data for c in cells)]
            for k in (1, 2)
        ]  # fmt: skip
        errors = sum(s.errors for s in found) / repeats
        totals.append(Scores(errors, float(np.mean(means[0])), float(np.mean(means[1]))))
    return totals[0], totals[1]


def _line(label: str, cells: list[Cell], repeats: int) -> str:
    rival, own = _totals(cells, repeats)
    z = pooled_mcnemar([cell.test for cell in cells]).z
    return (
        f"{label:32} errors {rival.errors:7.1f} {own.errors:7.1f}  z {z:+5.1f}   "
        f"log-loss {rival.log_loss:.3f} {own.log_loss:.3f}   "
        f"calibration {rival.calibration:.3f} {own.calibration:.3f}"
    )


def _work(run: ClaimRun) -> Measured:
    tasks = [
        (name, noise, fold, run.seed + repeat)
        for name in DATA
        for noise in (CLEAN, *NOISES)
        for repeat in range(run.repeats)
        for fold in range(FOLDS)
    ]
    # The long ones first.
    tasks.sort(key=lambda task: -DATA.index(task[0]))
    cells: list[Cell] = Parallel(n_jobs=run.jobs)(delayed(measure)(*task) for task in tasks)
    notes = [f"{'':32} (each: {RIVAL}, then {OWN})"]
    for noise in (CLEAN, *NOISES):
        for name in DATA:
            some = [c for c in cells if (c.data, c.noise) == (name, noise)]
            notes.append(_line(f"{name}, {noise}", some, run.repeats))
    clean = [cell for cell in cells if cell.noise == CLEAN]
    noisy = [cell for cell in cells if cell.noise != CLEAN]
    notes += [_line("all, clean", clean, run.repeats), _line("all, noisy", noisy, run.repeats)]
    (rival, own), (rival_noisy, own_noisy) = (_totals(c, run.repeats) for c in (clean, noisy))
    figures = {
        _CLEAN_ERRORS: own.errors / max(rival.errors, 1.0),
        _NOISY_ERRORS: own_noisy.errors / max(rival_noisy.errors, 1.0),
        _NOISY_Z: pooled_mcnemar([cell.test for cell in noisy]).z,
        _LOG_LOSS: own_noisy.log_loss / rival_noisy.log_loss,
        _CALIBRATION: own_noisy.calibration / rival_noisy.calibration,
    }
    return Measured(figures, notes, {"cells": [_record(cell) for cell in cells]})


def _record(cell: Cell) -> dict[str, Any]:
    return {
        **cell._asdict(),
        "rival": cell.rival._asdict(),
        "own": cell.own._asdict(),
        "test": [cell.test.n01, cell.test.n10],
    }


_CLEAN_ERRORS = "clean: errors / LR's"
_NOISY_ERRORS = "noisy: errors / LR's"
_NOISY_Z = "noisy: pooled McNemar z"
_LOG_LOSS = "noisy: log-loss / LR's"
_CALIBRATION = "noisy: calibration error / LR's"

MANY_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "many-classes",
        "BBLRClassifierCV on iris, wine and digits beside tuned multinomial regression",
        (
            Bar(_CLEAN_ERRORS, "<=", 1.0),
            Bar(_NOISY_ERRORS, "<", 1.0),
            Bar(_NOISY_Z, ">=", 1.96),
            Bar(_LOG_LOSS, "<", 1.0),
            Bar(_CALIBRATION, "<", 1.0),
        ),
        _work,
    ),
)
