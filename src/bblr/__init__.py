"""Classification by (nearly) zero-one loss: Beta-Bernoulli classifiers for scikit-learn."""

from bblr._version import __version__
from bblr.estimators import BBLRClassifier, SLAClassifier
from bblr.losses import BetaPrior

__all__ = ["BBLRClassifier", "BetaPrior", "SLAClassifier", "__version__"]
