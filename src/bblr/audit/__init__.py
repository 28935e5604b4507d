"""Audit of labels: rows whose label is probably wrong, ranked by evidence."""

from bblr.audit.find import find_label_errors
from bblr.audit.result import LabelErrors

__all__ = ["LabelErrors", "find_label_errors"]
