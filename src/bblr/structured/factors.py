"""Densities of the similarity of two targets, and of all other pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

__all__ = ["SIMILARITIES", "Evidence", "fit_evidence"]

Floats = NDArray[np.float64]
Family = Literal["gaussian", "beta", "kde"]

SIMILARITIES: tuple[Family, ...] = ("gaussian", "beta", "kde")

# Least spread of a density, as a share of the range: a narrower one comes from few pairs.
_NARROWEST = 0.02
# A beta density is infinite or zero at 0 and 1, which are frequent values of many measures.
_EDGE = 1e-3
# Largest sample for a kernel density; more points change it less than the grid does.
_MOST_POINTS = 20_000
_GRID = 257
# Share of a uniform density that is mixed into each.
_EVEN = 0.01


@dataclass(frozen=True, eq=False)
class Evidence:
    """The log ratio log p(D | both are targets) − log p(D | not both), as a function of D.

    Parameters
    ----------
    grid : ndarray of shape (n_points,)
        Similarities in rising order.
    log_both, log_other : ndarray of shape (n_points,)
        The two log densities there.
    """

    grid: Floats
    log_both: Floats
    log_other: Floats

    def __call__(self, similarities: Floats) -> Floats:
        """Return the log ratio; 0 where a similarity is NaN.

        Outside the range of training similarities it is constant: tails of densities are not
        reliable there.
        """
        ratio = np.interp(similarities, self.grid, self.log_both - self.log_other)
        return np.where(np.isnan(similarities), 0.0, ratio)


def fit_evidence(similarities: Floats, both: NDArray[np.bool_], family: Family) -> Evidence | None:
    """Estimate the two densities from training pairs.

    Parameters
    ----------
    similarities : ndarray of shape (n_pairs,)
        Similarities; pairs with NaN are left out.
    both : ndarray of shape (n_pairs,)
        Whether both of a pair are targets.
    family : {"gaussian", "beta", "kde"}
        The form of both densities.

    Returns
    -------
    Evidence or None
        None with fewer than two pairs of either kind, or if all similarities are equal.

    Raises
    ------
    ValueError
        For ``"beta"`` with similarities outside [0, 1].
    """
    known = ~np.isnan(similarities)
    values, both = similarities[known], both[known]
    if family == "beta" and len(values) and (values.min() < 0 or values.max() > 1):
        raise ValueError(
            "similarity='beta' needs similarities between 0 and 1, got "
            f"{values.min():g} to {values.max():g}; scale them, or use 'gaussian' or 'kde'."
        )
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    if min(both.sum(), (~both).sum()) < 2 or not high > low:
        return None
    grid = np.linspace(low, high, _GRID)
    density = {"gaussian": _gaussian, "beta": _beta, "kde": _kernel}[family]
    logs = [
        np.log((1 - _EVEN) * density(values[chosen], grid) + _EVEN / (high - low))
        for chosen in (both, ~both)
    ]
    return Evidence(grid, *logs)


def _gaussian(values: Floats, grid: Floats) -> Floats:
    spread = max(values.std(), _NARROWEST * (grid[-1] - grid[0]))
    return _normal(grid, values.mean(), spread)


def _normal(x: Floats, mean: Floats | float, spread: float) -> Floats:
    return np.exp(-0.5 * ((x - mean) / spread) ** 2) / (spread * np.sqrt(2 * np.pi))


def _beta(values: Floats, grid: Floats) -> Floats:
    """Return the beta density with the mean and variance of the values."""
    mean = np.clip(values.mean(), _EDGE, 1 - _EDGE)
    spread = max(values.std(), _NARROWEST * (grid[-1] - grid[0]))
    # No beta density with this mean is wider.
    strength = max(mean * (1 - mean) / spread**2 - 1, _EDGE)
    a, b = mean * strength, (1 - mean) * strength
    x = np.clip(grid, _EDGE, 1 - _EDGE)
    return np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - betaln(a, b))


def _kernel(values: Floats, grid: Floats) -> Floats:
    """Return a Gaussian kernel density by Silverman's rule, on a sample of many values."""
    values = np.sort(values)
    if len(values) > _MOST_POINTS:
        values = values[np.linspace(0, len(values) - 1, _MOST_POINTS).astype(int)]
    quartiles = np.diff(np.percentile(values, [25, 75]))[0] / 1.34
    scale = min(values.std(), quartiles) if quartiles > 0 else values.std()
    width = max(0.9 * scale * len(values) ** -0.2, _NARROWEST * (grid[-1] - grid[0]))
    total = np.zeros_like(grid)
    for part in np.array_split(values, max(1, len(values) // 2000)):
        total += _normal(grid[:, None], part, width).sum(axis=1)
    return total / len(values)
