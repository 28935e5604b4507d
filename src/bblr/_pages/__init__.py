"""What all HTML reports share: their style, and how templates are filled in."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

__all__ = ["environment"]


def environment(package: str) -> Environment:
    """Return the templates of a package and the shared ones; what is put in is escaped."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("bblr._pages")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
