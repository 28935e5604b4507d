"""One task of the reproduction: named data, a named method, and what else decides its result."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from bblr.comparison.records import Record
from bblr.comparison.tasks import recorded, versions
from research.paper.library import Library

__all__ = ["Work"]


@dataclass(frozen=True, kw_only=True)
class Work(ABC):
    """A task that finds data and method by name, in whatever process it runs.

    A subclass adds fields for what else decides the result, and :meth:`work`.

    Parameters
    ----------
    data, fingerprint : str
        Name of the data and a hash of their contents.
    method : str
        Name of the method.
    seed : int
        The seed of the whole reproduction.
    library : Library
        Where data and methods are looked up.
    """

    data: str
    fingerprint: str
    method: str
    seed: int
    library: Library

    @property
    def settings(self) -> Record:
        """Everything that decides the result, but for the version of the library."""
        settings = asdict(self)
        del settings["library"]
        added = self.library.digest(self.method)
        return {"kind": type(self).__name__, **settings, **({"added": added} if added else {})}

    @cached_property
    def key(self) -> str:
        """A hash of the settings and of the version of the library that carries them out."""
        settings = {**self.settings, "bblr": versions()["bblr"]}
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:20]

    @property
    def label(self) -> str:
        """What tables show for the method."""
        return self.library.method(self.method).label

    def table(self) -> Any:
        """Load the data; they must be those that the task was made for."""
        table = self.library.table(self.data)
        if table.fingerprint != self.fingerprint:
            raise ValueError(
                f"{self.data!r} is not the same each time it is loaded; make it so by a fixed seed"
            )
        return table

    def run(self) -> Record:
        """Do the work and record it."""
        settings = {"key": self.key, **self.settings, "label": self.label}
        return recorded(settings, self.work)

    @abstractmethod
    def work(self) -> Record:
        """Work the results out."""
