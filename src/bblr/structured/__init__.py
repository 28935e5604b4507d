"""Joint decisions in small groups of candidates that constrain each other."""

from bblr.structured.groups import Group
from bblr.structured.joint import ApproximationWarning, JointModel
from bblr.structured.matching import match_groups

__all__ = ["ApproximationWarning", "Group", "JointModel", "match_groups"]
