"""What all HTML reports share: their style, and how templates are filled in."""

from __future__ import annotations

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from bblr._settings import escaped_part

__all__ = ["environment"]


def environment(package: str) -> Environment:
    """Return the templates of a package and the shared ones; what is put in is escaped.

    That holds for markup, and for control characters, which a terminal would obey.
    """
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("bblr._pages")]),
        autoescape=True,
        finalize=escaped_part,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
