"""Calibration of local odds, penalty and weight of similarities, under the constraint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bblr.structured.groups import Floats, Integers
from bblr.structured.inference import infer
from bblr.structured.parts import Plan

__all__ = ["Calibration", "CalibrationData", "fit_calibration"]


# Weak quadratic penalty towards unchanged odds and no penalty, worth less than one group: it
# decides where the data do not, such as the penalty of what never happens.
_PRECISION = 1e-2
_LIMITS = {
    "slope": (0.0, 20.0),
    "shift": (-20.0, 20.0),
    "penalty": (0.0, 20.0),
    "weight": (0.0, 5.0),
}


@dataclass(frozen=True)
class Calibration:
    """How local odds become those of the joint model.

    Parameters
    ----------
    slope, shift : float
        z = slope · logit p + shift.
    penalty : float
        Cost of each target beyond the first of its container.
    weight : float
        Factor on the evidence of similarities.
    """

    slope: float = 1.0
    shift: float = 0.0
    penalty: float = 2.0
    weight: float = 1.0

    def odds(self, local: Floats) -> Floats:
        """Return z for the logits of local probabilities."""
        return self.slope * local + self.shift


_NEUTRAL = Calibration(penalty=0.0, weight=0.0)


@dataclass(frozen=True, eq=False)
class CalibrationData:
    """Training groups with local odds, evidence and labels.

    Parameters
    ----------
    plan : Plan
        Their independent parts.
    local : ndarray of shape (n_members,)
        Logits of out-of-fold local probabilities.
    evidence : ndarray of shape (n_pairs,)
        Log ratios of the similarity densities.
    labels : ndarray of shape (n_members,)
        The right labels.
    """

    plan: Plan
    local: Floats
    evidence: Floats
    labels: Integers

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Whether each group is used: only those whose states can be enumerated."""
        network = self.plan.network
        counted = np.ones(network.n_groups, dtype=bool)
        counted[[network.group[part.members[0]] for part in self.plan.large]] = False
        return counted

    @cached_property
    def observed(self) -> dict[str, float]:
        """Sufficient statistics, summed over the groups used."""
        network, y = self.plan.network, self.labels.astype(np.float64)
        own = y * self.counted[network.group]
        first, second = network.pairs.T
        excess = 0.0
        if self.plan.constraint == "soft":
            excess = float(np.maximum(np.bincount(network.containers, own) - 1, 0).sum())
        return {
            "slope": float(own @ self.local),
            "shift": float(own.sum()),
            "penalty": -excess,
            "weight": float((own[first] * own[second]) @ self.evidence),
        }

    def expected(self, now: Calibration) -> tuple[dict[str, float], float]:
        """Return the same as the model expects it, and the log of its partition function."""
        network = self.plan.network
        small = replace(self.plan, large=[])
        found = infer(small, now.odds(self.local), now.weight * self.evidence, now.penalty)
        member = found.member * self.counted[network.group]
        both = found.both * self.counted[network.group[network.pairs[:, 0]]]
        expected = {
            "slope": float(member @ self.local),
            "shift": float(member.sum()),
            "penalty": -float(found.excess[self.counted].sum()),
            "weight": float(both @ self.evidence),
        }
        return expected, float(found.log_partition[self.counted].sum())


def fit_calibration(
    groups: CalibrationData, start: Calibration, free: tuple[str, ...]
) -> Calibration:
    """Maximise the conditional likelihood of the labels of whole groups.

    Its logarithm is concave in all four numbers, so the maximum is global. Groups with a part too
    large to enumerate are not used.

    Parameters
    ----------
    groups : CalibrationData
        Training groups.
    start : Calibration
        Start values; numbers that are not free keep theirs.
    free : tuple of str
        Names of the numbers to fit.
    """
    neutral = np.array([vars(_NEUTRAL)[name] for name in free])
    observed = groups.observed

    def at(values: Floats) -> Calibration:
        return replace(start, **dict(zip(free, map(float, values), strict=True)))

    def loss(values: Floats) -> tuple[float, Floats]:
        now = at(values)
        expected, log_partition = groups.expected(now)
        score = sum(vars(now)[name] * observed[name] for name in observed)
        deviations = values - neutral
        slopes = np.array([expected[name] - observed[name] for name in free])
        value = log_partition - score + 0.5 * _PRECISION * float(deviations @ deviations)
        return value, slopes + _PRECISION * deviations

    first = np.array([vars(start)[name] for name in free])
    limits = [_LIMITS[name] for name in free]
    return at(minimize(loss, first, jac=True, method="L-BFGS-B", bounds=limits).x)
