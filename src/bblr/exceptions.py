"""Warnings of the library."""

__all__ = ["ConstantScoresWarning"]


class ConstantScoresWarning(UserWarning):
    """A fit that gives every row nearly the same score, though its features have more to say.

    Examples
    --------
    >>> import warnings
    >>> from bblr.exceptions import ConstantScoresWarning
    >>> warnings.simplefilter("error", ConstantScoresWarning)      # let such a fit fail
    """
