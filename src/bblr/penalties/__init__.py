"""Penalties: what weights cost, the negative log of a prior density."""

from bblr.penalties.gauss_laplace import GaussLaplace
from bblr.penalties.gaussian import Gaussian
from bblr.penalties.penalty import Penalty

__all__ = ["GaussLaplace", "Gaussian", "Penalty"]
