"""Claims about joint decisions: against independent ones, and BBLR against LR inside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from research.claims import claim
from research.core import PAGE_OUTLIERS
from research.core.cases import Measured, Run, Unavailable
from research.core.thresholds import Threshold
from research.studies.structured import LOCALS, WAYS, Decisions, Unit, Way, decide

BASELINE, OURS = "LR", "BBLR4"
LINKED = ("amazon-google", "dblp-acm")
# Divisions into folds; of pages each has a set of its own.
DIVISIONS = 3
FLIPS = 0.1
# Points of groups decided right throughout, by which joint decisions must win.
GAINS = {"amazon-google": {"joint": 8.0, "one-to-one": 10.0}, "dblp-acm": {"joint": 1.5}}
# Two-sided at 5 %: a z below this is significantly worse.
_WORSE = -1.96
_TOGETHER: tuple[Way, ...] = ("joint", "one-to-one")
_TOTAL = f"{OURS} joint, groups right beyond {BASELINE}'s, in total"


def _decided(run: Run, name: str, locals_: tuple[str, ...], **options: Any) -> Decisions:
    run.tell(f"{name} ...")
    try:
        return decide(run, name, locals_, **options)
    except (OSError, ImportError) as error:
        raise Unavailable(str(error)) from error


def _measured(figures: dict[str, float], *found: Decisions) -> Measured:
    notes = [line for one in found for line in (one.title, *one.frame().to_string().split("\n"))]
    return Measured(figures, notes, {one.source.name: one.record() for one in found})


def _gain(found: Decisions, local: str, way: Way, unit: Unit) -> float:
    return found.accuracy(local, way, unit) - found.accuracy(local, "alone", unit)


def _above(name: str, local: str, way: str) -> str:
    return f"{name}: {local} {way}, points of groups above alone"


def _faces(local: str) -> str:
    return f"{local}: joint, points of faces above alone"


def _ahead(way: str) -> str:
    return f"{OURS} {way}, points of faces above {BASELINE}"


def _lead(name: str, way: str) -> str:
    return f"{name}: {OURS} {way}, McNemar z against {BASELINE}, groups"


def _leads(found: Decisions, *ways: Way) -> dict[str, float]:
    tests = {way: found.test((OURS, way), (BASELINE, way), "group") for way in ways}
    return {_lead(found.source.name, way): test.z for way, test in tests.items() if test}


def _no_worse(names: Iterable[str], *ways: str) -> list[Threshold]:
    return [Threshold(_lead(name, way), ">", _WORSE) for name in names for way in ways]


@claim(
    "structured-pages",
    "JointModel on simulated pages with 12 % far outliers, three sets, five folds by page",
    *(Threshold(_faces(local), ">=", 9.0) for local in (BASELINE, OURS)),
    *(Threshold(_ahead(way), ">=", 2.0) for way in WAYS),
    *_no_worse(["pages"], "joint"),
)
def pages(run: Run) -> Measured:
    repeats = min(run.repeats, DIVISIONS)
    found = _decided(run, "pages", LOCALS, outliers=PAGE_OUTLIERS, repeats=repeats)
    figures = {_faces(who): _gain(found, who, "joint", "member") for who in (BASELINE, OURS)}
    for way in WAYS:
        mine, theirs = (found.accuracy(who, way, "member") for who in (OURS, BASELINE))
        figures[_ahead(way)] = mine - theirs
    return _measured(figures | _leads(found, "joint"), found)


@claim(
    "structured-linkage",
    "JointModel on Amazon-Google and DBLP-ACM, groups of 2 to 7, 3 x 5 folds by left record",
    *(
        Threshold(_above(name, local, way), ">=", points)
        for name, ways in GAINS.items()
        for local in (BASELINE, OURS)
        for way, points in ways.items()
    ),
    *_no_worse(LINKED, *_TOGETHER),
)
def linkage(run: Run) -> Measured:
    repeats = min(run.repeats, DIVISIONS)
    found = [_decided(run, name, LOCALS, repeats=repeats) for name in LINKED]
    figures = {
        _above(one.source.name, local, way): _gain(one, local, way, "group")
        for one in found
        for local in (BASELINE, OURS)
        for way in _TOGETHER
    }
    for one in found:
        figures |= _leads(one, *_TOGETHER)
    return _measured(figures, *found)


@claim(
    "structured-flips",
    "JointModel with 10 % of the training labels flipped, on records and pages, five folds",
    Threshold(_TOTAL, ">=", 0),
    *_no_worse((*LINKED, "pages"), "joint"),
)
def flips(run: Run) -> Measured:
    found = [_decided(run, n, (BASELINE, OURS), flips=FLIPS) for n in (*LINKED, "pages")]
    rights = [[one.correct(who, "joint", "group") for who in (OURS, BASELINE)] for one in found]
    figures: dict[str, float] = {_TOTAL: sum(mine - theirs for mine, theirs in rights)}
    for one in found:
        figures |= _leads(one, "joint")
    return _measured(figures, *found)
