"""What the reports of experiments share: their templates, and how numbers look in them."""

from __future__ import annotations

import re

from jinja2 import Environment

from bblr import _pages
from bblr.comparison.headline import format_p

__all__ = ["environment"]


def environment(package: str = "bblr.comparison") -> Environment:
    """Return the templates of a package; what is put into them is escaped."""
    environment = _pages.environment(package)
    environment.filters["p"] = format_p
    environment.filters["tied"] = _tied
    return environment


def _tied(text: str) -> str:
    """Keep numbers on one line with what belongs to them, minus signs included."""
    text = text.replace("= -", "= −")
    return re.sub(r"(?<=\d) (?=%)|(?<=[zp]) (?=[=<])|(?<=[=<]) ", "\u00a0", text)
