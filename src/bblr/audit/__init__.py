"""Label audit: rows ranked by the evidence that their label is wrong."""

from bblr.audit.find import find_label_errors
from bblr.audit.result import LabelErrors

__all__ = ["LabelErrors", "find_label_errors"]
