"""Which cells a run of the panorama consists of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from research.panorama.cells import (
    QUICK_CONDITIONS,
    Cell,
    conditions_of,
    folds_of,
    make_part,
)
from research.panorama.methods import METHODS, fingerprint
from research.panorama.tables import Table, load

__all__ = ["QUICK_ROWS", "Plan", "make_plan"]

QUICK_ROWS = 700


@dataclass(frozen=True)
class Plan:
    """Cells of all methods, the longest tables first, and the tables that could not be read.

    Parameters
    ----------
    cells : tuple of Cell
        In the order in which to run them.
    unread : dict of Table to str
        Tables that are missing, and why.
    """

    cells: tuple[Cell, ...]
    unread: dict[Table, str]


def make_plan(
    tables: Sequence[Table],
    conditions: Collection[str],
    *,
    quick: bool = False,
    on_table: Callable[[Table], None] = lambda table: None,
) -> Plan:
    """Read the tables and list the cells of all methods that are installed.

    Parameters
    ----------
    tables : sequence of Table
        The tables; small ones only are kept with `quick`.
    conditions : collection of str
        Names of the conditions; each table gets those that suit it.
    quick : bool, default=False
        Few conditions, one fold.
    on_table : callable
        Called with each table before it is read.
    """
    prints = {name: fingerprint(method) for name, method in METHODS.items() if not method.absent}
    cells: list[Cell] = []
    unread: dict[Table, str] = {}
    for table in tables:
        if quick and table.kind == "wide":
            continue
        on_table(table)
        try:
            n_rows = len(load(table.name)[1])
        except Exception as error:  # one missing table must not lose the others
            unread[table] = f"{type(error).__name__}: {' '.join(str(error).split())}"
            continue
        if quick and n_rows > QUICK_ROWS:
            continue
        folds = 1 if quick else folds_of(n_rows)
        names = [name for name in conditions_of(table) if name in conditions]
        for condition in names:
            if not quick or condition in QUICK_CONDITIONS:
                for fold in range(folds):
                    cells += _cells(table, condition, fold, prints)
    return Plan(tuple(_longest_first(cells)), unread)


def _cells(
    table: Table, condition: str, fold: int, prints: dict[str, dict[str, str]]
) -> list[Cell]:
    part = make_part(table.name, condition, fold)
    digest, numbers = part.digest, part.numbers
    return [
        Cell(
            data=table.name,
            group=table.kind,
            listed=table.listed,
            condition=condition,
            fold=fold,
            method=name,
            part=digest,
            fingerprint=own,
            expected_seconds=METHODS[name].expected_seconds(numbers, part.n_classes),
        )
        for name, own in prints.items()
    ]


def _longest_first(cells: Sequence[Cell]) -> list[Cell]:
    """Put tables of long fits first, so that no worker is left with one at the end."""
    longest: dict[str, float] = {}
    for cell in cells:
        longest[cell.data] = max(longest.get(cell.data, 0.0), cell.expected_seconds or 0.0)
    return sorted(cells, key=lambda cell: (-longest[cell.data], cell.data))
