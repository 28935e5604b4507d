"""Priors: what we believe about the weights before we see the data."""

from bblr.priors.gaussian import Gaussian

__all__ = ["Gaussian"]
