"""The steps of a joint model: evidence, calibration, plan and odds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bblr._saved import Versioned
from bblr.structured.factors import fit_evidence
from bblr.structured.groups import (
    Floats,
    Group,
    Integers,
    Network,
    check_groups,
    join,
    stack_features,
    stack_labels,
)
from bblr.structured.local import logits, out_of_fold
from bblr.structured.odds import Calibration, CalibrationData, fit_calibration
from bblr.structured.parts import Plan, make_plan

__all__ = ["ApproximationWarning", "JointSteps", "warn"]


class ApproximationWarning(UserWarning):
    """A result is approximate because a group is too large for exact inference.

    Examples
    --------
    >>> import warnings
    >>> from bblr.structured import ApproximationWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", ApproximationWarning)      # exact results or an error
    """


class JointSteps(Versioned):
    """Steps between the parameters of a joint model and its decisions."""

    at_most_one: Any
    similarity: Any
    one_to_one: Any
    recalibrate: Any
    cv: Any
    n_jobs: Any
    max_states: Any
    n_features_in_: int
    local_: Any
    calibration_: Calibration
    evidence_: Any
    predict: Callable[[Sequence[Group]], list[Integers]]

    def score(
        self,
        groups: Sequence[Group],
        y: None = None,
        *,
        per: Literal["member", "group"] = "member",
    ) -> float:
        """Return the accuracy of ``predict``.

        Parameters
        ----------
        groups : sequence of Group
            Groups with labels.
        y : None, default=None
            Not used.
        per : {"member", "group"}, default="member"
            Accuracy over candidates, or share of groups whose candidates are all right. Empty
            groups are ignored.

        Returns
        -------
        float
            Between 0 and 1.

        Examples
        --------
        >>> from bblr.structured import Group, JointModel
        >>> pairs = [(1.0, 0.1), (0.6, 0.7), (0.9, 0.4), (0.8, 0.5)] * 5      # the first is right
        >>> train = [Group([[a], [b]], labels=[1, 0]) for a, b in pairs]
        >>> model = JointModel(at_most_one="hard", random_state=0).fit(train)
        >>> model.score(train), model.score(train, per="group")
        (0.75, 0.75)
        """
        if per not in ("member", "group"):
            raise ValueError(f"per must be 'member' or 'group', got {per!r}.")
        groups = [group for group in check_groups(groups) if len(group)]
        if not groups:
            raise ValueError("groups hold no candidate; nothing can be scored.")
        truth = stack_labels(groups)
        right = np.concatenate(self.predict(groups)) == truth
        if per == "member":
            return float(right.mean())
        starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
        return float(np.logical_and.reduceat(right, starts).mean())

    def _fit_evidence(self, network: Network, labels: Integers) -> Any:
        if self.similarity is None or self.one_to_one or len(network.pairs) == 0:
            return None
        first, second = network.pairs.T
        both = (labels[first] == 1) & (labels[second] == 1)
        return fit_evidence(network.similarities, both, self.similarity)

    def _calibrate(
        self, local: Any, X: Any, labels: Integers, network: Network, rng: Any
    ) -> Calibration:
        free = ["slope", "shift"] if self.recalibrate else []
        values: dict[str, float] = {}
        for name, used in (
            ("penalty", self.at_most_one == "soft"),
            ("weight", self.evidence_ is not None),
        ):
            given = getattr(self, name)
            if not used:
                values[name] = 0.0
            elif given == "fit":
                free.append(name)
            else:
                values[name] = float(given)
        start = Calibration(**values)
        if not free:
            return start
        held_out = out_of_fold(local, X, labels, network, int(self.cv), rng, self.n_jobs)
        plan, evidence = self._plan(network, weight=1.0)
        known = CalibrationData(plan, held_out, evidence, labels)
        if not known.counted.any():
            raise ValueError(
                f"groups are all too large to be calibrated on: each has a part of more than "
                f"max_states={self.max_states} feasible states. Raise max_states, or use "
                "recalibrate=False with given penalty and weight."
            )
        if plan.large:
            warn(
                f"{(~known.counted).sum()} of {network.n_groups} groups have parts of more than "
                f"max_states={self.max_states} feasible states",
                "the slope, shift, penalty and weight are fitted on the others",
            )
        return fit_calibration(known, start, tuple(free))

    def _plan(self, network: Network, weight: float | None = None) -> tuple[Plan, Floats]:
        """Return the plan of the groups, and the couplings of their pairs."""
        couplings = np.zeros(len(network.pairs))
        weight = self.calibration_.weight if weight is None else weight
        if self.evidence_ is not None and weight > 0:
            couplings = weight * self.evidence_(network.similarities)
        return make_plan(network, self.at_most_one, couplings != 0, self.max_states), couplings

    def _local_logits(self, groups: Sequence[Group]) -> tuple[list[Group], Network, Floats]:
        check_is_fitted(self, "calibration_")
        groups = check_groups(groups)
        network = join(groups)
        if network.n_members == 0:
            return groups, network, np.zeros(0)
        X = stack_features(groups)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but JointModel was fitted on {self.n_features_in_}."
            )
        return groups, network, logits(self.local_, X)

    def _odds(self, groups: Sequence[Group]) -> tuple[list[Group], Network, Floats]:
        groups, network, local = self._local_logits(groups)
        return groups, network, self.calibration_.odds(local)


def warn(reason: str, consequence: str) -> None:
    """Warn of an approximation: its reason and its consequence."""
    warnings.warn(f"{reason}: {consequence}.", ApproximationWarning, stacklevel=3)
