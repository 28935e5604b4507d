"""Similarities of short texts: words, pieces of words, numbers."""

from __future__ import annotations

import re
from functools import lru_cache
from math import log

__all__ = ["amount", "containment", "grams", "jaccard", "log_ratio", "numbers", "words"]

_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)*")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?")
_GRAM = 3


@lru_cache(maxsize=100_000)
def words(text: str) -> frozenset[str]:
    """Return the words and numbers of a text, in lower case; ``v4`` is ``v`` and ``4``."""
    return frozenset(_trimmed(word) for word in _WORD.findall(text.lower()))


def _trimmed(word: str) -> str:
    # 7.0 and 7 are one version.
    return re.sub(r"(\.0)+$", "", word)


@lru_cache(maxsize=100_000)
def numbers(text: str) -> frozenset[str]:
    """Return the words of a text that are numbers: versions, years, model numbers."""
    return frozenset(word for word in words(text) if word[0].isdigit())


@lru_cache(maxsize=100_000)
def grams(text: str) -> frozenset[str]:
    """Return all runs of three characters, blanks at both ends included."""
    padded = f" {' '.join(_WORD.findall(text.lower()))} "
    return frozenset(padded[k : k + _GRAM] for k in range(len(padded) - _GRAM + 1))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Return what two sets share, of all they hold; 0 where both are empty."""
    return len(a & b) / len(a | b) if a or b else 0.0


def containment(a: frozenset[str], b: frozenset[str]) -> float:
    """Return what two sets share, of the smaller one; 0 where one is empty."""
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def amount(text: str) -> float | None:
    """Return the first number in a text; None where there is none."""
    found = _AMOUNT.search(text)
    return float(found.group()) if found else None


def log_ratio(a: float, b: float) -> float:
    """Return |log a/b|, with both raised to at least one."""
    return abs(log(max(a, 1.0) / max(b, 1.0)))
