"""All exhibits, in the order of the paper: every file of ``exhibits/`` is one."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from bblr._settings import SettingError
from research.paper import exhibits
from research.paper.exhibit import Exhibit

__all__ = ["all_exhibits", "select"]

ALL = "all"


@cache
def all_exhibits() -> dict[str, Exhibit]:
    """Return the exhibits by name."""
    modules = (
        import_module(f"{exhibits.__name__}.{found.name}")
        for found in pkgutil.iter_modules(exhibits.__path__)
    )
    found = sorted((module.EXHIBIT for module in modules), key=lambda e: (e.place, e.name))
    return {exhibit.name: exhibit for exhibit in found}


def select(names: Iterable[str]) -> list[Exhibit]:
    """Look exhibits up by name; ``all`` and no name at all are all of them.

    Raises
    ------
    SettingError
        If a name is unknown.
    """
    known = all_exhibits()
    wanted = {name.strip().lower() for name in names} or {ALL}
    for name in wanted - {ALL}:
        if name not in known:
            raise SettingError(
                "name", f"{name!r} is no table or figure; choose all or some of {', '.join(known)}"
            )
    return [known[name] for name in known if ALL in wanted or name in wanted]
