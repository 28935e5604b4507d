"""A design in coordinates without units: the ones every solver works in.

Each feature is centred and scaled, but implicitly: the weights are transformed on the way in and
the gradients on the way out, and X is never touched. A step of 1 along any coordinate then means
the same for a feature in metres and one in millimetres, and so does a penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.designs.base import Design, ElementwiseLoss, Floats, Look, SoftmaxLoss
from bblr.designs.rows import Rows, Vector

# A column that varies by less than this share of its size is constant up to rounding.
_FLAT = 1e-13
# Squares of columns are added, weighted and divided by each other: they must stay away from the
# ends of the range of floats, above all from the upper one.
_LARGEST, _SMALLEST = 1e120, 1e-150
# Columns farther from zero than this many standard deviations need all digits of a product.
_FAR = 100.0
# Sums of products stay in the range of single precision up to this, and down to its inverse.
_NARROW = 1e18


class ScaledDesign:
    """Parameters theta = (u, intercept) with raw = sum_j u_j (x_j - m_j) / s_j + intercept.

    Parameters
    ----------
    design : Design
        The matrix.
    weight : ndarray of shape (n_rows,)
        Row weights of the moments.
    fit_intercept : bool
        Without an intercept nothing is centred.
    z_score : bool, default=False
        Use the sample mean and standard deviation (ddof = 1) of every column, however sparse.
    plain : bool, default=False
        Leave the columns as they are, centred on 0 with a scale of 1: they have no units, as the
        coordinates of a kernel.
    uncorrelated : bool, default=False
        The columns are nearly uncorrelated, so that a diagonal serves to precondition.

    Notes
    -----
    m and s are the weighted mean and standard deviation. Of a column that is constant up to
    rounding, or varies by less than 1e-150, s is infinite: it takes no part, and has a weight of
    exactly 0. One whose root mean square exceeds 1e120 is refused.

    A column that is zero in more than half of the rows is an indicator or a count of something
    rare: its zeros mean "not there", so it is not centred, and s is the geometric mean of two root
    mean squares, that of all entries and that of the entries other than zero. By the latter alone
    a penalty holds a rare word back as much as a frequent one, though what is rare tells more
    where it occurs; by the former alone every word may move the scores as much as any other, and
    words seen once or twice drown the rest. This keeps sparse matrices sparse, and is the same
    whether the matrix is stored dense or sparse.
    """

    def __init__(
        self,
        design: Design,
        weight: Floats,
        fit_intercept: bool,
        *,
        z_score: bool = False,
        plain: bool = False,
        uncorrelated: bool = False,
    ) -> None:
        self.design = design
        self.fit_intercept = fit_intercept
        self.uncorrelated = uncorrelated
        self.n_features = design.n_features
        self.size = design.n_features + int(fit_intercept)
        if plain:
            self.centre, self.scale = np.zeros(self.n_features), np.ones(self.n_features)
            self.rare = np.zeros(self.n_features, dtype=bool)
            return
        self.centre, self.scale, self.rare, square = _centre_scale(
            design, weight, fit_intercept, z_score
        )
        # How many features a row has, in effect.
        self.mean_square_length = float(((np.sqrt(square) / self.scale) ** 2).sum())
        if self._can_be_narrow:
            self.design = design.narrowed()

    @property
    def _can_be_narrow(self) -> bool:
        """Whether products in single precision keep enough digits, and their range."""
        far = np.abs(self.centre)
        size = np.maximum(far, np.where(np.isinf(self.scale), 0.0, self.scale))
        return bool(
            np.all(far <= _FAR * self.scale)
            and np.all(size <= _NARROW)
            and np.all(self.scale >= 1.0 / _NARROW)
        )

    @property
    def rows(self) -> Rows:
        """What can be done with a number a row."""
        return self.design.rows

    def taken(self, rows: NDArray[np.intp]) -> ScaledDesign | None:
        """Return some rows in the coordinates of all of them, or None where they cannot be had."""
        design = self.design.taken(rows)
        if design is None:
            return None
        few = copy(self)
        few.design = design
        for of_all_rows in ("_square_norm", "_reach"):
            vars(few).pop(of_all_rows, None)
        return few

    def unpack(self, theta: Floats) -> tuple[Floats, float]:
        """Return the weights and the intercept in the units of X."""
        coef = theta[: self.n_features] / self.scale
        intercept = float(theta[-1]) if self.fit_intercept else 0.0
        return coef, intercept - float(self.centre @ coef)

    def pack(self, coef: Floats, intercept: float) -> Floats:
        """Return the parameters of weights and intercept in the units of X."""
        theta = np.zeros(self.size)
        np.multiply(coef, self.scale, out=theta[: self.n_features], where=self.scale < np.inf)
        if self.fit_intercept:
            theta[-1] = intercept + float(self.centre @ coef)
        return theta

    def scores(self, theta: Floats) -> Vector:
        """Return the raw score of every row."""
        return self.design.scores(*self.unpack(theta))

    def unpack_many(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the weights (class x feature) and intercepts in the units of X."""
        coef = theta[:, : self.n_features] / self.scale
        shift = coef @ self.centre
        return coef, (theta[:, -1] if self.fit_intercept else 0.0) - shift

    def pack_many(self, coef: Floats, intercepts: Floats) -> Floats:
        """Return the parameters, a row a class, of weights and intercepts in the units of X."""
        rows = zip(coef, intercepts, strict=True)
        return np.stack([self.pack(weights, float(intercept)) for weights, intercept in rows])

    def many_scores(self, theta: Floats) -> Vector:
        """Return the raw scores of every row, a column a class; `theta` has a row a class."""
        return self.design.many_scores(*self.unpack_many(theta))

    def many_value_gradient(
        self, theta: Floats, y: Any, weight: Vector, loss: SoftmaxLoss
    ) -> tuple[float, Floats, Vector]:
        """Return the weighted loss of many classes, its gradient and the raw scores."""
        done = self.design.many_value_gradient(*self.unpack_many(theta), y, weight, loss)
        gradient = np.empty_like(theta)
        gradient[:, : self.n_features] = (
            done.gradient - np.outer(done.slopes, self.centre)
        ) / self.scale
        if self.fit_intercept:
            gradient[:, -1] = done.slopes
        return done.value, gradient, done.raw

    def _parameter_gradient(self, gradient: Floats, slope: float) -> Floats:
        out = np.empty(self.size)
        out[: self.n_features] = (gradient - self.centre * slope) / self.scale
        if self.fit_intercept:
            out[-1] = slope
        return out

    def value_gradient(
        self, theta: Floats, y: Vector, weight: Vector, loss: ElementwiseLoss
    ) -> tuple[float, Floats, Vector]:
        """Return the weighted loss, its gradient and the raw scores."""
        done = self.design.value_gradient(*self.unpack(theta), y, weight, loss)
        return done.value, self._parameter_gradient(done.gradient, done.slope), done.raw

    def _is_intercept(self, j: int) -> bool:
        return j == self.n_features

    def probe(
        self, raw: Vector, j: int, steps: Floats, y: Vector, weight: Vector, loss: ElementwiseLoss
    ) -> Floats:
        """Return the weighted loss with each of the steps added to parameter j."""
        return self.probe_many(raw, (j,), steps, y, weight, loss)[0]

    def probe_many(
        self,
        raw: Vector,
        js: Sequence[int],
        steps: Floats,
        y: Vector,
        weight: Vector,
        loss: ElementwiseLoss,
    ) -> list[Floats]:
        """Return the same for each of several parameters."""
        looks: list[Look] = [
            (None, 0.0, steps)
            if self._is_intercept(j)
            else (j, float(self.centre[j]), steps / self.scale[j])
            for j in js
        ]
        return self.design.probes(raw, looks, y, weight, loss)

    def many_probe(
        self,
        raw: Vector,
        places: Sequence[tuple[int, int]],
        steps: Floats,
        y: Vector,
        weight: Vector,
        loss: SoftmaxLoss,
    ) -> list[Floats]:
        """Return the weighted loss with each of the steps added to parameter p of class k."""
        changes = [(self.along(p, weight), k) for k, p in places]
        return self.rows.many_probes(raw, changes, steps, y, weight, loss)

    def pull(self, residual: Vector) -> Floats:
        """Return the direction in parameter space in which raw scores grow along `residual`."""
        return self._parameter_gradient(self.design.pull(residual), self.rows.total(residual))

    def along(self, j: int, like: Vector) -> Vector:
        """Return the change of the raw scores per unit of parameter j, a vector beside another."""
        if self._is_intercept(j):
            return self.rows.ones(like)
        return self.design.along(j, float(self.centre[j])) * (1.0 / float(self.scale[j]))

    def shifted(self, raw: Vector, j: int, step: float) -> Vector:
        """Return the raw scores after a step along parameter j."""
        if self._is_intercept(j):
            return raw + step
        return self.design.shifted(raw, j, float(self.centre[j]), step / float(self.scale[j]))

    def axis_line(
        self, raw: Vector, j: int, y: Vector, weight: Vector, threshold: float
    ) -> tuple[float, float, float]:
        """Return the best step of the zero-one loss along parameter j, and what it saves."""
        if self._is_intercept(j) or np.isinf(self.scale[j]):
            return self.rows.line(raw, self.along(j, raw), y, weight, threshold)
        centre, scale = float(self.centre[j]), float(self.scale[j])
        step, errors, before = self.design.axis_line(raw, j, centre, y, weight, threshold)
        return step * scale, errors, before

    @cached_property
    def _square_norm(self) -> Vector:
        return self.design.square_norm(self.centre, self.scale) + 1.0

    def lengths(self, rows: NDArray[np.intp]) -> Floats:
        """Return the squared lengths of some rows, as `leverage` has them."""
        return self.rows.local(self.rows.pick(self._reach, rows))

    @cached_property
    def _reach(self) -> Vector:
        if not self.rare.any():
            return self._square_norm
        # In columns that are mostly zero a long row is a rich one, not one that lies far out.
        return self.design.square_norm(self.centre, np.where(self.rare, np.inf, self.scale)) + 1.0

    def leverage(self, limit: float, weight: Vector) -> Vector:
        """Return factors in (0, 1] that bound the pull of rows far from the centre.

        A row whose squared length exceeds `limit` times the weighted median counts less, by the
        square of the excess; its pull on a weight then falls with its distance instead of growing.
        Columns that are mostly zero do not count towards the length.
        """
        length = self._reach
        return self.rows.falloff(length, limit * self.rows.median(length, weight))

    def curvature(self, weight: Vector, max_rows: int) -> Floats:
        """Return the matrix of second moments in parameter space under row weights.

        With more than `max_rows` rows it is estimated from a sample of about that many, drawn in
        proportion to what a row contributes. The same input gives the same matrix.
        """
        d = self.n_features
        cross, edge, total = self.design.sampled_curvature(
            weight, self._square_norm, max_rows, self.centre
        )
        out = np.empty((self.size, self.size))
        inverse = 1.0 / self.scale
        np.multiply(cross, inverse, out=out[:d, :d])
        out[:d, :d] *= inverse[:, None]
        if self.fit_intercept:
            out[d, :d] = out[:d, d] = edge / self.scale
            out[d, d] = total
        return out

    def newton(
        self, weight: Vector, max_rows: int, floor: Floats, least: float
    ) -> Callable[[Floats], Floats] | None:
        """Return what solves systems of `curvature` plus a diagonal, where the rows do so.

        The diagonal is `floor`, plus a thousandth of the mean weight of a parameter, or `least`.
        """
        units = self.centre, self.scale
        return self.design.newton(
            weight, self._square_norm, max_rows, *units, floor, least, self.fit_intercept
        )

    def square_pull(self, weight: Vector) -> Floats:
        """Return the diagonal of `curvature`, over all rows."""
        out = np.empty(self.size)
        square = self.design.square_pull(weight, self.centre)
        out[: self.n_features] = square / self.scale**2
        if self.fit_intercept:
            out[-1] = self.rows.total(weight)
        return out


def _centre_scale(
    design: Design, weight: Floats, fit_intercept: bool, z_score: bool
) -> tuple[Floats, Floats, NDArray[np.bool_], Floats]:
    """Return the centre and scale of each column, whether it is mostly zero, and its square."""
    with np.errstate(over="ignore", invalid="ignore"):
        moments = design.moments(weight)
    _check_range(moments.mean_square)
    rare = moments.nonzero < 0.5 - 1e-9
    if z_score:
        # Without an intercept nothing can make up for a centre.
        square = moments.variance if fit_intercept else moments.mean_square
        scale = np.sqrt(square * moments.total / max(moments.total - 1.0, 1.0))
        flat = _is_flat(scale, moments.mean_square)
        centre = moments.mean if fit_intercept else np.zeros(design.n_features)
        return centre, np.where(flat, np.inf, scale), rare, square
    with np.errstate(divide="ignore", invalid="ignore"):
        about_zero = np.sqrt(moments.mean_square) / moments.nonzero**0.25
    if not fit_intercept:
        centre, scale = np.zeros(design.n_features), about_zero
    else:
        centre = np.where(rare, 0.0, moments.mean)
        scale = np.where(rare, about_zero, np.sqrt(moments.variance))
    flat = _is_flat(scale, moments.mean_square) | ~np.isfinite(scale)
    square = np.where(centre == 0.0, moments.mean_square, moments.variance)
    return centre, np.where(flat, np.inf, scale), rare, square


def _is_flat(scale: Floats, mean_square: Floats) -> NDArray[np.bool_]:
    """Return which columns are constant up to rounding, or too small to be told from zero."""
    return ~(scale > np.maximum(_FLAT * np.sqrt(mean_square), _SMALLEST))


def _check_range(mean_square: Floats) -> None:
    """Raise a ValueError unless the columns can be squared."""
    wrong = np.flatnonzero(~(mean_square <= _LARGEST**2))
    if len(wrong):
        raise ValueError(
            f"X holds numbers too large to compute with, in {len(wrong)} of its "
            f"{len(mean_square)} columns, column {wrong[0]} first: their root mean square must be "
            f"at most {_LARGEST:g}. Divide them by a constant, for instance with "
            "sklearn.preprocessing.MaxAbsScaler."
        )
