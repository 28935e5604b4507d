"""Displays: what a fitted classifier knows, as figures, in scikit-learn's manner.

Matplotlib is loaded when something is drawn, not before.
"""

from bblr.plotting.certificate import CertificateDisplay
from bblr.plotting.coefficients import CoefficientDisplay
from bblr.plotting.loss_curves import LossDisplay
from bblr.plotting.path import PathDisplay
from bblr.plotting.reliability import ReliabilityDisplay
from bblr.plotting.row_weights import WeightDisplay
from bblr.plotting.sparsity import SparsityDisplay

__all__ = [
    "CertificateDisplay",
    "CoefficientDisplay",
    "LossDisplay",
    "PathDisplay",
    "ReliabilityDisplay",
    "SparsityDisplay",
    "WeightDisplay",
]
