"""What a table or a figure of the paper is: declared here, run and rendered elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bblr.comparison.records import Record
from bblr.comparison.tasks import Task
from research.paper.library import Library
from research.paper.results import FigureResult, TableResult

__all__ = ["Exhibit", "Given", "Level"]

Level = Literal["quick", "full"]


@dataclass(frozen=True)
class Given:
    """What an exhibit is given to make its tasks.

    Parameters
    ----------
    level : {"quick", "full"}
        How much of the protocol to run.
    seed : int
        Decides folds, noise and whatever is random in a method.
    fingerprints : dict of str to str
        Of the data sets that can be had.
    missing : dict of str to str
        Why each of the others cannot.
    whole : frozenset of str
        Of these, the ones without test rows of their own.
    library : Library
        Where data and methods are looked up.
    """

    level: Level
    seed: int
    fingerprints: Mapping[str, str]
    missing: Mapping[str, str]
    whole: frozenset[str] = frozenset()
    library: Library = field(default_factory=Library)


@dataclass(frozen=True, kw_only=True)
class Exhibit(ABC):
    """A table or a figure of the paper.

    Parameters
    ----------
    name : str
        What the user types: ``table-...`` or ``figure-...``.
    place : int
        Its place in the paper.
    title, about : str
        A heading, and what the paper shows there.
    reading : str
        How we read the paper's protocol.
    notes : tuple of str
        Sentences about the whole, such as slips in the text.
    minutes : tuple of float
        About how long it takes on two cores, quick and full, nothing being known yet.
    """

    name: str
    place: int
    title: str
    about: str
    reading: str
    notes: tuple[str, ...] = ()
    minutes: tuple[float, float] = (0.0, 0.0)

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the data sets it uses."""
        return ()

    def tasks(self, given: Given) -> Sequence[Task]:
        """Return what is to be run."""
        return ()

    @abstractmethod
    def results(
        self, given: Given, records: Mapping[str, Record]
    ) -> list[TableResult | FigureResult]:
        """Work out what to show, from the records of its tasks by key and nothing else."""
