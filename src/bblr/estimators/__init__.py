"""Estimators: the front doors. Validate, encode, build, solve, unpack."""

from bblr.estimators.kernel import KernelBBLRClassifier
from bblr.estimators.kernel_cv import KernelBBLRClassifierCV
from bblr.estimators.linear import BBLRClassifier
from bblr.estimators.linear_cv import BBLRClassifierCV
from bblr.estimators.sla import SLAClassifier
from bblr.estimators.zero_one import ZeroOneClassifier

__all__ = [
    "BBLRClassifier",
    "BBLRClassifierCV",
    "KernelBBLRClassifier",
    "KernelBBLRClassifierCV",
    "SLAClassifier",
    "ZeroOneClassifier",
]
