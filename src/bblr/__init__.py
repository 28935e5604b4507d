"""Classification by (nearly) zero-one loss: Beta-Bernoulli classifiers for scikit-learn."""

from bblr._version import __version__
from bblr.audit import find_label_errors
from bblr.designs import Shards
from bblr.kernel import KernelBBLRClassifier, KernelBBLRClassifierCV
from bblr.linear import (
    BBLRClassifier,
    BBLRClassifierCV,
    GeneralizedLinearClassifier,
    SLAClassifier,
)
from bblr.losses import Plateaus
from bblr.zero_one import ZeroOneClassifier

__all__ = [
    "BBLRClassifier",
    "BBLRClassifierCV",
    "GeneralizedLinearClassifier",
    "KernelBBLRClassifier",
    "KernelBBLRClassifierCV",
    "Plateaus",
    "SLAClassifier",
    "Shards",
    "ZeroOneClassifier",
    "__version__",
    "find_label_errors",
]
