"""One task: everything that decides a result, the key of its record, and how to work it out."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

from bblr.comparison.records import Record
from bblr.comparison.tasks import recorded, versions

__all__ = ["Task"]


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """A piece of work that another process can do, and whose record is never made twice.

    A subclass adds fields for what else decides the result, and :meth:`work`.

    Parameters
    ----------
    data, method : str
        What is fitted to what; tasks that share both take about as long.
    seed : int, default=0
        Decides folds, noise and whatever is random in a method.
    """

    # Fields that the result does not hang on.
    aside: ClassVar[tuple[str, ...]] = ()

    data: str
    method: str
    seed: int = 0

    @property
    def settings(self) -> Record:
        """Everything that decides the result, but for versions."""
        found = {name: value for name, value in asdict(self).items() if name not in self.aside}
        return {"kind": type(self).__name__, **found}

    @property
    def versions(self) -> Any:
        """What of the software the key holds: the version of the library."""
        return versions()["bblr"]

    @cached_property
    def key(self) -> str:
        """A hash of the settings and of the software that carries them out."""
        settings = {**self.settings, "bblr": self.versions}
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:20]

    @property
    def label(self) -> str:
        """What progress and tables show for the method."""
        return self.method

    def run(self) -> Record:
        """Do the work in one thread and record it; an error is a result too."""
        return recorded({"key": self.key, **self.settings, "label": self.label}, self.work)

    @abstractmethod
    def work(self) -> Record:
        """Work the results out, as JSON values."""
