"""Curves and points as SVG files, written by hand: the same bytes wherever they are drawn.

Text and axes follow the colour scheme of the page around the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

# Okabe and Ito's colours, a little darker or lighter: each is legible on white and on black.
BLUE, ORANGE, GREEN, PINK, GREY = "#0a84c6", "#e07b00", "#009e73", "#cc79a7", "#8a8a8a"

_STYLE = (
    "text{font:13px sans-serif;fill:#333}.axis{stroke:#ccc;stroke-width:1;fill:none}"
    ".zero{stroke:#999}.line{stroke-width:2.2;fill:none;stroke-linejoin:round}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.axis{stroke:#444}.zero{stroke:#777}}"
)
_LEFT, _RIGHT, _TOP, _BOTTOM, _LINE = 44, 14, 10, 42, 19


@dataclass
class Plot:
    """One panel: ranges, what the axes mean, and what is drawn."""

    x: tuple[float, float]
    y: tuple[float, float]
    xlabel: str
    text: str
    xticks: Sequence[float] = ()
    yticks: Sequence[float] = ()
    width: int = 460
    height: int = 270
    _body: list[str] = field(default_factory=list)
    _legend: list[tuple[str, str, str]] = field(default_factory=list)

    def curve(
        self, x: Any, y: Any, colour: str, name: str = "", dash: str = "", opacity: float = 1.0
    ) -> None:
        """Draw a line; what leaves the panel is cut off."""
        xs, ys = self._across(np.asarray(x)), self._up(np.asarray(y, dtype=float))
        path = "L".join(f"{a:.1f},{b:.1f}" for a, b in zip(xs, ys, strict=True))
        style = f'stroke="{colour}"' + (f' stroke-dasharray="{dash}"' if dash else "")
        style += f' opacity="{opacity:g}"' if opacity < 1 else ""
        self._body.append(f'<path class="line" {style} clip-path="url(#panel)" d="M{path}"/>')
        if name:
            self._legend.append((name, f'stroke="{colour}" opacity="{opacity:g}"', dash))

    def points(self, x: Any, y: Any, colour: str, name: str = "", ring: bool = False) -> None:
        """Draw dots, or rings."""
        paint = f'fill="none" stroke="{colour}" stroke-width="1.6"' if ring else f'fill="{colour}"'
        dots = zip(self._across(np.asarray(x)), self._up(np.asarray(y)), strict=True)
        circles = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.8"/>' for a, b in dots)
        self._body.append(f'<g {paint} opacity=".75" clip-path="url(#panel)">{circles}</g>')
        if name:
            self._legend.append((name, paint, "dot"))

    def svg(self) -> str:
        """Return the whole file."""
        high = self.height + self._lift
        frame = (
            f'<clipPath id="panel"><rect x="{_LEFT}" y="{_TOP}" '
            f'width="{self.width - _LEFT - _RIGHT}" height="{self.height - _TOP - _BOTTOM}"/>'
            f'</clipPath><g transform="translate(0,{self._lift})">'
        )
        label = escape(self.text, quote=True)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {high}" '
            f'width="{self.width}" height="{high}" role="img" aria-label="{label}">\n'
            f"<style>{_STYLE}</style>\n"
            + "\n".join([*self._names(), frame, *self._axes(), *self._body, "</g>"])
            + "\n</svg>\n"
        )

    @property
    def _lift(self) -> int:
        return _LINE * len(self._legend) + (6 if self._legend else 0)

    def _across(self, values: Any) -> Any:
        low, high = self.x
        return _LEFT + (values - low) / (high - low) * (self.width - _LEFT - _RIGHT)

    def _up(self, values: Any) -> Any:
        low, high = self.y
        return (
            self.height - _BOTTOM - (values - low) / (high - low) * (self.height - _TOP - _BOTTOM)
        )

    def _axes(self) -> list[str]:
        right, bottom = self.width - _RIGHT, self.height - _BOTTOM
        parts = []
        for value in self.yticks:
            y = float(self._up(value))
            kind = "axis zero" if value == 0 else "axis"
            parts.append(f'<path class="{kind}" d="M{_LEFT},{y:.1f}H{right}"/>')
            parts.append(_text(_LEFT - 7, y + 4.5, f"{value:g}", "end"))
        for value in self.xticks:
            x = float(self._across(value))
            kind = "axis zero" if value == 0 else "axis"
            parts.append(f'<path class="{kind}" d="M{x:.1f},{_TOP}V{bottom}"/>')
            parts.append(_text(x, bottom + 18, f"{value:g}".replace("-", "−"), "middle"))
        parts.append(_text((_LEFT + right) / 2, self.height - 7, self.xlabel, "middle"))
        return parts

    def _names(self) -> list[str]:
        parts = []
        for k, (name, paint, dash) in enumerate(self._legend):
            y = 14 + _LINE * k
            if dash == "dot":
                parts.append(f'<circle cx="{_LEFT + 11}" cy="{y}" r="3.5" {paint}/>')
            else:
                style = f' stroke-dasharray="{dash}"' if dash else ""
                parts.append(f'<path class="line" {paint}{style} d="M{_LEFT},{y}h22"/>')
            parts.append(_text(_LEFT + 30, y + 4.5, name, "start"))
        return parts


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
