"""Joint decisions against independent ones: the paper's table, on pages and on linked records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import cpu_count
from numpy.typing import NDArray
from rich.console import Console

from bblr._settings import SettingError
from bblr.comparison.document import shown, terminal_table
from bblr.comparison.methods import FOLDS, METHODS
from bblr.comparison.records import Record
from bblr.comparison.session import DONE, check_least, check_records, choose, say
from bblr.comparison.summary import format_p
from bblr.comparison.tasks import Task
from bblr.evaluation import McNemarResult, pooled_mcnemar
from bblr.structured import Group, JointModel, match_groups
from research.core.cases import Run

__all__ = [
    "LOCALS", "SOURCES", "WAYS", "Decide", "Decisions", "Source", "decide",
    "load_source", "run_structured",
]  # fmt: skip

Integers = NDArray[np.int64]
Way = Literal["alone", "joint", "one-to-one"]
Unit = Literal["member", "group"]

SOURCES = ("dblp-acm", "amazon-google", "pages")
LOCALS = ("LR", "BBLR3", "BBLR4")
WAYS: tuple[Way, ...] = ("alone", "joint")
PAGES = 500
# The paper's pages have 2 to 7 faces; the others are cut to the same sizes.
FEWEST, MOST = 2, 7
# The accuracies of faces that the paper prints, by local classifier, alone and joint.
PRINTED = {"LR": (63.4, 76.0), "BBLR3": (67.8, 78.2), "BBLR4": (70.2, 81.5)}


@dataclass(frozen=True, eq=False)
class Source:
    """Groups of 2 to 7 candidates with their right labels; the title is what tables show."""

    name: str
    title: str
    groups: list[Group]

    @property
    def linked(self) -> bool:
        """Whether candidates have names, so that each may be used once."""
        return self.groups[0].candidates is not None


@lru_cache(maxsize=4)
def load_source(name: str, seed: int, outliers: float = 0.0, *, download: bool = True) -> Source:
    """Load records to link, or simulate pages; a seed is a set of pages."""
    from bblr.datasets import fetch_entity_resolution, make_pages

    if name == "pages":
        pages = make_pages(PAGES, outliers=outliers, random_state=seed)
        return Source(name, f"pages ({pages.faces} faces)", pages.groups)
    found = fetch_entity_resolution(name, download_if_missing=download).groups
    return Source(name, name, [group for group in found if FEWEST <= len(group) <= MOST])


@dataclass(frozen=True, kw_only=True)
class Decide(Task):
    """One fold of one repeat of a set of groups, with one local classifier.

    Parameters
    ----------
    fingerprint : str
        A hash of the data, where it is known.
    outliers, flips : float
        Shares of far outliers in all pages, and of wrong labels in training folds.
    repeat, fold, folds : int
        Which fold of which repeat; another repeat is another division, of pages another set.
    """

    fingerprint: str = ""
    outliers: float = 0.0
    flips: float = 0.0
    repeat: int = 0
    fold: int
    folds: int

    def work(self) -> Record:
        """Fit on the other folds and decide this one, alone and jointly."""
        seed = self.seed + self.repeat
        source = load_source(self.data, seed, self.outliers, download=False)
        tested = division(len(source.groups), self.folds, seed) == self.fold
        pairs = list(zip(source.groups, tested, strict=True))
        train, test = ([group for group, out in pairs if out == part] for part in (False, True))
        if self.flips:
            rng = np.random.default_rng([self.seed, self.repeat, self.fold])
            train = _flipped(train, self.flips, rng)
        local = METHODS[self.method].build(self.seed)
        model = JointModel(local, random_state=self.seed).fit(train)
        numbers = np.flatnonzero(tested)
        found: Record = {
            "groups": numbers.tolist(),
            "n_groups": len(test),
            "n_members": sum(map(len, test)),
            "alone": [labels.tolist() for labels in model.predict_independent(test)],
            "joint": [labels.tolist() for labels in model.predict(test)],
            "odds": [np.asarray(odds).tolist() for odds in model.decision_function(test)],
            "calibration": vars(model.calibration_).copy(),
        }
        for way in WAYS:
            wrong = [np.sum(a != g.labels) for a, g in zip(found[way], test, strict=True)]
            found[f"{way} errors"] = int(sum(wrong))
            found[f"{way} wrong"] = numbers[np.flatnonzero(wrong)].tolist()
        return found


def division(n: int, folds: int, seed: int) -> Integers:
    """Return the fold of each group."""
    return np.random.default_rng([seed, n]).permutation(n) % folds


def _flipped(groups: list[Group], share: float, rng: np.random.Generator) -> list[Group]:
    """Swap the labels of a share of all members."""
    sizes = [len(group) for group in groups]
    labels = np.concatenate([group.labels for group in groups])
    chosen = rng.permutation(len(labels))[: round(share * len(labels))]
    labels[chosen] = 1 - labels[chosen]
    parts = np.split(labels, np.cumsum(sizes)[:-1])
    return [replace(group, labels=part) for group, part in zip(groups, parts, strict=True)]


@dataclass(frozen=True, eq=False)
class Decisions:
    """Who decided what right.

    Parameters
    ----------
    source : Source
        The groups, of pages those of the first repeat.
    condition : str
        How they are spoilt, in words.
    right : dict
        By local classifier and way of deciding, whether each member of each group was decided
        right, an array for each repeat.
    offsets : list of ndarray
        Where the groups of each repeat begin and end.
    calibrations : dict of str to list of dict
        Slope, shift, penalty and weight by local classifier, one for each fold.
    """

    source: Source
    condition: str
    right: dict[tuple[str, Way], list[NDArray[np.bool_]]]
    offsets: list[Integers]
    calibrations: dict[str, list[dict[str, float]]] = field(default_factory=dict)

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

    def test(self, a: tuple[str, Way], b: tuple[str, Way], unit: Unit) -> McNemarResult | None:
        """Compare two ways to decide by McNemar's test; z is positive where a is better."""
        if a == b or b not in self.right:
            return None
        counts = [
            (int(np.sum(~one & other)), int(np.sum(one & ~other)))
            for one, other in zip(self.units(*a, unit), self.units(*b, unit), strict=True)
        ]
        return pooled_mcnemar(counts)

    @property
    def title(self) -> str:
        """What was decided."""
        repeats = f", {len(self.offsets)} repeats" if len(self.offsets) > 1 else ""
        return (
            f"{self.source.title}: {len(self.source.groups):,} groups of 2 to 7, "
            f"{self.offsets[0][-1]:,} candidates, {self.condition}{repeats}"
        )

    def frame(self) -> pd.DataFrame:
        """Return the paper's table, as texts."""
        rows = []
        for local, way in self.right:
            alone, lr = (
                self.test((local, way), other, "group")
                for other in ((local, "alone"), ("LR", way))
            )
            row = {
                "": local,
                "way": way,
                "each\nright, %": shown(self.accuracy(local, way, "member")),
                "groups\nright, %": shown(self.accuracy(local, way, "group")),
                "against alone\nz (p)": _test(alone),
                "against LR\nz (p)": _test(lr),
            }
            if self.source.name == "pages":
                row["paper\neach, %"] = f"{PRINTED[local][WAYS.index(way)]:.1f}"
            rows.append(row)
        return pd.DataFrame(rows)

    def record(self) -> Record:
        """Return everything the table shows, and more, as JSON values."""
        rows = []
        for local, way in self.right:
            row: Record = {"local": local, "way": way}
            units: tuple[Unit, ...] = ("member", "group")
            for unit in units:
                row[f"{unit} accuracy %"] = self.accuracy(local, way, unit)
                others: dict[str, tuple[str, Way]] = {"alone": (local, "alone"), "LR": ("LR", way)}
                for key, other in others.items():
                    found = self.test((local, way), other, unit)
                    if found is not None:
                        row[f"{unit} McNemar against {key}"] = asdict(found)
            rows.append(row)
        return {
            "name": self.source.name,
            "title": self.source.title,
            "groups": len(self.source.groups),
            "members": int(self.offsets[0][-1]),
            "condition": self.condition,
            "rows": rows,
            "calibrations": self.calibrations,
        }


def _test(found: McNemarResult | None) -> str:
    return "" if found is None else f"{found.z:+.1f} ({format_p(found.p_value)})"


def decide(
    run: Run,
    name: str,
    locals_: Sequence[str] = LOCALS,
    *,
    outliers: float = 0.0,
    flips: float = 0.0,
    folds: int = FOLDS,
    repeats: int = 1,
) -> Decisions:
    """Cross-validate by group; everything is fitted on training folds.

    One-to-one decisions are made over all test groups of a repeat at once, each with the odds of
    the model that did not see it: a candidate is claimed by records of every fold.
    """
    sources = [load_source(name, run.seed + repeat, outliers) for repeat in range(repeats)]
    fewest = min(len(source.groups) for source in sources)
    if folds > fewest:
        raise SettingError("folds", f"must be at most the {fewest} groups of {name}, got {folds}")
    tasks = [
        Decide(
            data=name, method=local, seed=run.seed, outliers=outliers, flips=flips,
            repeat=repeat, fold=fold, folds=folds,
        )
        for repeat in range(repeats)
        for fold in range(folds)
        for local in locals_
    ]  # fmt: skip
    records = run.results(tasks)
    right: dict[tuple[str, Way], list[Any]] = {}
    for local in locals_:
        for repeat, source in enumerate(sources):
            mine = [r for r in records if (r["method"], r["repeat"]) == (local, repeat)]
            decided: dict[Way, list[Any]] = {way: _in_order(mine, way) for way in WAYS}
            if source.linked:
                odds = [np.array(one) for one in _in_order(mine, "odds")]
                decided["one-to-one"] = match_groups(source.groups, odds)
            truth = np.concatenate([group.labels for group in source.groups])
            for way, labels in decided.items():
                right.setdefault((local, way), []).append(np.concatenate(labels) == truth)
    shares = ((outliers, "outliers"), (flips, "training labels flipped"))
    condition = ", ".join(f"{100 * share:g} % {what}" for share, what in shares if share)
    return Decisions(
        sources[0],
        condition or "clean",
        right,
        [np.cumsum([0, *map(len, source.groups)]) for source in sources],
        {local: [r["calibration"] for r in records if r["method"] == local] for local in locals_},
    )


def _in_order(records: Sequence[Record], name: str) -> list[Any]:
    """Put the test groups of all folds back into the order of the source."""
    found = {g: one for r in records for g, one in zip(r["groups"], r[name], strict=True)}
    return [found[g] for g in sorted(found)]


def run_structured(
    data: Sequence[str],
    methods: str | None,
    outliers: float,
    flips: float,
    repeats: int,
    folds: int,
    jobs: int | None,
    seed: int,
    records: Path | None,
) -> int:
    """Carry out ``bblr structured``; see its help."""
    names = choose("data", data or SOURCES, SOURCES)
    locals_ = choose("methods", methods.split(",") if methods else LOCALS, LOCALS)
    check_least(repeats=(repeats, 1), folds=(folds, 2), jobs=(jobs, 1), seed=(seed, 0))
    for setting, share in (("outliers", outliers), ("flips", flips)):
        if not 0 <= share < 0.5:
            raise SettingError(setting, f"must be at least 0 and below 0.5, got {share}")
    if records is not None:
        check_records(records)
    console = Console()
    run = Run(seed, jobs=jobs or cpu_count(), records=records, console=Console(stderr=True))
    for name in names:
        found = decide(
            run, name, locals_, folds=folds, repeats=repeats, flips=flips,
            # Records to link are as they are; only pages are simulated.
            outliers=outliers if name == "pages" else 0.0,
        )  # fmt: skip
        say(console, found.title)
        console.print(terminal_table(found.frame()), "")
    say(console, "z and p: McNemar over groups decided right throughout; z > 0: for the row.")
    return DONE
