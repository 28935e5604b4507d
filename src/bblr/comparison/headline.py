"""A comparison in a sentence or two, whichever way it turned out."""

from __future__ import annotations

from dataclasses import dataclass

from bblr.comparison.methods import BASELINES
from bblr.comparison.settings import Condition
from bblr.comparison.summary import Group, Row, Summary

__all__ = ["Finding", "champion", "findings", "format_p"]

# Fixed before any result is seen: choosing the best on test data would flatter it.
_PREFERENCE = ("BBLR", "BBLR4", "BBLR3", "BBLR2", "BBLR1", "BBLR0")


def champion(summary: Summary) -> str | None:
    """Choose the BBLR method to speak of: the first one present, of a fixed order."""
    return next((name for name in _PREFERENCE if name in summary.methods), None)


@dataclass(frozen=True)
class Finding:
    """What came out in one condition: a sentence, and the tests behind it."""

    claim: str
    evidence: str = ""


def findings(summary: Summary) -> list[Finding]:
    """State what came out in each condition, noisy conditions first."""
    ordered = sorted(summary.conditions, key=lambda condition: condition.noise == 0)
    return [_finding(summary, condition) for condition in ordered]


def _finding(summary: Summary, condition: Condition) -> Finding:
    group = summary.total(condition)
    opening = f"With {condition.label}" if condition.noise else "On clean data"
    if any(r.done < r.planned for r in group.rows) or len(group.rows) < len(summary.methods):
        return Finding(f"{opening}, some folds have no result, so no totals are compared.")
    name = champion(summary)
    row = group.row(name) if name else None
    rivals = [rival for rival in map(group.row, BASELINES) if rival is not None]
    if row is None or not rivals:
        counts = ", ".join(f"{r.label} {_count(r.errors)}" for r in group.rows)
        return Finding(f"{opening}, test errors on {_rows(group, summary)}: {counts}.")
    comparisons = " and ".join(_comparison(row, rival) for rival in rivals)
    tests = ", ".join(
        f"z = {row.versus[rival.method].z:+.1f} (p {format_p(row.versus[rival.method].p, True)}) "
        f"against {rival.label}"
        for rival in rivals
    )
    return Finding(
        f"{opening}, {row.label} makes {_count(row.errors)} test errors on "
        f"{_rows(group, summary)}: {comparisons}.",
        f"McNemar’s test, pooled: {tests}.",
    )


def _rows(group: Group, summary: Summary) -> str:
    sets = summary.data[0] if len(summary.data) == 1 else f"{len(summary.data)} data sets"
    return f"the {group.n_rows:,} rows of {sets}"


def _count(errors: float) -> str:
    """Return a number of errors; means over repeats have a decimal."""
    return f"{errors:,.0f}" if errors == round(errors) else f"{errors:,.1f}"


def _comparison(row: Row, rival: Row) -> str:
    if rival.errors == row.errors:
        return f"as many as {rival.label}"
    theirs = f"{rival.label} ({_count(rival.errors)})"
    if not rival.errors:
        return f"more than {theirs}"
    change = 100 * (row.errors / rival.errors - 1)
    return f"{abs(change):.1f} % {'fewer' if change < 0 else 'more'} than {theirs}"


def format_p(p: float, sign: bool = False) -> str:
    """Write a p-value in three decimals, with its relation sign if asked."""
    if p < 0.001:
        return "< .001" if sign else "<.001"
    text = f"{p:.3f}".lstrip("0")
    return f"= {text}" if sign else text
