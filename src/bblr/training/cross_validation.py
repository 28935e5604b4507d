"""Cross-validation inside the training data: folds, and what a way of training does on them.

All folds share one design: a held-out row is a row of weight zero, so no fold copies X. A path is
scored at each of its gammas, so that the last gamma is chosen at no cost. It starts from zero, not
from the solution of another penalty: where one class is rare, a strong penalty ends on the plateau
that predicts the other class for every row, and nothing leads back from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from bblr._numeric.arrays import plain_view
from bblr.designs import ScaledDesign
from bblr.designs.rows import Vector
from bblr.losses import BetaBernoulli, Plateaus
from bblr.objective import Objective
from bblr.training.monitor import Watch
from bblr.training.probabilities import (
    Calibrated,
    fit_link,
    likeliest_plateaus,
    one_scale,
    row_losses,
)
from bblr.training.start import (
    LOOSE,
    MAY_BE_FLAT,
    Fitted,
    gaussian,
    is_flat,
    make_start,
    plain_start,
    start_weight,
)

Floats = NDArray[np.float64]

# Where examples are few one division into folds says little; a few more cost nothing.
FEW = 2000
_REPEATS = 3
# Held-out scores that differ by no more rank nothing.
_NO_SPREAD = 1e-9


class Path(NamedTuple):
    """A way of training: plateaus, penalty, gammas to walk through, and a bound on leverage."""

    prior: Plateaus
    l2: float
    gammas: tuple[float, ...]
    leverage: float | None


class Trial(NamedTuple):
    """A path cut off after one of its gammas, and its cross-validated error.

    With another `scoring` than accuracy `error` is what that makes of it; less is better.
    """

    path: Path
    error: float


class Fold(NamedTuple):
    """Row numbers to train on and to hold out."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def check_folds(folds: Sequence[Fold], y: NDArray[Any], weight: Floats) -> None:
    """Raise a ValueError unless every fold can be fitted and says something."""
    if not folds:
        raise ValueError("cv must name at least one division of the rows, got none.")
    classes = len(np.unique(y[weight > 0]))
    for train, test in folds:
        for rows in (train, test):
            if len(rows) and (rows.max() >= len(y) or rows.min() < -len(y)):
                raise ValueError(f"cv names rows beyond the {len(y)} of X.")
        seen = len(np.unique(y[train[weight[train] > 0]]))
        if not np.any(weight[test] > 0) or seen < classes:
            raise ValueError(
                "cv must give every fold rows to hold out and all classes to train on; rows of "
                "zero weight do not count."
            )


def makes_folds(cv: Any) -> bool:
    """Say whether a ``cv`` parameter asks for folds to be made, rather than naming them."""
    return isinstance(cv, int | np.integer) and not isinstance(cv, bool)


def make_folds(
    cv: Any, y: Floats, weight: Floats, random_state: Any, groups: Any = None
) -> list[Fold]:
    """Return the folds a ``cv`` parameter stands for; examples of zero weight take no part."""
    rows = np.flatnonzero(weight > 0)
    labels = y[rows]
    if groups is not None and makes_folds(cv):
        raise ValueError(
            "groups are used by splitters that know them: pass cv=GroupKFold() or another one of "
            "sklearn.model_selection with groups, or leave groups out."
        )
    if not makes_folds(cv):
        splitter = check_cv(cv, y, classifier=True)
        splits = splitter.split(np.zeros((len(y), 1)), y, groups)
        folds = [Fold(np.asarray(train), np.asarray(test)) for train, test in splits]
        check_folds(folds, y, weight)
        return folds
    if cv < 2:
        raise ValueError(f"cv must be at least 2 folds, got {cv}.")
    smallest = int(np.unique(labels, return_counts=True)[1].min())
    if smallest < 2:
        raise ValueError(
            "cv needs at least 2 examples of each class to hold some out; the smallest class "
            f"has {smallest}. Add examples, or use the classifier without CV in its name."
        )
    rng = check_random_state(random_state)
    folds = []
    for _ in range(_REPEATS if len(rows) < FEW else 1):
        seed = rng.randint(2**31 - 1)
        splitter = StratifiedKFold(min(cv, smallest), shuffle=True, random_state=seed)
        folds += [Fold(rows[train], rows[test]) for train, test in splitter.split(rows, labels)]
    return folds


def shared_weight(weight: Floats, rows: NDArray[np.intp]) -> Floats:
    """Return the weight of each held-out score: a row held out thrice has a third in each."""
    return weight[rows] / np.bincount(rows, minlength=len(weight))[rows]


@dataclass(frozen=True, eq=False)
class Validation:
    """The training data, cut into folds.

    Parameters
    ----------
    design : ScaledDesign
        All training rows.
    labels, weights : row vector
        Labels and weights, where the rows are.
    folds : sequence of Fold
        Folds; each row may be held out several times.
    descent : callable
        Makes the descent of a stage.
    watch : Watch
        Hears of the folds.
    n_jobs : int or None
        Folds to work on at the same time.
    scoring : str
        What to minimise, one of `SCORINGS`.
    reach : row vector or None
        Factors on the weights of held-out rows: what lies far out must not decide.
    """

    design: ScaledDesign
    labels: Vector
    weights: Vector
    folds: Sequence[Fold]
    descent: Any
    watch: Watch
    n_jobs: int | None = None
    scoring: str = "accuracy"
    reach: Vector | None = None

    @cached_property
    def y(self) -> Floats:
        """Labels as an array."""
        return self.design.rows.local(self.labels)

    @property
    def scored(self) -> Vector:
        """Weights of rows that are held out."""
        return self.weights if self.reach is None else self.weights * self.reach

    @cached_property
    def weight(self) -> Floats:
        """Weights of rows that are held out, as an array."""
        return self.design.rows.local(self.scored)

    def trials(self, what: str, paths: Sequence[Path]) -> list[Trial]:
        """Return the cross-validated error of each path at each of its gammas."""
        if self.scoring == "accuracy":
            # Errors are counted where the rows are; nothing else is fetched.
            wrong = self._over_folds(what, _fold_errors, paths, self.scored)
            held_out = sum(float(self.weight[fold.test].sum()) for fold in self.folds)
            errors = [sum(per_path) / held_out for per_path in zip(*wrong, strict=True)]
        else:
            folds = self._over_folds(what, _fold_decisions, paths)
            errors = [
                [self._mean_loss([fold[i][k] for fold in folds]) for k in range(len(path.gammas))]
                for i, path in enumerate(paths)
            ]
        return [
            Trial(path._replace(gammas=path.gammas[: k + 1]), float(errors[i][k]))
            for i, path in enumerate(paths)
            for k in range(len(path.gammas))
        ]

    def _mean_loss(self, parts: Sequence[Floats]) -> float:
        rows = self.held_out_rows
        weight = self.weight[rows]
        losses = row_losses(self.scoring, np.concatenate(parts), self.y[rows], weight)
        return float(weight @ losses) / float(weight.sum())

    @cached_property
    def held_out_rows(self) -> NDArray[np.intp]:
        """The rows that the folds hold out, fold after fold."""
        return np.concatenate([fold.test for fold in self.folds])

    def decisions(self, path: Path) -> list[Floats]:
        """Return the held-out decision values of a path, fold by fold."""
        folds = self._over_folds("held-out scores", _fold_decisions, [path])
        return [fold[0][-1] for fold in folds]

    def losses(self, path: Path) -> Floats:
        """Return the loss of each held-out row under a path."""
        rows, decision = self.held_out_rows, np.concatenate(self.decisions(path))
        return row_losses(self.scoring, decision, self.y[rows], self.weight[rows])

    def _over_folds(self, what: str, work: Callable[..., Any], *of: Any) -> list[Any]:
        n_jobs = 1 if self.design.design.is_remote else self.n_jobs
        arguments = [
            (self.design, self.labels, weights, self.descent, fold, *of)
            for weights, fold in zip(self._fold_weights(), self.folds, strict=True)
        ]
        small = self.design.columns is not None and n_jobs is None
        return self.watch.in_parallel(what, "fold", work, arguments, n_jobs, threads=small)

    def _fold_weights(self) -> list[FoldWeights]:
        # Kept for all paths where they are few.
        return self._kept_weights if self.design.columns is not None else self._new_weights()

    @cached_property
    def _kept_weights(self) -> list[FoldWeights]:
        return self._new_weights()

    def _new_weights(self) -> list[FoldWeights]:
        only = self.design.rows.only
        return [FoldWeights(self.design, only(self.weights, fold.train)) for fold in self.folds]


class FoldWeights:
    """Weights of the rows that a fold trains on, with and without bounds on leverage.

    Parameters
    ----------
    design : ScaledDesign
        All training rows.
    kept : row vector
        Weights; those of held-out rows are 0.
    """

    def __init__(self, design: ScaledDesign, kept: Vector) -> None:
        self.design = design
        self.kept = kept
        self._first: dict[float | None, Vector | None] = {}
        self._bounded: dict[float | None, Vector] = {None: kept}

    def bounded(self, limit: float | None) -> Vector:
        """Return the weights under a bound."""
        if limit is not None and limit not in self._bounded:
            self._bounded[limit] = self.kept * self.design.leverage(limit, self.kept)
        return self._bounded[limit]

    def first(self, limit: float | None) -> Vector | None:
        """Return the weights of the fit to start from, None to start from zero."""
        if limit not in self._first:
            weight = self.bounded(limit)
            self._first[limit] = start_weight(self.design, weight)
        return self._first[limit]


def held_out_link(validation: Validation, path: Path) -> Calibrated:
    """Return the link of greatest likelihood on the held-out scores of a path."""
    return pooled_link(validation.decisions(path), validation)


def learned_plateaus(validation: Validation, path: Path) -> Plateaus:
    """Return the plateaus of greatest likelihood on the held-out scores of a path."""
    decision, rows = pooled(validation.decisions(path), validation.folds, validation.weight)
    weight = shared_weight(validation.weight, rows)
    return likeliest_plateaus(decision, validation.y[rows], weight)


def pooled_link(parts: Sequence[Floats], validation: Validation) -> Calibrated:
    """Return the link of greatest likelihood on held-out decision values, fold by fold.

    Folds whose scores do not vary have no say, and the others are brought to one scale.
    """
    decision, rows = pooled(parts, validation.folds, validation.weight)
    weight = shared_weight(validation.weight, rows)
    free = validation.design.fit_intercept
    return fit_link(decision, validation.y[rows], weight, free=free)


def pooled(
    parts: Sequence[Floats], folds: Sequence[Fold], weight: Floats
) -> tuple[Floats, NDArray[np.intp]]:
    """Return the decision values of the folds that vary, on one scale, and their rows."""
    said = [k for k, part in enumerate(parts) if float(np.ptp(part, axis=0).max()) > _NO_SPREAD]
    said = said or list(range(len(parts)))
    weights = [weight[folds[k].test] for k in said]
    decision = np.concatenate(one_scale([parts[k] for k in said], weights))
    return decision, np.concatenate([folds[k].test for k in said])


def walk(
    objective: Fitted, first: Vector | None, gammas: tuple[float, ...], descent: Any
) -> list[tuple[Floats, Vector]]:
    """Return the parameters at the end of each stage of a path, and their scores.

    `first` are the weights of the fit to start from, None to start from zero.
    """
    if objective.columns is not None and hasattr(descent, "small_path"):
        thetas, raws = descent.small_path(objective, first, gammas)
        flat = np.abs(thetas[:, : objective.design.n_features]).max(axis=1) * gammas < MAY_BE_FLAT
        if not flat.any():
            return list(zip(thetas, raws, strict=True))
    theta = np.zeros(objective.size)
    if first is not None:
        start = make_start(objective, descent.tol / LOOSE)
        theta = start.minimise(replace(objective, weight=first), theta).theta
    found = []
    for gamma in gammas:
        stage: Fitted = objective.with_gamma(gamma)
        end = descent.minimise(stage, theta)
        if is_flat(stage, end.theta):
            # Nothing leads back from a plateau; the fit without them may lead around it.
            end = descent.minimise(stage, plain_start(stage, descent.tol / LOOSE))
        theta = end.theta
        found.append((theta, stage.scores(theta) if end.raw is None else end.raw))
    return found


def _walks(
    design: ScaledDesign, y: Vector, weights: FoldWeights, descent: Any, paths: Sequence[Path]
) -> Iterator[list[tuple[BetaBernoulli, Vector]]]:
    """Yield, path by path, the losses of its stages with the scores of all rows."""
    for path in paths:
        weight, losses = weights.bounded(path.leverage), _stage_losses(path.prior, path.gammas)
        objective = Objective(losses[0], gaussian(path.l2, losses[0]), design, y, weight)
        ends = walk(objective, weights.first(path.leverage), path.gammas, descent)
        yield [(loss, raw) for loss, (_, raw) in zip(losses, ends, strict=True)]


@lru_cache(maxsize=256)
def _stage_losses(prior: Plateaus, gammas: tuple[float, ...]) -> tuple[BetaBernoulli, ...]:
    return tuple(BetaBernoulli(prior, gamma) for gamma in gammas)


def _fold_errors(
    design: ScaledDesign,
    y: Vector,
    weights: FoldWeights,
    descent: Any,
    fold: Fold,
    paths: Sequence[Path],
    scored: Vector,
) -> list[Floats]:
    """Return the weight of the errors among held-out rows, at each gamma of each path."""
    rows, y = design.rows, plain_view(y)
    weight = rows.only(scored, fold.test)
    return [
        np.array([rows.errors(loss, y, raw, weight) for loss, raw in stages])
        for stages in _walks(design, y, weights, descent, paths)
    ]


def _fold_decisions(
    design: ScaledDesign,
    y: Vector,
    weights: FoldWeights,
    descent: Any,
    fold: Fold,
    paths: Sequence[Path],
) -> list[list[Floats]]:
    """Return the decision values of held-out rows, at each gamma of each path."""
    return [
        [loss.decision(design.rows.local(raw)[fold.test]) for loss, raw in stages]
        for stages in _walks(design, plain_view(y), weights, descent, paths)
    ]
