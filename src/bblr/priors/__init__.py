"""Priors: what we believe about the weights before we see the data."""

from bblr.priors.base import Prior
from bblr.priors.gauss_laplace import GaussLaplace
from bblr.priors.gaussian import Gaussian

__all__ = ["GaussLaplace", "Gaussian", "Prior"]
