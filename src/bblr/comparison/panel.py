"""A drawing on a page."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Panel"]


@dataclass(frozen=True)
class Panel:
    """A drawing, as an ``<svg>`` element, with its heading and its content in words."""

    title: str
    svg: str
    text: str
