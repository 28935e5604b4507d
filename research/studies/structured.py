"""Joint decisions beside independent ones: the paper's table, on pages and on linked records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bblr._settings import SettingError
from bblr.evaluation import McNemarResult, pooled_mcnemar
from bblr.structured import Group, JointModel, match_groups

__all__ = [
    "LOCALS", "SOURCES", "Condition", "Results", "Source", "cut", "decide", "division",
    "joint_model", "load_source",
]  # fmt: skip

Integers = NDArray[np.int64]
Way = Literal["alone", "joint", "one-to-one"]
Unit = Literal["member", "group"]

SOURCES = ("dblp-acm", "amazon-google", "pages")
LOCALS = ("LR", "BBLR3", "BBLR4")
PAGES = 500
# The paper's pages have 2 to 7 faces; the others are cut to the same sizes.
FEWEST, MOST = 2, 7


@dataclass(frozen=True)
class Condition:
    """How data are spoilt: far outliers in all pages, wrong labels in training folds."""

    outliers: float = 0.0
    flips: float = 0.0

    @property
    def label(self) -> str:
        """Words for tables."""
        parts = [
            f"{100 * share:g} % {what}"
            for share, what in (
                (self.outliers, "outliers"),
                (self.flips, "training labels flipped"),
            )
            if share
        ]
        return ", ".join(parts) or "clean"


@dataclass(frozen=True, eq=False)
class Source:
    """Groups with their right labels.

    Parameters
    ----------
    name, title : str
        What the user types, and what tables show.
    groups : list of Group
        Groups of 2 to 7 candidates.
    """

    name: str
    title: str
    groups: list[Group]

    @property
    def linked(self) -> bool:
        """Whether candidates have names, so that each may be used once."""
        return self.groups[0].candidates is not None


def load_source(name: str, seed: int, condition: Condition, *, download: bool = True) -> Source:
    """Load records to link, or simulate pages; a seed is a set of pages."""
    from bblr.datasets import fetch_entity_resolution, make_pages

    if name == "pages":
        pages = make_pages(PAGES, outliers=condition.outliers, random_state=seed)
        return Source(name, f"pages ({pages.faces} faces)", pages.groups)
    found = fetch_entity_resolution(name, download_if_missing=download).groups
    return Source(name, name, [group for group in found if FEWEST <= len(group) <= MOST])


@dataclass(frozen=True, eq=False)
class Results:
    """Who decided what right.

    Parameters
    ----------
    right : dict
        By local classifier and way of deciding, whether each member of each group was decided
        right, an array for each repeat.
    offsets : list of ndarray
        Where the groups of each repeat begin and end.
    calibrations : dict of str to list of dict
        Slope, shift, penalty and weight by local classifier, one for each fold.
    """

    right: dict[tuple[str, Way], list[NDArray[np.bool_]]]
    offsets: list[Integers]
    calibrations: dict[str, list[dict[str, float]]]

    def units(self, local: str, way: Way, unit: Unit) -> list[NDArray[np.bool_]]:
        """Return what was decided right, member by member or group by group."""
        right = self.right[local, way]
        if unit == "member":
            return right
        return [
            np.logical_and.reduceat(one, offsets[:-1])
            for one, offsets in zip(right, self.offsets, strict=True)
        ]

    def accuracy(self, local: str, way: Way, unit: Unit) -> float:
        """Return right decisions in per cent."""
        return 100.0 * float(np.mean(np.concatenate(self.units(local, way, unit))))

    def correct(self, local: str, way: Way, unit: Unit) -> int:
        """Return the number of right decisions."""
        return int(np.sum(np.concatenate(self.units(local, way, unit))))

    def test(self, a: tuple[str, Way], b: tuple[str, Way], unit: Unit) -> McNemarResult:
        """Compare two ways to decide by McNemar's test; z is positive where a is better."""
        counts = [
            (int(np.sum(~one & other)), int(np.sum(one & ~other)))
            for one, other in zip(self.units(*a, unit), self.units(*b, unit), strict=True)
        ]
        return pooled_mcnemar(counts)

    @property
    def ways(self) -> list[Way]:
        """The ways of deciding that were tried."""
        return list(dict.fromkeys(way for _, way in self.right))


@dataclass(frozen=True, eq=False)
class _Cell:
    """One fold of one repeat, with one local classifier."""

    repeat: int
    fold: int
    local: str


@dataclass(frozen=True, eq=False)
class _Found:
    """What a cell decided about its test groups."""

    cell: _Cell
    alone: list[Integers]
    joint: list[Integers]
    odds: list[Any]
    calibration: dict[str, float]


def decide(
    name: str,
    condition: Condition,
    *,
    folds: int,
    repeats: int,
    seed: int,
    jobs: int,
    locals_: Sequence[str] = LOCALS,
    report: Callable[[int, int], None] = lambda done, planned: None,
) -> tuple[Source, Results]:
    """Cross-validate by group; everything is fitted on training folds.

    One-to-one decisions are made over all test groups of a repeat at once, each with the odds of
    the model that did not see it: a candidate is claimed by records of every fold.

    Parameters
    ----------
    name : str
        One of `SOURCES`.
    condition : Condition
        How the data are spoilt.
    folds, repeats, seed : int
        Folds by group and repeats; another repeat is another division, and of pages another set.
    jobs : int
        Fits to run at a time.
    locals_ : sequence of str
        Names of local classifiers.
    report : callable
        Called with the cells done and planned.
    """
    sources = [load_source(name, seed + repeat, condition) for repeat in range(repeats)]
    fewest = min(len(source.groups) for source in sources)
    if folds > fewest:
        raise SettingError("folds", f"must be at most the {fewest} groups of {name}, got {folds}")
    divisions = [division(len(source.groups), folds, seed + k) for k, source in enumerate(sources)]
    cells = [_Cell(r, f, local) for r in range(repeats) for f in range(folds) for local in locals_]
    found = []
    work = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_run)(cell, sources[cell.repeat], divisions[cell.repeat], condition.flips, seed)
        for cell in cells
    )
    for one in work:
        found.append(one)
        report(len(found), len(cells))
    return sources[0], _results(found, sources, divisions, locals_)


def division(n: int, folds: int, seed: int) -> Integers:
    """Return the fold of each group."""
    return np.random.default_rng([seed, n]).permutation(n) % folds


def _run(cell: _Cell, source: Source, division: Integers, flips: float, seed: int) -> _Found:
    train, test = cut(source, division == cell.fold)
    if flips:
        train = _flipped(train, flips, np.random.default_rng([seed, cell.repeat, cell.fold]))
    with threadpool_limits(1):
        model = joint_model(cell.local, seed).fit(train)
        return _Found(
            cell,
            model.predict_independent(test),
            model.predict(test),
            model.decision_function(test),
            vars(model.calibration_).copy(),
        )


def cut(source: Source, tested: NDArray[np.bool_]) -> tuple[list[Group], list[Group]]:
    """Return the training groups and the test groups."""
    pairs = list(zip(source.groups, tested, strict=True))
    return [group for group, out in pairs if not out], [group for group, out in pairs if out]


def joint_model(local: str, seed: int) -> JointModel:
    """Return an untrained joint model around a local classifier."""
    from bblr.comparison.methods import METHODS

    return JointModel(METHODS[local].build(seed), random_state=seed)


def _flipped(groups: list[Group], share: float, rng: np.random.Generator) -> list[Group]:
    """Swap the labels of a share of all members."""
    sizes = [len(group) for group in groups]
    labels = np.concatenate([group.labels for group in groups])
    chosen = rng.permutation(len(labels))[: round(share * len(labels))]
    labels[chosen] = 1 - labels[chosen]
    parts = np.split(labels, np.cumsum(sizes)[:-1])
    return [replace(group, labels=part) for group, part in zip(groups, parts, strict=True)]


def _results(
    found: list[_Found],
    sources: list[Source],
    divisions: list[Integers],
    locals_: Sequence[str],
) -> Results:
    right: dict[tuple[str, Way], list[Any]] = {}
    calibrations: dict[str, list[dict[str, float]]] = {local: [] for local in locals_}
    by_cell = {(f.cell.repeat, f.cell.fold, f.cell.local): f for f in found}
    for repeat, (source, division) in enumerate(zip(sources, divisions, strict=True)):
        truth = np.concatenate([group.labels for group in source.groups])
        for local in locals_:
            own = [by_cell[repeat, fold, local] for fold in range(division.max() + 1)]
            calibrations[local] += [one.calibration for one in own]
            decided: dict[Way, list[Any]] = {
                "alone": _in_order([one.alone for one in own], division),
                "joint": _in_order([one.joint for one in own], division),
            }
            if source.linked:
                odds = _in_order([one.odds for one in own], division)
                decided["one-to-one"] = match_groups(source.groups, odds)
            for way, labels in decided.items():
                right.setdefault((local, way), []).append(np.concatenate(labels) == truth)
    offsets = [np.cumsum([0, *map(len, source.groups)]) for source in sources]
    return Results(right, offsets, calibrations)


def _in_order(parts: list[list[Any]], division: Integers) -> list[Any]:
    """Put the test groups of all folds back into the order of the source."""
    queues = [iter(part) for part in parts]
    return [next(queues[fold]) for fold in division]
