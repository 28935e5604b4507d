"""Displays: what a fitted classifier knows, as figures, in scikit-learn's manner.

Matplotlib is loaded when something is drawn, not before.
"""

from bblr.plotting.certificate import CertificateDisplay
from bblr.plotting.loss_curves import LossDisplay
from bblr.plotting.path import PathDisplay
from bblr.plotting.reliability import ReliabilityDisplay
from bblr.plotting.sparsity import SparsityDisplay

__all__ = [
    "CertificateDisplay",
    "LossDisplay",
    "PathDisplay",
    "ReliabilityDisplay",
    "SparsityDisplay",
]
