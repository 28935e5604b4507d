"""Label audit: rows whose label is probably wrong, and fits that allow for them."""

from bblr.audit.find import find_label_errors
from bblr.audit.result import LabelErrors
from bblr.audit.robust_classifier import RobustClassifier

__all__ = ["LabelErrors", "RobustClassifier", "find_label_errors"]
