"""The Gauss-Laplace mixture: most weights are next to nothing, a few are free."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

# Scales below this share of each other's are as good as zero.
_LEAST_SCALE = 1e-6
# Weights smaller than this are as good as zero, and their squares would be lost.
_LEAST_WEIGHT = 1e-8


@dataclass(frozen=True)
class GaussLaplace:
    """-sum_j log(pi_g N(a_j; 0, sigma^2) + (1 - pi_g) L(a_j; 0, scale)), appendix B.

    As `scale` -> 0 and `sigma` -> infinity it counts the weights that are not zero. The paper
    writes sigma_g now as a variance, now as a standard deviation; here it is the latter, and the
    stray sum in its gradient is left out.

    Parameters
    ----------
    share : float, default=0.5
        Share of the Gaussian, pi_g.
    sigma : float, default=1
        Standard deviation of the Gaussian, sigma_g.
    scale : float, default=0.1
        Scale of the Laplacian, b_l.
    """

    share: float = 0.5
    sigma: float = 1.0
    scale: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share!r}.")
        for name in ("sigma", "scale"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be a positive, finite number, got {value!r}.")

    def _logs(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the logarithms of the two terms of the density."""
        gauss = -0.5 * (theta / self.sigma) ** 2
        gauss += log(self.share) - log(self.sigma) - 0.5 * log(2.0 * pi)
        laplace = log(1.0 - self.share) - log(2.0 * self.scale) - np.abs(theta) / self.scale
        return gauss, laplace

    def _each(self, theta: Floats) -> Floats:
        return -np.logaddexp(*self._logs(theta))

    def posterior(self, theta: Floats) -> Floats:
        """Return the probability that each weight belongs to the Laplacian."""
        gauss, laplace = self._logs(theta)
        return np.asarray(expit(laplace - gauss))

    def value(self, theta: Floats) -> float:
        """Return the negative log density."""
        return float(self._each(theta).sum())

    def gradient(self, theta: Floats) -> Floats:
        """Return the gradient of `value`; that of |a| at 0 is 0."""
        laplacian = self.posterior(theta)
        pull = laplacian * np.sign(theta) / self.scale
        return pull + (1.0 - laplacian) * theta / self.sigma / self.sigma

    def curvature(self, theta: Floats) -> Floats:
        """Return the curvature of the parabola that touches the density from above.

        A step with it never overshoots, and draws Laplacian weights towards zero.
        """
        laplacian = self.posterior(theta)
        reach = np.maximum(np.abs(theta), 1e-3 * self.scale)
        return laplacian / self.scale / reach + (1.0 - laplacian) / self.sigma / self.sigma

    def along(self, theta: Floats, j: int, steps: Floats) -> Floats:
        """Return `value` with `steps` added to weight j."""
        rest = self.value(theta) - float(self._each(theta[j : j + 1])[0])
        return rest + self._each(theta[j] + steps)

    def laplacian(self, theta: Floats) -> NDArray[np.bool_]:
        """Return which weights belong to the Laplacian rather than the Gaussian.

        Far out the Laplacian is the heavier tail; a weight beyond sigma is Gaussian all the same.
        """
        return (self.posterior(theta) > 0.5) & (np.abs(theta) <= self.sigma)

    def estimated(self, theta: Floats, laplacian: NDArray[np.bool_]) -> Self:
        """Return the mixture of greatest likelihood for weights in given clusters."""
        gauss, laplace = theta[~laplacian], theta[laplacian]
        # One imagined weight on either side keeps an empty cluster possible.
        share = (len(gauss) + 1.0) / (len(theta) + 2.0)
        size = max(float(np.abs(theta).max(initial=0.0)), _LEAST_WEIGHT)
        sigma = sqrt(float(gauss @ gauss) / len(gauss)) if len(gauss) else size
        scale = float(np.abs(laplace).mean()) if len(laplace) else _LEAST_SCALE * size
        sigma = max(sigma, _LEAST_SCALE * size)
        return type(self)(share, sigma, max(scale, _LEAST_SCALE * sigma))
