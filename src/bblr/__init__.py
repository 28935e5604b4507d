"""Classification by (nearly) zero-one loss: Beta-Bernoulli classifiers for scikit-learn.

Names are loaded when they are first used, so that ``import bblr`` and the command line start at
once.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from _bblr_command import Kept
from bblr._version import __version__

if TYPE_CHECKING:
    from bblr.audit import RobustClassifier, find_label_errors
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
    "RobustClassifier",
    "SLAClassifier",
    "Shards",
    "ZeroOneClassifier",
    "__version__",
    "find_label_errors",
]

_HOMES = {
    "BBLRClassifier": "linear",
    "BBLRClassifierCV": "linear",
    "GeneralizedLinearClassifier": "linear",
    "KernelBBLRClassifier": "kernel",
    "KernelBBLRClassifierCV": "kernel",
    "Plateaus": "losses",
    "RobustClassifier": "audit",
    "SLAClassifier": "linear",
    "Shards": "designs",
    "ZeroOneClassifier": "zero_one",
    "find_label_errors": "audit",
}


if not TYPE_CHECKING:  # Type checkers know the names from above, and no others.

    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            with Kept():
                home = import_module(f"bblr.{_HOMES[name]}")
            globals()[name] = value = getattr(home, name)
            return value
        modules = {entry.name for entry in iter_modules(__path__)}
        if name in modules and not name.startswith("_"):
            return import_module(f"bblr.{name}")
        raise AttributeError(f"module 'bblr' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
