"""Linear classifiers: parameters in, a fitted hyperplane for each class out."""

from bblr.linear.classifier import BBLRClassifier
from bblr.linear.classifier_cv import BBLRClassifierCV
from bblr.linear.generalized import GeneralizedLinearClassifier
from bblr.linear.sla import SLAClassifier

__all__ = [
    "BBLRClassifier",
    "BBLRClassifierCV",
    "GeneralizedLinearClassifier",
    "SLAClassifier",
]
