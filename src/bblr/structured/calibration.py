"""Refit the local odds, the penalty and the weight of similarities, under the constraint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bblr.structured.inference import infer
from bblr.structured.layout import Plan

__all__ = ["Calibration", "fit_calibration"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A pull towards the odds as they are, worth less than one group; it decides where data do not.
_PULL = 1e-2
# e^-20 is no chance at all.
_LARGEST_PENALTY = 20.0
_LARGEST_WEIGHT = 5.0
_LARGEST_SLOPE = 20.0


@dataclass(frozen=True)
class Calibration:
    """How local odds become those of the joint model.

    Parameters
    ----------
    slope, shift : float
        z = slope · logit p + shift.
    penalty : float
        What a target beyond the first of its container costs.
    weight : float
        What the evidence of similarities counts.
    """

    slope: float = 1.0
    shift: float = 0.0
    penalty: float = 2.0
    weight: float = 1.0

    def odds(self, local: Floats) -> Floats:
        """Return z for the logits of local probabilities."""
        return self.slope * local + self.shift


def fit_calibration(
    plan: Plan,
    local: Floats,
    evidence: Floats,
    labels: Integers,
    start: Calibration,
    free: tuple[str, ...],
) -> Calibration:
    """Maximise the conditional likelihood of the labels of whole groups.

    The logarithm is concave in all four numbers, so the maximum found is the maximum. Groups with
    a part too large to list do not take part.

    Parameters
    ----------
    plan : Plan
        How the training groups fall apart.
    local : ndarray of shape (n_members,)
        Logits of out-of-fold local probabilities.
    evidence : ndarray of shape (n_pairs,)
        Log ratios of the similarity densities.
    labels : ndarray of shape (n_members,)
        The right labels.
    start : Calibration
        Where to start, and what the numbers that are not fitted stay at.
    free : tuple of str
        Which numbers to fit.
    """
    if not free:
        return start
    network = plan.network
    counted = np.ones(network.n_groups, dtype=bool)
    group = network.group
    for part in plan.large:
        counted[group[part.members[0]]] = False
    member, pair = counted[group], _group_of_pairs(plan)
    pair_counted = counted[pair]
    small = Plan(network, plan.constraint, plan.loose, plan.batches, [])
    y = labels.astype(np.float64)
    together = y[network.pairs[:, 0]] * y[network.pairs[:, 1]]
    held = np.bincount(network.containers, weights=y, minlength=1)
    own = np.zeros(len(held), dtype=np.int64)
    own[network.containers] = group
    beyond = float(np.maximum(held - 1, 0)[counted[own]].sum()) if len(group) else 0.0

    def loss(values: Floats) -> tuple[float, Floats]:
        now = Calibration(**{**vars(start), **dict(zip(free, values, strict=True))})
        found = infer(small, now.odds(local), now.weight * evidence, now.penalty)
        # Observed minus expected, number by number.
        residual = np.where(member, y - found.member, 0.0)
        tied = np.where(pair_counted & _read(plan), together - found.both, 0.0)
        gains = {
            "slope": residual @ local,
            "shift": residual.sum(),
            "penalty": found.excess[counted].sum() - beyond,
            "weight": tied @ evidence,
        }
        score = (
            (now.odds(local) * y)[member].sum()
            + now.weight * (evidence * together)[pair_counted].sum()
            - (now.penalty * beyond if plan.constraint == "soft" else 0.0)
        )
        pulls = np.array([values[k] - vars(_NEUTRAL)[name] for k, name in enumerate(free)])
        value = found.log_partition[counted].sum() - score + 0.5 * _PULL * pulls @ pulls
        return value, -np.array([gains[name] for name in free]) + _PULL * pulls

    limits = {
        "slope": (0.0, _LARGEST_SLOPE),
        "shift": (-20.0, 20.0),
        "penalty": (0.0, _LARGEST_PENALTY),
        "weight": (0.0, _LARGEST_WEIGHT),
    }
    found = minimize(
        loss,
        np.array([vars(start)[name] for name in free]),
        jac=True,
        method="L-BFGS-B",
        bounds=[limits[name] for name in free],
    )
    return Calibration(**{**vars(start), **dict(zip(free, map(float, found.x), strict=True))})


_NEUTRAL = Calibration(penalty=0.0, weight=0.0)


def _group_of_pairs(plan: Plan) -> Integers:
    if len(plan.network.pairs) == 0:
        return np.empty(0, dtype=np.int64)
    return plan.network.group[plan.network.pairs[:, 0]]


def _read(plan: Plan) -> NDArray[np.bool_]:
    """Return which pairs have a place in the plan."""
    read = np.zeros(len(plan.network.pairs), dtype=bool)
    for batch in plan.batches:
        read[batch.pairs[batch.pairs >= 0]] = True
    return read
