"""Joint decisions in small groups of candidates that constrain each other."""

from bblr.structured.groups import Group
from bblr.structured.joint import ApproximationWarning, JointModel

__all__ = ["ApproximationWarning", "Group", "JointModel"]
