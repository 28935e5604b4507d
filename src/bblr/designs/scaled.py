"""A design in unit-free coordinates, in which every solver works.

Each feature is centred and scaled, but implicitly: the weights are transformed on the way in and
the gradients on the way out, and X is never touched. A step of 1 along any coordinate then means
the same for a feature in metres and one in millimetres, and so does a penalty.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.threads import one_blas_thread
from bblr.designs.base import Design, Floats, Look, varying
from bblr.designs.rows import Rows, Vector
from bblr.losses import Loss

# A column that varies by less than this, relative to its size, is constant up to rounding.
_FLAT = 1e-13
# Squares of columns are added, weighted and divided by each other: they must stay away from the
# ends of the range of floats, above all from the upper one.
_LARGEST, _SMALLEST = 1e120, 1e-150
# Columns farther from zero than this many standard deviations need double precision.
_FAR = 100.0
# A table of at most this many numbers and columns is copied into unit-free coordinates: it stays
# in cache, where plain loops are as fast as BLAS.
_SMALL, _SLIM = 1 << 20, 128
# Sums of products stay in the range of single precision up to this, and down to its inverse.
_NARROW = 1e18


def is_small_table(n_rows: int, n_features: int) -> bool:
    """Whether a dense table is fitted by compiled loops over a copy of it."""
    return n_features < _SLIM and n_rows * (n_features + 1) <= _SMALL


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
    rounding, or varies by less than 1e-150, s is infinite: it has a weight of exactly 0, and no
    parameter, so that it counts nowhere. One whose root mean square exceeds 1e120 is refused.
    Where no column varies, the first has a parameter all the same.

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
        # Operations on per-row vectors.
        self.rows: Rows = design.rows
        self.fit_intercept = fit_intercept
        self.uncorrelated = uncorrelated
        # The weights under which the median of `reach` was asked for, and that median.
        self.middle: tuple[Any, float] = None, 0.0
        # Which columns have a parameter: those that vary.
        self.varying: Any = slice(None)
        if plain:
            self.centre, self.scale = np.zeros(design.n_features), np.ones(design.n_features)
            self.rare = np.zeros(design.n_features, dtype=bool)
            self.n_features = design.n_features
            self.size = self.n_features + int(fit_intercept)
            self._units: tuple[Floats, Any, Floats] = self.scale, slice(0), np.zeros(0)
            return
        self.centre, self.scale, self.rare, square = _centre_scale(
            design, weight, fit_intercept, z_score
        )
        if np.isinf(self.scale).any():
            self.varying = varying(self.scale)
        # The parameters of a score; the columns of the matrix may be more.
        self.n_features = len(self.scale[self.varying])
        self.size = self.n_features + int(fit_intercept)
        inverse = 1.0 / self.scale[self.varying]
        shift = self.centre[self.varying] * inverse
        # Of wide text a few columns are centred.
        centred: Any = np.flatnonzero(shift)
        if 2 * len(centred) > self.n_features:
            centred = slice(self.n_features)
        self._units = inverse, centred, shift[centred]
        # The effective number of features of a row.
        self.mean_square_length = float(((np.sqrt(square) / self.scale) ** 2).sum())
        if not design.is_double and self._can_be_narrow:
            self.design = design.narrowed()
            self.rows = self.design.rows

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

    def taken(self, rows: NDArray[np.intp]) -> ScaledDesign | None:
        """Return some rows in the coordinates of all of them, or None if they cannot be read."""
        design = self.design.taken(rows)
        if design is None:
            return None
        few = copy(self)
        few.design, few.rows, few.middle = design, design.rows, (None, 0.0)
        for of_all_rows in ("square_lengths", "reach", "columns", "kernel_columns", "_moving"):
            vars(few).pop(of_all_rows, None)
        columns = vars(self).get("columns")
        if columns is not None:
            few.columns = np.take(columns, rows, axis=1)
        return few

    @cached_property
    def columns(self) -> Floats | None:
        """All rows in these coordinates, a column after the other, where the table is small."""
        design = self.design
        small = is_small_table(design.n_rows, self.n_features)
        if not (small and design.is_dense) or self.uncorrelated:
            return None
        return self.coordinates(design.table())

    @cached_property
    def kernel_columns(self) -> Floats | None:
        """The same where the columns are uncorrelated: L-BFGS serves however many they are."""
        design = self.design
        small = self.uncorrelated and design.n_rows * self.size <= _SMALL
        return self.coordinates(design.table()) if small and design.is_dense else None

    def drawn(self, rows: NDArray[np.intp]) -> Any:
        """Return some rows in these coordinates on their own device, None if that is here."""
        return self.design.drawn(rows, self.centre, self.scale, self.fit_intercept)

    def coordinates(self, table: Floats) -> Floats:
        """Return rows in these coordinates, a column after the other, the intercept's last."""
        Zt = np.ones((self.size, len(table)))
        own = Zt[: self.n_features]
        some = self.varying
        np.subtract(table.T[some], self.centre[some, None], out=own)
        own /= self.scale[some, None]
        return Zt

    def unpack(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return weights (score x feature) and intercepts in the units of X.

        `theta` holds a row for each score, the intercept last.
        """
        inverse, centred, shift = self._units
        coef = np.zeros((len(theta), len(self.scale)))
        for out, own in zip(coef, theta, strict=True):
            out[self.varying] = own[: self.n_features] * inverse
        intercepts = theta[:, -1] if self.fit_intercept else np.zeros(len(theta))
        return coef, intercepts - theta[:, : self.n_features][:, centred] @ shift

    def plane(self, theta: Floats) -> tuple[Floats, float]:
        """Return weights and intercept of one score, in the units of X."""
        (coef,), (intercept,) = self.unpack(theta[None])
        return coef, float(intercept)

    def pack(self, coef: Floats, intercepts: Floats) -> Floats:
        """Return the parameters of weights and intercepts in the units of X."""
        theta = np.zeros((len(coef), self.size))
        own, some = theta[:, : self.n_features], self.varying
        scale = self.scale[some]
        np.multiply(coef[:, some], scale, out=own, where=scale < np.inf)
        if self.fit_intercept:
            theta[:, -1] = intercepts + coef @ self.centre
        return theta

    def scores(self, theta: Floats) -> Vector:
        """Return the raw scores of every row."""
        if self.columns is None:
            return self.design.scores(*self.unpack(theta))
        with one_blas_thread(self.design.n_rows):
            raw = self.columns.T @ theta.T
        return raw[:, 0] if len(theta) == 1 else raw

    def _parameter_gradient(self, gradient: Floats, slopes: Floats) -> Floats:
        out = np.empty((len(gradient), self.size))
        inverse, centred, shift = self._units
        for own, slope, end in zip(gradient, slopes, out, strict=True):
            np.multiply(own[self.varying], inverse, out=end[: self.n_features])
            end[centred] -= slope * shift
        if self.fit_intercept:
            out[:, -1] = slopes
        return out

    def value_gradient(
        self, theta: Floats, y: Vector, weight: Vector, loss: Loss
    ) -> tuple[float, Floats, Vector]:
        """Return the weighted loss, its gradient and the raw scores."""
        done = self.design.value_gradient(*self.unpack(theta), y, weight, loss)
        return done.value, self._parameter_gradient(done.gradient, done.slopes), done.raw

    def _axis(self, p: int) -> tuple[int | None, float, float]:
        """Return the column of a parameter, None for the intercept, its centre and its scale."""
        if p == self.n_features:
            return None, 0.0, 1.0
        j = p if isinstance(self.varying, slice) else int(self.varying[p])
        return j, float(self.centre[j]), float(self.scale[j])

    def probes(
        self,
        raw: Vector,
        places: Sequence[tuple[int, int]],
        steps: Floats,
        y: Vector,
        weight: Vector,
        loss: Loss,
    ) -> list[Floats]:
        """Return the weighted loss with each of the steps added to parameter p of score k.

        `places` are the pairs (k, p).
        """
        looks: list[Look] = []
        for k, p in places:
            j, centre, scale = self._axis(p)
            looks.append((j, centre, k, steps / scale))
        return self.design.probes(raw, looks, y, weight, loss)

    def rmatvec(self, residual: Vector) -> Floats:
        """Return the direction in the space of one score's parameters along a per-row vector."""
        total = np.array([self.rows.total(residual)])
        return self._parameter_gradient(self.design.rmatvec(residual)[None], total)[0]

    def shifted(self, raw: Vector, k: int, p: int, step: float) -> Vector:
        """Return the raw scores after a step along parameter p of score k."""
        j, centre, scale = self._axis(p)
        return self.design.shifted(raw, j, centre, k, step / scale)

    def axis_line(
        self, decision: Vector, k: int, p: int, y: Vector, weight: Vector
    ) -> tuple[float, float, float]:
        """Return the best step of the zero-one loss along a parameter, and what it saves."""
        j, centre, scale = self._axis(p)
        if np.isinf(scale):
            return 0.0, 0.0, 0.0  # a constant column
        step, errors, before = self.design.axis_line(decision, j, centre, k, y, weight)
        return step * scale, errors, before

    @cached_property
    def square_lengths(self) -> Vector:
        """The squared length of each row in these coordinates."""
        if self.columns is not None:
            squares = np.einsum("ji,ji->i", self.columns, self.columns)
            return squares if self.fit_intercept else squares + 1.0
        return self.design.square_norm(self.centre, self.scale) + 1.0

    @cached_property
    def reach(self) -> Vector:
        """The squared length of each row, as `leverage` has it."""
        if not (self.rare & (self.scale < np.inf)).any():
            return self.square_lengths
        # In mostly-zero columns a long row is one with many entries, not an outlier.
        return self.design.square_norm(self.centre, np.where(self.rare, np.inf, self.scale)) + 1.0

    def leverage(self, limit: float, weight: Vector) -> Vector:
        """Return factors in (0, 1] that bound the leverage of rows far from the centre.

        A row whose squared length exceeds `limit` times the weighted median counts less, by the
        square of the excess; its influence on a weight then falls with its distance instead of
        growing. Columns that are mostly zero do not count towards the length.
        """
        length, (of, middle) = self.reach, self.middle
        if of is not weight:
            middle = self.rows.median(length, weight)
        return self.rows.falloff(length, limit * middle)

    @cached_property
    def _moving(self) -> tuple[Design, Any]:
        """The design that second moments are formed of, and which of its columns vary.

        The matrix of all columns may be far larger than that of those: hashed words of a few
        rows have hundreds of thousands of columns, and only hundreds with a word.
        """
        few = None
        if 2 * self.n_features < self.design.n_features:
            few = self.design.of_columns(self.varying)
        return (self.design, self.varying) if few is None else (few, slice(None))

    def curvature(self, weight: Vector, max_rows: int) -> Floats:
        """Return the matrix of second moments in parameter space under row weights.

        With more than `max_rows` rows it is estimated from a sample of about that many, drawn in
        proportion to what a row contributes. The same input gives the same matrix.
        """
        d, (design, some) = self.n_features, self._moving
        whole = design is self.design
        centre = self.centre if whole else self.centre[self.varying]
        cross, edge, total = design.sampled_curvature(
            weight, self.square_lengths, max_rows, centre
        )
        out = np.empty((self.size, self.size))
        inverse = 1.0 / self.scale[self.varying]
        np.multiply(cross[some][:, some], inverse, out=out[:d, :d])
        out[:d, :d] *= inverse[:, None]
        if self.fit_intercept:
            out[d, :d] = out[:d, d] = edge[some] * inverse
            out[d, d] = total
        return out

    def on_device(self, *, dense: bool, **settings: Any) -> Any:
        """Return the objective with its parameters on the rows' device, or None."""
        if not self.design.is_remote:
            return None
        lengths = self.square_lengths if dense else None
        units = self.centre, self.scale, self.fit_intercept
        return self.design.on_device(lengths, *units, dense, **settings)

    def column_squares(self, weight: Vector) -> Floats:
        """Return the diagonal of `curvature`, over all rows."""
        out = np.empty(self.size)
        square = self.design.column_squares(weight, self.centre)
        some = self.varying
        out[: self.n_features] = square[some] / self.scale[some] ** 2
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
        # Without an intercept columns cannot be centred.
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
    """Return which columns are constant up to rounding, or too small to distinguish from zero."""
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
