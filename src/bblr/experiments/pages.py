"""What all HTML reports share: where their templates are, and how numbers look in them."""

from __future__ import annotations

import re

from jinja2 import Environment, PackageLoader, StrictUndefined

from bblr.experiments.headline import format_p

__all__ = ["environment"]


def environment() -> Environment:
    """Return the templates of ``bblr.experiments``; what is put into them is escaped."""
    environment = Environment(
        loader=PackageLoader("bblr.experiments"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["p"] = format_p
    environment.filters["tied"] = _tied
    return environment


def _tied(text: str) -> str:
    """Keep numbers on one line with what belongs to them, minus signs included."""
    text = text.replace("= -", "= −")
    return re.sub(r"(?<=\d) (?=%)|(?<=[zp]) (?=[=<])|(?<=[=<]) ", "\u00a0", text)
