"""The classifier that minimises training errors themselves."""

from bblr.zero_one.zero_one_classifier import ZeroOneClassifier

__all__ = ["ZeroOneClassifier"]
