"""Tables and figures of the paper: what each is, and what it came to when it was run again."""

from __future__ import annotations

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, Literal

from bblr.comparison.figures import Panel
from bblr.comparison.records import Record
from bblr.comparison.session import choose
from bblr.comparison.summary import Versus
from bblr.comparison.tasks import Task
from research.paper.library import Library

__all__ = [
    "Entry", "Exhibit", "Given", "Level", "Result", "all_exhibits", "select",
]  # fmt: skip

Level = Literal["quick", "full"]


@dataclass(frozen=True)
class Entry:
    """One figure of a table.

    Parameters
    ----------
    row, column : str
        Where it stands.
    printed : float or None
        The paper's figure, if it has one there.
    ours : float or None
        The figure we got, if we got one.
    tests : tuple of Versus
        McNemar tests of this method against the baselines; z is positive where these err more.
    remark : str
        Why the two differ, where that is known; else why there is no figure of ours; else empty.
    """

    row: str
    column: str
    printed: float | None
    ours: float | None
    tests: tuple[Versus, ...] = ()
    remark: str = ""

    @property
    def difference(self) -> float | None:
        """Ours less the printed figure."""
        if self.printed is None or self.ours is None:
            return None
        return self.ours - self.printed


@dataclass(frozen=True)
class Result:
    """A table or a figure, run again: all that a report shows of it.

    Parameters
    ----------
    name : str
        What the user types.
    title, about : str
        A heading, and what the paper shows there.
    reading : str
        How we read the paper's protocol, and what was run.
    unit : str
        What the figures of a table count, for headings.
    digits : int
        Decimals of our figures; printed ones have at most as many.
    better : {"lower", "higher"} or None
        Which figures are better, if either.
    rows, columns : tuple of str
        Headings; a figure has none.
    entries : tuple of Entry
        All figures, row by row.
    notes : tuple of str
        Sentences about the whole.
    part : str
        Which of several readings this is; empty where there is one.
    column_digits : dict of str to int
        Decimals of columns that count something else than the rest.
    panels : tuple of Panel
        The drawings of a figure; none where its data could not be had.
    """

    name: str
    title: str
    about: str
    reading: str
    unit: str = ""
    digits: int = 1
    better: Literal["lower", "higher"] | None = None
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()
    part: str = ""
    column_digits: Mapping[str, int] = field(default_factory=dict)
    panels: tuple[Panel, ...] = ()

    @property
    def is_table(self) -> bool:
        """Whether it is a table."""
        return bool(self.columns)

    def digits_of(self, column: str) -> int:
        """Return the decimals of a column."""
        return self.column_digits.get(column, self.digits)

    def entry(self, row: str, column: str) -> Entry:
        """Find a figure."""
        return next(e for e in self.entries if (e.row, e.column) == (row, column))


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

    def task(self, data: str) -> dict[str, Any]:
        """Return what every task on a data set is made of."""
        print_ = self.fingerprints[data]
        return {"fingerprint": print_, "seed": self.seed, "library": self.library}


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
    def results(self, given: Given, records: Mapping[str, Record]) -> list[Result]:
        """Work out what to show, from the records of its tasks by key and nothing else."""


@cache
def all_exhibits() -> dict[str, Exhibit]:
    """Return the exhibits by name, in the order of the paper: those of all ``exhibits/`` files."""
    from research.paper import exhibits

    found: list[Exhibit] = []
    for module in pkgutil.iter_modules(exhibits.__path__):
        found += import_module(f"{exhibits.__name__}.{module.name}").EXHIBITS
    return {e.name: e for e in sorted(found, key=lambda e: (e.place, e.name))}


def select(names: Iterable[str]) -> list[Exhibit]:
    """Look exhibits up by name; ``all`` and no name at all are all of them.

    Raises
    ------
    SettingError
        If a name is unknown.
    """
    known = all_exhibits()
    wanted = choose("name", names, [*known, "all"])
    return [known[name] for name in known if name in wanted or "all" in wanted or not wanted]
