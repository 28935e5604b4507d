"""The joint model of local classifier, constraint and similarities."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from bblr._checks import CONSTRAINTS, all_or_nothing, check_parameters
from bblr.structured.factors import SIMILARITIES
from bblr.structured.groups import (
    Floats,
    Group,
    Integers,
    check_groups,
    check_labels,
    join,
    stack_features,
    stack_labels,
)
from bblr.structured.inference import decode, infer, log_score
from bblr.structured.joint_steps import ApproximationWarning, JointSteps, warn
from bblr.structured.local import check_both_kinds, check_possible
from bblr.structured.matching import candidate_graph, has_cycles, match, match_probabilities
from bblr.structured.parts import Constraint

__all__ = ["ApproximationWarning", "JointModel"]


# Beyond this a penalty or a weight is certainty, and differences are lost in rounding.
_LARGEST = 100.0
_APPROXIMATE = "probabilities are approximate, by "


class JointModel(JointSteps):
    """Joint decisions on candidates that constrain each other.

    The model is ∏ p(Y|X) ∏ p(S|Y) ∏ p(D|Y, Y'): a local classifier gives p(Y|X) from the
    features of each candidate, the constraint S is that a container holds at most one target, and
    the similarity D of two candidates has one density if both are targets and another if not.
    Groups are independent of each other, unless ``one_to_one=True``.

    Parameters
    ----------
    local : estimator, default=None
        Any scikit-learn classifier with ``predict_proba``; it is cloned. None is
        LogisticRegression.
    at_most_one : {"soft", "hard"} or None, default="soft"
        Whether each target beyond the first of a container costs a penalty ("soft"), is
        impossible ("hard"), or is not restricted (None). Use "hard" only where a second target
        cannot occur.
    one_to_one : bool, default=False
        Also use each of `Group.candidates` at most once over all groups passed to ``predict``,
        and each container once: record linkage between two clean sources. Similarities then have
        no influence, since no two candidates of a container can be targets.
    similarity : {"gaussian", "beta", "kde"} or None, default="gaussian"
        Family of the two densities of similarities; None ignores similarities.
    recalibrate : bool, default=True
        Refit slope and shift of the local odds under the constraint. The base rate of a local
        classifier already reflects the constraint, which would otherwise count twice.
    penalty : "fit" or float, default="fit"
        What a target beyond the first costs with ``at_most_one="soft"``, in log odds, at most
        100; ``at_most_one="hard"`` makes a second one impossible.
    weight : "fit" or float, default="fit"
        Factor on the log ratio of the similarity densities. Similarities of the same candidate
        depend on each other, so less than 1 is usual.
    cv : int, default=5
        Folds, by group, for the out-of-fold probabilities on which slope, shift, penalty and
        weight are fitted.
    max_states : int, default=16384
        Parts of groups with more feasible states than this get exact labels from a mixed-integer
        programme and approximate probabilities from Gibbs sampling, with a warning.
    n_jobs : int or None, default=None
        Local fits to run in parallel, as in scikit-learn.
    random_state : int, RandomState or None, default=None
        Seed for the folds and for sampling large groups.

    Attributes
    ----------
    local_ : estimator
        The local classifier, fitted on all training groups.
    calibration_ : Calibration
        `slope`, `shift`, `penalty` and `weight`.
    evidence_ : Evidence or None
        The similarity densities; None if not used or if there were too few pairs.
    n_features_in_ : int
        Number of local features.

    Raises
    ------
    ValueError
        From ``fit``, if training labels are impossible under ``at_most_one="hard"``, or if fewer
        than two groups hold a target, or a candidate that is not one.

    See Also
    --------
    Group : What it is fitted on.

    Notes
    -----
    Without similarities inference has a closed form, linear in the size of a group; with them
    the feasible states are enumerated. Both are exact. With ``one_to_one=True`` labels are exact
    and probabilities come from belief propagation, exact where the graph of candidates has no
    cycles; the odds are then fitted under `at_most_one` alone.

    Among equally probable labels, ``predict`` returns those with the fewest targets. An empty
    group has no labels and a log joint of 0.

    Examples
    --------
    >>> import numpy as np
    >>> from bblr.structured import Group, JointModel
    >>> rng = np.random.default_rng(0)
    >>> def draw():
    ...     labels = np.eye(4, dtype=int)[rng.integers(4)]    # one of four is right
    ...     return Group(labels[:, None] + rng.normal(size=(4, 1)), labels=labels)
    >>> train, test = [draw() for _ in range(300)], [draw() for _ in range(300)]
    >>> model = JointModel(at_most_one="hard", random_state=0).fit(train)
    >>> alone = np.mean([(a == g.labels).all() for a, g in
    ...                  zip(model.predict_independent(test), test)])
    >>> together = model.score(test, per="group")
    >>> bool(together > alone + 0.1)
    True
    >>> max(int(labels.sum()) for labels in model.predict(test))
    1
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "at_most_one": [StrOptions({"soft", "hard"}), None],
        "one_to_one": ["boolean"],
        "similarity": [StrOptions(set(SIMILARITIES)), None],
        "recalibrate": ["boolean"],
        "penalty": [Interval(Real, 0, _LARGEST, closed="both"), StrOptions({"fit"})],
        "weight": [Interval(Real, 0, _LARGEST, closed="both"), StrOptions({"fit"})],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "max_states": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        local: Any = None,
        *,
        at_most_one: Constraint = "soft",
        one_to_one: bool = False,
        similarity: Literal["gaussian", "beta", "kde"] | None = "gaussian",
        recalibrate: bool = True,
        penalty: float | Literal["fit"] = "fit",
        weight: float | Literal["fit"] = "fit",
        cv: int = 5,
        max_states: int = 2**14,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.local = local
        self.at_most_one = at_most_one
        self.one_to_one = one_to_one
        self.similarity = similarity
        self.recalibrate = recalibrate
        self.penalty = penalty
        self.weight = weight
        self.cv = cv
        self.max_states = max_states
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_or_nothing
    def fit(self, groups: Sequence[Group], y: None = None) -> JointModel:
        """Fit the local classifier, the densities and the calibration.

        Parameters
        ----------
        groups : sequence of Group
            Training groups, all with labels.
        y : None, default=None
            Ignored; the labels are in the groups.

        Returns
        -------
        JointModel
            Itself.

        Examples
        --------
        >>> from bblr.structured import Group, JointModel
        >>> pairs = [(1.0, 0.1), (0.6, 0.7), (0.9, 0.4), (0.8, 0.5)] * 5      # the first is right
        >>> train = [Group([[a], [b]], labels=[1, 0]) for a, b in pairs]
        >>> model = JointModel(at_most_one="hard", random_state=0).fit(train)
        >>> model.calibration_.slope > 0
        True
        """
        check_parameters(self)
        groups = check_groups(groups)
        labels = stack_labels(groups)
        network = join(groups)
        check_both_kinds(network, labels)
        if self.at_most_one == "hard":
            check_possible(network, labels)
        X = stack_features(groups)
        rng = check_random_state(self.random_state)
        self._seed_ = int(rng.randint(2**31 - 1))
        self.n_features_in_ = X.shape[1]
        local = LogisticRegression(max_iter=1000) if self.local is None else self.local
        if not hasattr(local, "predict_proba"):
            raise TypeError(
                f"local must have predict_proba, {type(local).__name__} has none; wrap it in "
                "sklearn.calibration.CalibratedClassifierCV."
            )
        self.local_ = clone(local).fit(X, labels)
        self.evidence_ = self._fit_evidence(network, labels)
        self.calibration_ = self._calibrate(local, X, labels, network, rng)
        return self

    def predict(self, groups: Sequence[Group]) -> list[Integers]:
        """Return the jointly most probable labels of each group.

        Parameters
        ----------
        groups : sequence of Group
            Their labels, if any, are ignored.

        Returns
        -------
        list of ndarray of shape (n_members,)
            1 for a target and 0 for the rest.

        Examples
        --------
        >>> from bblr.structured import Group, JointModel
        >>> pairs = [(1.0, 0.1), (0.6, 0.7), (0.9, 0.4), (0.8, 0.5)] * 5      # the first is right
        >>> train = [Group([[a], [b]], labels=[1, 0]) for a, b in pairs]
        >>> model = JointModel(at_most_one="hard", random_state=0).fit(train)
        >>> group = Group([[0.9], [0.8], [0.1]])
        >>> model.predict([group])[0].tolist()
        [1, 0, 0]
        """
        groups, network, odds = self._odds(groups)
        if self.one_to_one:
            return network.split(match(*candidate_graph(groups), odds))
        plan, couplings = self._plan(network)
        return network.split(decode(plan, odds, couplings, self.calibration_.penalty))

    def predict_proba(self, groups: Sequence[Group]) -> list[Floats]:
        """Return the marginal probability that each candidate is a target.

        Parameters
        ----------
        groups : sequence of Group
            Their labels, if any, are ignored.

        Returns
        -------
        list of ndarray of shape (n_members,)
            Probabilities of label 1.

        Examples
        --------
        >>> from bblr.structured import Group, JointModel
        >>> pairs = [(1.0, 0.1), (0.6, 0.7), (0.9, 0.4), (0.8, 0.5)] * 5      # the first is right
        >>> train = [Group([[a], [b]], labels=[1, 0]) for a, b in pairs]
        >>> model = JointModel(at_most_one="hard", random_state=0).fit(train)
        >>> group = Group([[0.9], [0.8], [0.1]])
        >>> model.predict_proba([group])[0].round(2)      # one of them at most
        array([0.67, 0.33, 0.  ])
        """
        groups, network, odds = self._odds(groups)
        if self.one_to_one:
            left, right = candidate_graph(groups)
            if has_cycles(left, right):
                warn("the candidates' graph has cycles", _APPROXIMATE + "belief propagation")
            return network.split(match_probabilities(left, right, odds))
        plan, couplings = self._plan(network)
        if plan.large:
            warn(
                f"{len(plan.large)} parts of groups have more than max_states={self.max_states} "
                "feasible states",
                _APPROXIMATE + "Gibbs sampling",
            )
        found = infer(plan, odds, couplings, self.calibration_.penalty, self._seed_)
        return network.split(np.clip(found.member, 0.0, 1.0))

    def decision_function(self, groups: Sequence[Group]) -> list[Floats]:
        """Return the calibrated log odds of each candidate on its own.

        These are slope · logit p + shift, without constraint and similarities.

        Parameters
        ----------
        groups : sequence of Group
            Their labels, if any, are ignored.

        Returns
        -------
        list of ndarray of shape (n_members,)
            Log odds.

        Examples
        --------
        >>> from bblr.structured import Group, JointModel
        >>> pairs = [(1.0, 0.1), (0.6, 0.7), (0.9, 0.4), (0.8, 0.5)] * 5      # the first is right
        >>> train = [Group([[a], [b]], labels=[1, 0]) for a, b in pairs]
        >>> model = JointModel(at_most_one="hard", random_state=0).fit(train)
        >>> group = Group([[0.9], [0.8], [0.1]])
        >>> (model.decision_function([group])[0] > 0).tolist()
        [True, True, True]
        """
        _, network, odds = self._odds(groups)
        return network.split(odds)

    def predict_independent(self, groups: Sequence[Group]) -> list[Integers]:
        """Return the decisions of the local classifier alone.

        Parameters
        ----------
        groups : sequence of Group
            Their labels, if any, are ignored.

        Returns
        -------
        list of ndarray of shape (n_members,)
            1 where the local probability is above one half.

        Examples
        --------
        >>> from bblr.structured import Group, JointModel
        >>> pairs = [(1.0, 0.1), (0.6, 0.7), (0.9, 0.4), (0.8, 0.5)] * 5      # the first is right
        >>> train = [Group([[a], [b]], labels=[1, 0]) for a, b in pairs]
        >>> model = JointModel(at_most_one="hard", random_state=0).fit(train)
        >>> group = Group([[0.9], [0.8], [0.1]])
        >>> model.predict_independent([group])[0].tolist()
        [1, 1, 0]
        """
        _, network, local = self._local_logits(groups)
        return network.split((local > 0).astype(np.int64))

    def log_joint(self, group: Group, labels: Any = None, *, normalize: bool = False) -> float:
        """Return the log of the product of all factors for given labels of one group.

        Σ log p(Y|X) − penalty · (targets beyond the first) + weight · Σ log ratio of densities
        over pairs of targets. Candidates shared between groups are ignored.

        Parameters
        ----------
        group : Group
            One group.
        labels : array-like of shape (n_members,), default=None
            Labels; defaults to those of the group.
        normalize : bool, default=False
            Return log p(labels | X, S, D) instead: over all labels its exponential sums to 1.

        Returns
        -------
        float
            −inf for labels that ``at_most_one="hard"`` makes impossible; 0 for an empty group.

        Examples
        --------
        >>> from bblr.structured import Group, JointModel
        >>> pairs = [(1.0, 0.1), (0.6, 0.7), (0.9, 0.4), (0.8, 0.5)] * 5      # the first is right
        >>> train = [Group([[a], [b]], labels=[1, 0]) for a, b in pairs]
        >>> model = JointModel(at_most_one="hard", random_state=0).fit(train)
        >>> group = Group([[0.9], [0.8], [0.1]])
        >>> model.log_joint(group, [1, 0, 0]) > model.log_joint(group, [0, 1, 0])
        True
        >>> model.log_joint(group, [1, 1, 0])
        -inf
        """
        check_groups([group])
        if labels is None and group.labels is None:
            raise ValueError("labels are missing; the group has none.")
        y = check_labels(group.labels if labels is None else labels, len(group))
        _, network, odds = self._odds([group])
        plan, couplings = self._plan(network)
        score = log_score(plan, y, odds, couplings, self.calibration_.penalty)
        if score == -np.inf:
            return score
        if not normalize:
            return score - float(np.logaddexp(0.0, odds).sum())
        if plan.large:
            raise ValueError(
                f"normalize=True needs all states of a group of {len(group)}, more than "
                f"max_states={self.max_states}; raise max_states."
            )
        total = infer(plan, odds, couplings, self.calibration_.penalty).log_partition
        return score - float(total.sum())
