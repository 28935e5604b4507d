"""Claims about joint decisions: beside independent ones, and BBLR beside LR inside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bblr.comparison.methods import FOLDS
from research.claims.base import Claim, ClaimRun
from research.core import PAGE_OUTLIERS
from research.core.targets import Bar, Measured, Unavailable
from research.studies.structured import Condition, Results, Unit, Way, decide
from research.studies.structured_job import record, table

__all__ = ["STRUCTURED_CLAIMS"]

RIVAL, PROBABILISTIC = "LR", "BBLR4"
LINKED = ("amazon-google", "dblp-acm")
# Divisions into folds; of pages each has a set of its own.
DIVISIONS = 3
FLIPS = 0.1
# Points of groups decided right throughout, by which joint decisions must win.
GAINS = {"amazon-google": {"joint": 8.0, "one-to-one": 10.0}, "dblp-acm": {"joint": 1.5}}
# Two-sided at 5 %: a z below this is significantly worse.
_WORSE = -1.96
_TOGETHER: tuple[Way, ...] = ("joint", "one-to-one")


def _measured(
    run: ClaimRun, name: str, condition: Condition, repeats: int, locals_: tuple[str, ...]
) -> tuple[Results, list[str], dict[str, Any]]:
    run.console.print(f"{name}, {condition.label} ...", highlight=False, markup=False)
    try:
        source, results = decide(
            name,
            condition,
            folds=FOLDS,
            repeats=repeats,
            seed=run.seed,
            jobs=run.jobs,
            locals_=locals_,
        )
    except (OSError, ImportError) as error:
        raise Unavailable(str(error)) from error
    lines = table(source, results, condition, list(locals_))
    return results, lines, record(source, results, condition, list(locals_))


def _gain(results: Results, local: str, way: Way, unit: Unit) -> float:
    return results.accuracy(local, way, unit) - results.accuracy(local, "alone", unit)


def _above(name: str, local: str, way: str) -> str:
    return f"{name}: {local} {way}, points of groups above alone"


def _lead(name: str, way: str) -> str:
    return f"{name}: {PROBABILISTIC} {way}, McNemar z against {RIVAL}, groups"


def _z(results: Results, way: Way) -> float:
    return results.test((PROBABILISTIC, way), (RIVAL, way), "group").z


def _ahead(way: str) -> str:
    return f"{PROBABILISTIC} {way}, points of faces above {RIVAL}"


def _pages(run: ClaimRun) -> Measured:
    repeats = min(run.repeats, DIVISIONS)
    locals_ = (RIVAL, "BBLR3", PROBABILISTIC)
    condition = Condition(outliers=PAGE_OUTLIERS)
    results, notes, details = _measured(run, "pages", condition, repeats, locals_)
    figures = {
        f"{local}: joint, points of faces above alone": _gain(results, local, "joint", "member")
        for local in (RIVAL, PROBABILISTIC)
    }
    ways: tuple[Way, ...] = ("alone", "joint")
    for way in ways:
        figures[_ahead(way)] = results.accuracy(PROBABILISTIC, way, "member") - results.accuracy(
            RIVAL, way, "member"
        )
    figures[_lead("pages", "joint")] = _z(results, "joint")
    return Measured(figures, notes, details)


def _linkage(run: ClaimRun) -> Measured:
    repeats = min(run.repeats, DIVISIONS)
    figures: dict[str, float] = {}
    notes: list[str] = []
    details: dict[str, Any] = {}
    for name in LINKED:
        results, lines, details[name] = _measured(
            run, name, Condition(), repeats, (RIVAL, "BBLR3", PROBABILISTIC)
        )
        notes += lines
        for local in (RIVAL, PROBABILISTIC):
            for way in _TOGETHER:
                figures[_above(name, local, way)] = _gain(results, local, way, "group")
        for way in _TOGETHER:
            figures[_lead(name, way)] = _z(results, way)
    return Measured(figures, notes, details)


def _flips(run: ClaimRun) -> Measured:
    """Count groups decided right with a tenth of the training labels wrong, over all data."""
    figures: dict[str, float] = {}
    notes: list[str] = []
    details: dict[str, Any] = {}
    total = 0
    for name in (*LINKED, "pages"):
        results, lines, details[name] = _measured(
            run, name, Condition(flips=FLIPS), 1, (RIVAL, PROBABILISTIC)
        )
        notes += lines
        figures[_lead(name, "joint")] = _z(results, "joint")
        total += results.correct(PROBABILISTIC, "joint", "group")
        total -= results.correct(RIVAL, "joint", "group")
    figures[_TOTAL] = total
    return Measured(figures, notes, details)


_TOTAL = f"{PROBABILISTIC} joint, groups right beyond {RIVAL}'s, in total"


def _no_worse(names: Iterable[str], ways: tuple[str, ...]) -> list[Bar]:
    return [Bar(_lead(name, way), ">", _WORSE) for name in names for way in ways]


STRUCTURED_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "structured-pages",
        "JointModel on simulated pages with 12 % far outliers, three sets, five folds by page",
        (
            *(
                Bar(f"{local}: joint, points of faces above alone", ">=", 9.0)
                for local in (RIVAL, PROBABILISTIC)
            ),
            *(Bar(_ahead(way), ">=", 2.0) for way in ("alone", "joint")),
            *_no_worse(["pages"], ("joint",)),
        ),
        _pages,
    ),
    Claim(
        "structured-linkage",
        "JointModel on Amazon-Google and DBLP-ACM, groups of 2 to 7, 3 x 5 folds by left record",
        (
            *(
                Bar(_above(name, local, way), ">=", points)
                for name, ways in GAINS.items()
                for local in (RIVAL, PROBABILISTIC)
                for way, points in ways.items()
            ),
            *_no_worse(LINKED, ("joint", "one-to-one")),
        ),
        _linkage,
    ),
    Claim(
        "structured-flips",
        "JointModel with 10 % of the training labels flipped, on records and pages, five folds",
        (Bar(_TOTAL, ">=", 0), *_no_worse((*LINKED, "pages"), ("joint",))),
        _flips,
    ),
)
