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

from bblr._numeric.arrays import plain_view
from bblr.designs import ScaledDesign
from bblr.designs.rows import Vector
from bblr.losses import BetaBernoulli, Plateaus
from bblr.objective import Objective
from bblr.training.folds import Fold
from bblr.training.monitor import FitMonitor
from bblr.training.probabilities import (
    Calibrated,
    fit_link,
    likeliest_plateaus,
    pooled,
    row_losses,
    shared_weight,
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

# Rows on another chip or machine up to which their scores are fetched.
_FETCHED = 1_000_000
# Rows held out by a fold up to which the scores of all paths are kept.
_FEW_HELD = 4096


class Path(NamedTuple):
    """A way of training: plateaus, penalty, gammas to walk through, and a bound on leverage."""

    prior: Plateaus
    l2: float
    gammas: tuple[float, ...]
    leverage: float | None

    def until(self, k: int) -> Path:
        """Return the path cut off after its gamma number k."""
        return self._replace(gammas=self.gammas[: k + 1])


class Trial(NamedTuple):
    """A path cut off after one of its gammas, and its cross-validated error.

    With another `scoring` than accuracy `error` is what that makes of it; less is better.
    """

    path: Path
    error: float


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
    monitor : FitMonitor
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
    monitor: FitMonitor
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

    @cached_property
    def variance(self) -> Floats:
        """What an error of each row adds to the variance of their sum: weight 2 is two rows."""
        scored = self.scored if self.reach is None else self.scored * self.reach
        return self.design.rows.local(scored)

    def trials(self, what: str, paths: Sequence[Path]) -> list[Trial]:
        """Return the cross-validated error of each path at each of its gammas."""
        if self.scoring == "accuracy":
            # Errors are counted where the rows are; nothing else is fetched.
            wrong = self._over_folds(what, self.folds, _fold_errors, paths, self.scored)
            held_out = sum(float(self.weight[fold.test].sum()) for fold in self.folds)
            errors = [sum(per_path) / held_out for per_path in zip(*wrong, strict=True)]
        else:
            folds = self._over_folds(what, self.folds, _fold_decisions, paths)
            errors = [
                [self._mean_loss([fold[i][k] for fold in folds]) for k in range(len(path.gammas))]
                for i, path in enumerate(paths)
            ]
        return [
            Trial(path.until(k), float(errors[i][k]))
            for i, path in enumerate(paths)
            for k in range(len(path.gammas))
        ]

    @property
    def tells_rows(self) -> bool:
        """Whether trials can be compared row by row: errors are counted, and scores can be had."""
        few = not self.design.design.is_remote or len(self.y) <= _FETCHED
        return self.scoring == "accuracy" and few

    @cached_property
    def rounds(self) -> list[Sequence[Fold]]:
        """The folds in parts, after each of which a path may be seen to lose.

        A part is a division of all rows into folds, or two folds and the rest of the only one.
        """
        sizes = np.cumsum([len(fold.test) for fold in self.folds])
        once = 1 + int(np.searchsorted(sizes, len(np.unique(self.held_out_rows))))
        if once < len(self.folds):
            starts = range(0, len(self.folds), once)
            return [self.folds[start : start + once] for start in starts]
        return [part for part in (self.folds[:2], self.folds[2:]) if part]

    def wrong(
        self, what: str, paths: Sequence[Path], folds: Sequence[Fold]
    ) -> list[NDArray[np.bool_]]:
        """Return, path by path, which held-out rows are errors: a row for each gamma."""
        found = self._over_folds(what, folds, _fold_wrong, paths)
        return [np.concatenate(parts, axis=1) for parts in zip(*found, strict=True)]

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
        folds = self._over_folds("held-out scores", self.folds, _fold_decisions, [path])
        return [fold[0][-1] for fold in folds]

    def losses(self, path: Path) -> Floats:
        """Return the loss of each held-out row under a path."""
        rows, decision = self.held_out_rows, np.concatenate(self.decisions(path))
        return row_losses(self.scoring, decision, self.y[rows], self.weight[rows])

    def _over_folds(
        self, what: str, folds: Sequence[Fold], work: Callable[..., Any], *of: Any
    ) -> list[Any]:
        n_jobs = 1 if self.design.design.is_remote else self.n_jobs
        arguments = [(self._fold_rows(fold), self.descent, *of) for fold in folds]
        small = self.design.columns is not None and n_jobs is None
        return self.monitor.in_parallel(what, "fold", work, arguments, n_jobs, threads=small)

    def _fold_rows(self, fold: Fold) -> FoldRows:
        known = self._known_rows.get(id(fold))
        if known is None:
            known = FoldRows(self.design, self.labels, self.weights, fold)
            # Kept for all paths where they are few.
            if self.design.columns is not None:
                self._known_rows[id(fold)] = known
        return known

    @cached_property
    def _known_rows(self) -> dict[int, FoldRows]:
        return {}


class FoldRows:
    """The rows that a fold trains on, with their weights, and those that it holds out.

    Of a small table they are copied: the rows held out would take a fifth of every pass. Elsewhere
    they have a weight of 0.

    Parameters
    ----------
    design : ScaledDesign
        All rows.
    labels, weights : row vector
        Their labels and weights.
    fold : Fold
        Which ones to train on and to hold out.
    """

    def __init__(self, design: ScaledDesign, labels: Vector, weights: Vector, fold: Fold) -> None:
        self.every, self.fold = design, fold
        self.labels = labels
        self._kept = design.rows.only(weights, fold.train)
        self._weights: dict[float | None, tuple[Vector, Vector | None]] = {}
        self._walked: dict[Path, dict[tuple[float, ...], list[Vector]]] = {}

    @cached_property
    def _own(self) -> tuple[ScaledDesign, Vector, Any]:
        """The design to train on, its labels, and which rows it has; None for all."""
        y = plain_view(self.labels)
        if self.every.columns is not None:
            own = np.flatnonzero(self._kept > 0)
            few = self.every.taken(own)
            if few is not None:
                return few, y[own], own
        return self.every, y, None

    @cached_property
    def _held(self) -> Floats | None:
        """The rows held out, a column after the other, where those to train on are copied."""
        columns = self.every.columns
        if columns is None or self._own[2] is None:
            return None
        return np.take(columns, self.fold.test, axis=1)

    def held(self, raw: Vector) -> Floats:
        """Return the scores of the rows held out, given those that `walks` yields."""
        found: Floats = raw
        return found if self._held is not None else self.every.rows.local(raw)[self.fold.test]

    def weights(self, limit: float | None) -> tuple[Vector, Vector | None]:
        """Return the weights under a bound, and those to start with; None to start from zero."""
        if limit not in self._weights:
            weight, own = self._kept, self._own[2]
            if limit is not None:
                weight = weight * self.every.leverage(limit, weight)
            first = start_weight(self.every, weight)
            if own is not None:
                weight, first = weight[own], None if first is None else first[own]
            self._weights[limit] = weight, first
        return self._weights[limit]

    def walks(
        self, descent: Any, paths: Sequence[Path]
    ) -> Iterator[list[tuple[BetaBernoulli, Vector]]]:
        """Yield, path by path, the losses of its stages with the scores there."""
        for path in paths:
            losses = _stage_losses(path.prior, path.gammas)
            yield list(zip(losses, self._ends(path, losses[0], descent), strict=True))

    def _ends(self, path: Path, loss: BetaBernoulli, descent: Any) -> list[Vector]:
        """Return the scores at the end of each stage; those of a path walked before are known."""
        gammas, held = path.gammas, self._held
        walked = self._walked.setdefault(path._replace(gammas=()), {})
        for known, ends in walked.items():
            if known[: len(gammas)] == gammas:
                return ends[: len(gammas)]
        design, y, _ = self._own
        weight, first = self.weights(path.leverage)
        objective = Objective(loss, gaussian(path.l2, loss), design, y, weight)
        ends = walk(objective, first, gammas, descent, held)
        if held is not None and held.shape[1] <= _FEW_HELD:
            walked[gammas] = ends
        return ends


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


def walk(
    objective: Fitted,
    first: Vector | None,
    gammas: tuple[float, ...],
    descent: Any,
    scored: Floats | None,
) -> list[Vector]:
    """Return scores at the end of each stage of a path.

    `first` are the weights of the fit to start from, None to start from zero; `scored` the rows to
    score, a column after the other, None for those of the objective.
    """
    if objective.newton_columns is not None and hasattr(descent, "small_path"):
        rows = objective.newton_columns if scored is None else scored
        thetas, raws = descent.small_path(objective, first, gammas, rows)
        size = np.abs(thetas[:, : objective.design.n_features]).max(axis=1)
        doubtful = np.flatnonzero(size * gammas <= MAY_BE_FLAT)
        if not any(is_flat(objective.with_gamma(gammas[k]), thetas[k]) for k in doubtful):
            return list(raws)
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
        if scored is not None:
            found.append(stage.loss.layout.joined(scored.T @ stage.by_score(theta).T))
        else:
            found.append(stage.scores(theta) if end.raw is None else end.raw)
    return found


@lru_cache(maxsize=256)
def _stage_losses(prior: Plateaus, gammas: tuple[float, ...]) -> tuple[BetaBernoulli, ...]:
    return tuple(BetaBernoulli(prior, gamma) for gamma in gammas)


def _fold_errors(
    own: FoldRows, descent: Any, paths: Sequence[Path], scored: Vector
) -> list[Floats]:
    """Return the weight of the errors among held-out rows, at each gamma of each path."""
    rows, test, y = own.every.rows, own.fold.test, plain_view(own.labels)
    if own.every.columns is not None:
        weight = rows.local(scored)[test]
        return [wrong @ weight for wrong in _fold_wrong(own, descent, paths)]
    weight = rows.only(scored, test)
    return [
        np.array([rows.errors(loss, y, raw, weight) for loss, raw in stages])
        for stages in own.walks(descent, paths)
    ]


def _fold_wrong(own: FoldRows, descent: Any, paths: Sequence[Path]) -> list[NDArray[np.bool_]]:
    """Return which held-out rows are errors, at each gamma of each path."""
    y = own.every.rows.local(own.labels)[own.fold.test]
    return [
        np.array([loss.wrong(y, own.held(raw)) for loss, raw in stages])
        for stages in own.walks(descent, paths)
    ]


def _fold_decisions(own: FoldRows, descent: Any, paths: Sequence[Path]) -> list[list[Floats]]:
    """Return the decision values of held-out rows, at each gamma of each path."""
    return [
        [loss.decision(own.held(raw)) for loss, raw in stages]
        for stages in own.walks(descent, paths)
    ]
