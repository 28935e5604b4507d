"""Priors: what we believe about the weights before we see the data."""

from bblr.penalties.base import Prior
from bblr.penalties.gauss_laplace import GaussLaplace
from bblr.penalties.gaussian import Gaussian

__all__ = ["GaussLaplace", "Gaussian", "Prior"]
