"""Data: the embedded UCI tables, research data, and groups to decide jointly.

Every module here without a leading underscore is a family of data sets; its public names are
names of this package, and its loaders enter `DATASETS` by being defined.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from bblr.datasets._registry import DATASETS

if TYPE_CHECKING:
    # Names come out of the modules, so that a new data set is one new file.
    def __getattr__(name: str) -> Any: ...


_PUBLIC: dict[str, Any] = {"DATASETS": DATASETS}
for _entry in iter_modules(__path__):
    if not _entry.name.startswith("_"):
        _module = import_module(f"{__name__}.{_entry.name}")
        _PUBLIC |= {name: getattr(_module, name) for name in _module.__all__}

globals().update(_PUBLIC)
__all__ = sorted(_PUBLIC)
