"""SLAM: the meta-parameters of training, chosen by cross-validation inside the training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bblr.losses import Plateaus
from bblr.solvers import geometric
from bblr.training.cross_validation import Path, Trial, Validation
from bblr.training.monitor import FitMonitor
from bblr.training.start import centred_plateaus, class_shares

Floats = NDArray[np.float64]

# Plateaus to choose among, from nearly logistic regression to strongly robust: half the weight
# of the prior each, which is centred on the classes.
PLATEAUS = (1 / 102, 0.05, 0.1, 0.2, 0.3)
_GROWTHS = (4.0, 8.0)
# A path is behind by so many standard errors of the paired difference before it drops out.
_CLEARLY = 2.0
# Errors that are closer are equal: rounding must not choose.
_EQUAL = 1e-9
# No weaker penalty than a third of this is tried.
_WEAKEST = 1e-3


@dataclass(frozen=True, eq=False)
class Slam:
    """The search for plateaus, penalty and schedule, and its diary.

    Parameters
    ----------
    validation : Validation
        The training data in folds.
    default : Path
        What stands unless the data speak clearly against it.
    l2s : tuple of float
        Penalties to try; weaker ones follow while the weakest is the best.
    gamma_limit : float
        Largest gamma to try.
    tune_leverage : bool
        Whether to try paths that bound no row as well.
    evidence : float
        By how many standard errors of the paired difference a trial must beat the default.
    monitor : FitMonitor
        Hears of each step, and may say that it was the last.
    """

    validation: Validation
    default: Path
    l2s: tuple[float, ...]
    gamma_limit: float
    tune_leverage: bool
    evidence: float
    monitor: FitMonitor

    @cached_property
    def _wrong(self) -> dict[Path, NDArray[np.bool_]]:
        """Which held-out rows are errors of each trial, as far as it has seen them."""
        return {}

    @cached_property
    def shares(self) -> Floats:
        """Share of each class."""
        shares = class_shares(self.validation.y, self.validation.weight)
        free = self.validation.design.fit_intercept
        return shares if free else np.full(len(shares), 1.0 / len(shares))

    def choose(self, tune_plateaus: bool) -> tuple[Path, list[Trial]]:
        """Return the chosen path and all trials."""
        first, growth = self.default.gammas[0], 2.0
        gammas = geometric(first, self.gamma_limit, growth)
        start = self.default._replace(gammas=gammas)
        trials = self._try("penalty", [start._replace(l2=l2) for l2 in self.l2s])
        weakest = min(self.l2s)
        while _best(trials).path.l2 == weakest > _WEAKEST and not self.monitor.stopped:
            weakest /= 3.0
            trials += self._try("penalty", [start._replace(l2=weakest)])
        design = self.validation.design
        bounded = self.tune_leverage and not design.rare[design.varying].all()
        if bounded and not self.monitor.stopped:
            trials += self._try("leverage", self._unbounded(_best(trials), gammas))
        if tune_plateaus and not self.monitor.stopped:
            trials += self._climb_plateaus(_best(trials), gammas)
        if not self.monitor.stopped:
            trials += self._try("schedule", self._schedules(_best(trials)))
        return self._settle(_best(trials)), trials

    def _try(self, what: str, paths: Sequence[Path]) -> list[Trial]:
        compare = self._race if self.validation.tells_rows else self.validation.trials
        trials = compare(f"choose {what}", paths)
        best = _best(trials)
        self.monitor.log(
            f"{what}: {len(trials)} trials, best error {100 * best.error:.2f} % at "
            f"a={_strength(best.path.prior):.3g}, l2={best.path.l2:g}, "
            f"gamma={best.path.gammas[-1]:g}, leverage={best.path.leverage}"
        )
        return trials

    def _race(self, what: str, paths: Sequence[Path]) -> list[Trial]:
        """Return the trials of paths that are given up once they cannot be chosen any more.

        The error of a trial that was given up is the leader's, plus what it was behind on the
        folds that it has seen.
        """
        validation = self.validation
        rows = validation.held_out_rows
        weight, variance = validation.weight[rows], validation.variance[rows]
        paths = list(dict.fromkeys(paths))
        seen = {path: np.zeros((len(path.gammas), 0), dtype=bool) for path in paths}
        running = paths
        for folds in validation.rounds:
            found = validation.wrong(what, running, folds)
            for path, more in zip(running, found, strict=True):
                seen[path] = np.hstack([seen[path], more])
                self._wrong.update((path.until(k), row) for k, row in enumerate(seen[path]))
            leader = self._leader(seen[running[0]].shape[1], weight)
            running = [
                path
                for path in running
                if self._can_win(path, seen[path], leader, weight, variance)
            ]
            if not running or self.monitor.stopped:
                break
        return [
            Trial(path.until(k), _error(row, leader, weight))
            for path in paths
            for k, row in enumerate(seen[path])
        ]

    def _leader(self, n: int, weight: Floats) -> NDArray[np.bool_]:
        """Return the errors of the trial that has the fewest in the first rows, if it knows."""
        known = [row for row in self._wrong.values() if len(row) >= n]
        errors = np.array([weight[:n] @ row[:n] for row in known])
        return known[_first_least(errors, _EQUAL * float(weight.sum()))]

    def _can_win(
        self,
        path: Path,
        wrong: NDArray[np.bool_],
        leader: NDArray[np.bool_],
        weight: Floats,
        variance: Floats,
    ) -> bool:
        """Whether a path is worth more folds.

        At one of its gammas it must be ahead of the default, which a choice has to beat by more
        than other folds would change, and not clearly behind the leader.
        """
        if path.until(0) == self.default:
            return True
        n = wrong.shape[1]
        errors = wrong @ weight[:n]
        behind = errors - float(weight[:n] @ leader[:n])
        doubt = np.sqrt((wrong != leader[:n]) @ variance[:n])
        standing, equal = float(weight[:n] @ self._wrong[self.default][:n]), _EQUAL * weight.sum()
        return bool(np.any((errors < standing - equal) & (behind <= _CLEARLY * doubt + equal)))

    def _climb_plateaus(self, best: Trial, gammas: tuple[float, ...]) -> list[Trial]:
        """Walk to weaker and to stronger plateaus for as long as that helps."""
        # Bracket: no sharper than one stage beyond the best so far.
        gammas = tuple(g for g in gammas if g <= 2.0 * best.path.gammas[-1])
        found: list[Trial] = []
        bound = best.path.leverage
        for side in (
            sorted((a for a in PLATEAUS if a < _strength(self.default.prior)), reverse=True),
            sorted(a for a in PLATEAUS if a > _strength(self.default.prior)),
        ):
            reach = best.error
            for a in side:
                prior = centred_plateaus(2.0 * a, self.shares)
                near = (best.path.l2 / 3.0, best.path.l2, 3.0 * best.path.l2)
                paths = [Path(prior, l2, gammas, bound) for l2 in near]
                trials = self._try("plateaus", paths)
                found += trials
                if _best(trials).error >= reach - _EQUAL or self.monitor.stopped:
                    break
                reach = _best(trials).error
        return found

    def _unbounded(self, best: Trial, gammas: tuple[float, ...]) -> list[Path]:
        """Return paths like the best, and at stronger and weaker penalties, that bound no row."""
        near = (best.path.l2 / 3.0, best.path.l2, 3.0 * best.path.l2)
        return [Path(self.default.prior, l2, gammas, None) for l2 in near]

    def _schedules(self, best: Trial) -> list[Path]:
        """Return other ways to the same last gamma: faster growth, an earlier or later start."""
        path = best.path
        first, last = path.gammas[0], path.gammas[-1]
        schedules = {geometric(first, last, growth) for growth in _GROWTHS}
        schedules.add(geometric(first / 2.0, last, 2.0))
        if 2.0 * first < last:
            schedules.add(geometric(2.0 * first, last, 2.0))
        return [path._replace(gammas=gammas) for gammas in sorted(schedules - {path.gammas})]

    def _settle(self, best: Trial) -> Path:
        if best.path == self.default:
            return self.default
        validation = self.validation
        gain = self._losses(self.default) - self._losses(best.path)
        rows, weight = validation.held_out_rows, validation.weight
        # Rows held out several times are one example each.
        per_row = np.bincount(rows, gain, len(weight)) / np.maximum(
            1, np.bincount(rows, minlength=len(weight))
        )
        total = float(weight @ per_row)
        error = float(np.sqrt(weight @ per_row**2))
        if total <= self.evidence * error * (1.0 + _EQUAL):
            self.monitor.log(f"kept the default: the best trial gains {total:.1f} ± {error:.1f}")
            return self.default
        return best.path

    def _losses(self, path: Path) -> Floats:
        """Return the loss of each held-out row under a path."""
        wrong = self._wrong.get(path)
        if wrong is None or len(wrong) < len(self.validation.held_out_rows):
            return self.validation.losses(path)
        return wrong.astype(np.float64)


def _error(wrong: NDArray[np.bool_], leader: NDArray[np.bool_], weight: Floats) -> float:
    n, m = len(wrong), len(leader)
    behind = float(weight[:n] @ wrong - weight[:n] @ leader[:n]) / float(weight[:n].sum())
    return float(weight[:m] @ leader) / float(weight[:m].sum()) + behind


def _strength(plateaus: Plateaus) -> float:
    """Return the symmetric plateau of two classes that weighs as much."""
    return 0.5 * plateaus.w


def _best(trials: Sequence[Trial]) -> Trial:
    # Among equals the first: the stronger penalty, the smaller gamma.
    return trials[_first_least(np.array([trial.error for trial in trials]), _EQUAL)]


def _first_least(values: Floats, equal: float) -> int:
    """Return the place of the first value that no other undercuts by more than `equal`."""
    return int(np.argmax(values <= values.min() + equal))
