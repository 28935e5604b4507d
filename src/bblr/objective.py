"""The objective joins the rooms: sum of weighted losses plus the penalty, over one design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np

from bblr._numeric.threads import one_blas_thread
from bblr.curvature import Preconditioner, curvature_of, has_matrix, sample_rows
from bblr.designs import small_tables
from bblr.designs.base import Floats
from bblr.designs.rows import Rows, Vector
from bblr.designs.scaled import ScaledDesign
from bblr.designs.small_lbfgs import lbfgs_descent
from bblr.losses import Loss
from bblr.penalties import Gaussian, Penalty

__all__ = ["Objective"]

LossT = TypeVar("LossT", bound=Loss)
OtherLoss = TypeVar("OtherLoss", bound=Loss)


@dataclass(frozen=True, eq=False)
class Objective(Generic[LossT]):
    """sum_i weight_i * loss(y_i, raw_i(theta)) + penalty(theta), as a pure function of theta.

    The loss fixes the number of scores per row: one with two classes. Solvers see theta as one
    vector: the parameters of one score after the other, each with its intercept last. Scores are
    not kept between calls; a caller that already has the scores of theta may pass them in.

    Parameters
    ----------
    loss : Loss
        Loss of the score or scores of a row.
    penalty : Penalty
        Penalty on the weights; it never sees an intercept.
    design : ScaledDesign
        The data in unit-free coordinates.
    y : per-row vector
        Labels, -1 or +1, or class numbers where a row has several scores.
    weight : per-row vector
        Weight of each row.
    counted : per-row vector or None
        Weights before the leverage of far rows was bounded; None where it was not.
    each : tuple of float or None
        What one example of each class weighs, by its class alone; None for 1.

    Attributes
    ----------
    n_scores : int
        Number of scores per row.
    size : int
        Number of parameters.
    n_rows : int
        Number of rows.
    rows : Rows
        Operations on per-row vectors.
    l2 : float or None
        Strength of the penalty if it is L2.

    Notes
    -----
    Labels, weights and scores are vectors of the design's own kind, see `designs/rows.py`.
    """

    loss: LossT
    penalty: Penalty
    design: ScaledDesign
    y: Vector
    weight: Vector
    counted: Vector | None = None
    each: tuple[float, ...] | None = None
    n_scores: int = field(init=False)
    size: int = field(init=False)
    n_rows: int = field(init=False)
    rows: Rows = field(init=False)
    l2: float | None = field(init=False)

    def __post_init__(self) -> None:
        n_scores, rows = self.loss.n_scores, self.design.design
        size = n_scores * self.design.size
        # Not of a subclass, which may cost more than the L2 penalty.
        l2 = float(self.penalty.l2) if type(self.penalty) is Gaussian else None
        # Asked for many times in a fit.
        vars(self).update(n_scores=n_scores, size=size, n_rows=rows.n_rows, rows=rows.rows, l2=l2)

    @property
    def batch(self) -> int:
        """How many parameters or directions to evaluate together."""
        return self.design.design.batch

    @property
    def columns(self) -> Floats | None:
        """All rows of a small table in the coordinates of theta; None without a compiled form.

        A compiled descent knows losses with a fused form, and the L2 penalty.
        """
        return self._compiled(self.design.columns)

    def _compiled(self, columns: Floats | None) -> Floats | None:
        known = self.loss.fused is not None and self.l2 is not None
        return columns if known else None

    @property
    def newton_columns(self) -> Floats | None:
        """The same for compiled Newton steps, which know rows of one score."""
        return self.columns if self.n_scores == 1 else None

    def on_device(self) -> Any:
        """Return the same objective with its parameters on the rows' device; None if that is here.

        There, a step of a descent waits for a few numbers instead of gradients and matrices.
        """
        if self.l2 is None:
            return None
        return self.design.on_device(
            y=self.y, weight=self.weight, loss=self.loss, l2=self.l2, unit=self.unit,
            total=self.total, most=sample_rows(self.size), dense=has_matrix(self.design),
        )  # fmt: skip

    def _there(self, descent: str, *arguments: Any) -> Any:
        """Descend on the rows' device; None if they are here, or it does not know such steps."""
        descend = getattr(self.on_device(), descent, None)
        return None if descend is None else descend(*arguments)

    def newton_descent(self, theta: Floats, rules: Sequence[Any]) -> Any:
        """Descend by compiled Newton steps in a small table, or on the device of the rows.

        A row has one score. See :func:`bblr.designs.small_tables.newton_descent` for what is
        returned, None where the descent is left to the caller.
        """
        columns = self.newton_columns
        if columns is None:
            return self._there("newton_descent", theta, small_tables.Rules(*rules))
        return small_tables.newton_descent(
            columns, self._lengths, self.y, self.weight, self.loss.fused, self.l2,
            self.design.n_features, theta, small_tables.Rules(*rules), self.unit, self.total,
            sample_rows(self.size),
        )  # fmt: skip

    def lbfgs_descent(
        self, theta: Floats, precondition: Any, rules: Sequence[Any], memory: int
    ) -> Any:
        """Descend by compiled steps of L-BFGS.

        They are there in a small table, in the coordinates of a kernel, and for several scores on
        the device of the rows. See :func:`bblr.designs.small_lbfgs.lbfgs_descent` for what is
        returned, None where the descent is left to the caller.
        """
        one = self.n_scores == 1
        columns = self._compiled(self.design.kernel_columns) if one else self.columns
        if columns is None:
            return self._there(
                "lbfgs_descent", self.by_score(theta),
                lambda raw: precondition or self.preconditioner(theta, raw),
                small_tables.Rules(*rules), memory,
            )  # fmt: skip
        if precondition is None:
            precondition = self.preconditioner(theta)
        curvature: Any
        if one:
            curvature = None, precondition.diagonal[None], None
        else:
            vectors = np.ascontiguousarray(precondition.vectors)
            curvature = vectors, precondition.diagonal, precondition.totals
        with one_blas_thread(len(self.y)):
            found = lbfgs_descent(
                columns, self.y, self.weight, self.loss.fused, self.l2, self.design.n_features,
                self.by_score(theta), *curvature, small_tables.Rules(*rules), self.unit, memory,
            )  # fmt: skip
        return found[0].ravel(), found[1], found[2][:, 0] if one else found[2], *found[3:]

    def newton_path(
        self,
        first_weight: Floats | None,
        gammas: Sequence[float],
        rules: Sequence[Any],
        first_rules: Sequence[Any],
        scored: Floats,
    ) -> tuple[Floats, Floats]:
        """Descend so at each gamma; see :func:`bblr.designs.small_tables.newton_path`."""
        first = self.weight if first_weight is None else first_weight
        return small_tables.newton_path(
            self.columns, self._lengths, self.y, self.weight, first,
            self.loss.fused, np.array(gammas), self.l2, self.design.n_features,
            small_tables.Rules(*rules), small_tables.Rules(*first_rules), self.unit,
            min(1.0, float(first.max())), self.total, sample_rows(self.size), scored,
        )  # fmt: skip

    @property
    def _lengths(self) -> Vector | None:
        """The squared length of each row, where a curvature needs it to draw rows."""
        every = self.n_rows <= sample_rows(self.size)
        return None if every else self.design.square_lengths

    def by_score(self, theta: Floats) -> Floats:
        """Return theta with a row for each score."""
        return theta.reshape(self.n_scores, self.design.size)

    def weights(self, theta: Floats) -> Floats:
        """Return the parameters that the penalty sees."""
        return self.by_score(theta)[:, : self.design.n_features].ravel()

    def scores(self, theta: Floats) -> Vector:
        """Return the raw scores of every row; a single one has no second axis."""
        return self.design.scores(self.by_score(theta))

    def unpack(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return ``coef_`` and ``intercept_`` of the decision, in the units of X."""
        coef, intercepts = self.design.unpack(self.by_score(theta))
        return coef, intercepts + np.array(self.loss.shift)

    def pack(self, coef: Floats, intercept: Floats) -> Floats:
        """Return the parameters of a decision, given in the units of X."""
        return self.design.pack(coef, intercept - np.array(self.loss.shift)).ravel()

    def value(self, theta: Floats, raw: Vector | None = None) -> float:
        """Return the objective."""
        raw = self.scores(theta) if raw is None else raw
        cost = self.rows.cost(self.loss, self.y, raw, self.weight)
        return cost + self.penalty.value(self.weights(theta))

    def value_gradient(self, theta: Floats) -> tuple[float, Floats, Vector]:
        """Return the objective, its gradient and the raw scores, in one pass over the data."""
        value, gradient, raw = self.design.value_gradient(
            self.by_score(theta), self.y, self.weight, self.loss
        )
        weights = self.weights(theta)
        slopes = self.penalty.gradient(weights)
        gradient[:, : self.design.n_features] += slopes.reshape(self.n_scores, -1)
        return value + self.penalty.value(weights), gradient.ravel(), raw

    def probe(self, theta: Floats, j: int, steps: Floats, raw: Vector | None = None) -> Floats:
        """Return the objective with each of the steps added to parameter j."""
        return self.probes(theta, (j,), steps, raw)[0]

    def probes(
        self, theta: Floats, js: Sequence[int], steps: Floats, raw: Vector | None = None
    ) -> list[Floats]:
        """Return the objective along several parameters, evaluated together."""
        raw = self.scores(theta) if raw is None else raw
        places = [divmod(j, self.design.size) for j in js]
        costs = self.design.probes(raw, places, steps, self.y, self.weight, self.loss)
        weights, d = self.weights(theta), self.design.n_features
        return [
            cost
            + (
                self.penalty.value(weights)
                if p == d
                else self.penalty.along(weights, k * d + p, steps)
            )
            for (k, p), cost in zip(places, costs, strict=True)
        ]

    def errors(self, theta: Floats, raw: Vector | None = None) -> float:
        """Return the weighted zero-one loss, strict: a tie is an error."""
        raw = self.scores(theta) if raw is None else raw
        return self.rows.errors(self.loss, self.y, raw, self.weight)

    def training_errors(self, theta: Floats, raw: Vector | None = None) -> float:
        """Return the zero-one loss, with the weights that rows had before leverage was bounded."""
        raw = self.scores(theta) if raw is None else raw
        weight = self.weight if self.counted is None else self.counted
        return self.rows.errors(self.loss, self.y, raw, weight)

    def rmatvec(self, residual: Vector) -> Floats:
        """Return the product of the transposed data with a per-row vector, for one score."""
        return self.design.rmatvec(residual)

    def shifted(self, raw: Vector, j: int, step: float) -> Vector:
        """Return the raw scores after a step along parameter j."""
        return self.design.shifted(raw, *divmod(j, self.design.size), step)

    def line(self, raw: Vector, change: Vector) -> tuple[float, float]:
        """Return the step of fewest errors along a change of the scores, and the errors there."""
        decision = self.rows.decision(self.loss, raw)
        return self.rows.line(decision, change, self.y, self.weight)[:2]

    def axis_line(self, raw: Vector, j: int) -> tuple[float, float]:
        """Return the step of fewest errors along parameter j, and how many fewer they are."""
        decision, (k, p) = self.rows.decision(self.loss, raw), divmod(j, self.design.size)
        step, errors, before = self.design.axis_line(decision, k, p, self.y, self.weight)
        return step, before - errors

    def lines(self, raw: Vector, directions: Floats) -> list[tuple[float, float]]:
        """Return the best step and its errors along each of several directions."""
        changes = [self.scores(direction) for direction in directions]
        decision = self.rows.decision(self.loss, raw)
        lines = self.rows.lines(decision, changes, self.y, self.weight)
        return [(step, errors) for step, errors, _ in lines]

    def with_gamma(self, gamma: float) -> Self:
        """Return the same objective with the loss sharpened."""
        loss = self.loss.sharpened(gamma)
        return self if loss is self.loss else replace(self, loss=loss)

    def with_loss(self, loss: OtherLoss) -> Objective[OtherLoss]:
        """Return the same objective under another loss."""
        return Objective(
            loss, self.penalty, self.design, self.y, self.weight, self.counted, self.each
        )

    def with_penalty(self, penalty: Penalty) -> Self:
        """Return the same objective under another penalty."""
        return type(self)(
            self.loss, penalty, self.design, self.y, self.weight, self.counted, self.each
        )

    def bounded(self, limit: float) -> Self:
        """Return the same objective with the leverage of far rows bounded (Mallows' weights)."""
        weight = self.weight * self.design.leverage(limit, self.weight)
        counted = self.weight if self.counted is None else self.counted
        return replace(self, weight=weight, counted=counted)

    def unbounded(self) -> Self:
        """Return the same objective without the bound on leverage."""
        if self.counted is None:
            return self
        return replace(self, weight=self.counted, counted=None)

    def fisher(self, raw: Vector) -> Vector:
        """Return the weight of each row times the Fisher information of its raw scores."""
        return self.rows.fisher(self.loss, raw, self.weight)

    def information(self, theta: Floats) -> list[Floats]:
        """Return, score by score, the Fisher information plus the penalty's, over all rows."""
        d = self.design.n_features
        floors = self.penalty.curvature(self.weights(theta)).reshape(self.n_scores, d)
        fisher = self.fisher(self.scores(theta))
        found = []
        for k, floor in enumerate(floors):
            matrix = self.design.curvature(self.rows.column(fisher, k), max_rows=self.n_rows)
            matrix[np.diag_indices(d)] += floor
            found.append(matrix)
        return found

    def preconditioner(
        self, theta: Floats, raw: Vector | None = None, least: float = 0.0
    ) -> Preconditioner:
        """Return the inverse of a curvature at theta that is never negative, penalty included.

        With several scores per row that by an intercept is not below `least`, as a share of the
        weight of all rows.
        """
        raw = self.scores(theta) if raw is None else raw
        return curvature_of(self)(self, theta, raw, least)

    @cached_property
    def unit(self) -> float:
        """The largest weight of a row, or 1 if less: what a tolerance is counted in."""
        return min(1.0, self.rows.largest(self.weight))

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return self.rows.total(self.weight)
