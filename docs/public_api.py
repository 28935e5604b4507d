"""The public names of bblr, for the reference pages and for the tests of docstrings.

A name is public if it stands in `__all__` of `bblr`, or of one of its modules that are not rooms
for contributors. A new module, or a new name in one, appears here, and so in both, by itself.
"""

from __future__ import annotations

import importlib.util
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bblr

# The inside of the house: docs/architecture.md, not the reference, tells about these.
ROOMS = {
    "boosting", "cli", "comparison", "curvature", "designs", "inputs", "kernel", "linear",
    "objective", "penalties", "solvers", "training", "zero_one",
}  # fmt: skip
# Public modules inside a package that is public itself.
INNER = ["io.onnx"]

# The order of the reference; modules that are not named here come last.
ORDER = [
    "bblr", "plotting", "audit", "structured", "dask", "torch", "lightgbm", "xgboost", "losses",
    "evaluation", "datasets",
]  # fmt: skip
# Modules of the name of another library need it, and are left out where it is missing.
NEEDED = ("lightgbm", "torch", "xgboost")


@dataclass(frozen=True)
class Name:
    """A public name: where it is imported from, and what it is."""

    module: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def kind(self) -> str:
        if inspect.isclass(self.value):
            return "exception" if issubclass(self.value, Exception) else "class"
        return "function" if callable(self.value) else "data"


def modules() -> list[str]:
    """Return the public modules, in the order of the reference."""
    found = [m.name for m in pkgutil.iter_modules(bblr.__path__)]
    missing = {n for n in NEEDED if importlib.util.find_spec(n) is None}
    outer = [n for n in found if not n.startswith("_") and n not in ROOMS | missing]
    public = ["bblr", *outer, *INNER]
    rank = {name: place for place, name in enumerate(ORDER)}
    public.sort(key=lambda name: (rank.get(name, len(rank)), name))
    return [n if n == "bblr" else f"bblr.{n}" for n in public]


def names(module: str) -> list[Name]:
    """Return the public names of one module."""
    space = importlib.import_module(module)
    return [Name(module, name, getattr(space, name)) for name in space.__all__]


def all_names() -> list[Name]:
    """Return every public name once, from the first module that has it."""
    seen: set[int] = set()
    found = []
    for module in modules():
        for name in names(module):
            if name.kind == "data" or id(name.value) not in seen:
                seen.add(id(name.value))
                found.append(name)
    return found


def methods(cls: type) -> Iterator[tuple[str, Any, type]]:
    """Yield the public methods and properties that are ours: name, what is stored, its class."""
    for name in sorted(dir(cls)):
        owner = next((c for c in cls.__mro__ if name in vars(c)), object)
        routing = name.startswith("set_") and name.endswith("_request")
        if name.startswith("_") or routing or not owner.__module__.startswith("bblr"):
            continue
        stored = vars(owner)[name]
        if isinstance(stored, property) or callable(getattr(cls, name)):
            yield name, stored, owner
