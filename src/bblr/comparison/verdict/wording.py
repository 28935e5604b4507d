"""A verdict in words and numbers, the same on the terminal, in the report and in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from bblr.comparison.document import DASH
from bblr.comparison.methods import find_method
from bblr.comparison.verdict.metrics import METRICS
from bblr.comparison.verdict.paired import Interval
from bblr.comparison.verdict.standings import BASELINE, MAJORITY, Line, Standing

__all__ = ["as_json", "change", "remarks", "sentence", "shown_value", "table"]

# Where the majority class errs on fewer rows than this, errors say little.
_RARE = 0.2


def sentence(standing: Standing) -> str:
    """Say in one sentence what to do."""
    said = _said(standing)
    if not standing.condition.noise:
        return _capital(said)
    return f"With {standing.condition.label}: {said}"


def _said(standing: Standing) -> str:
    decision, spoken = standing.decision, _spoken(standing, BASELINE)
    if decision.kind == "open":
        return f"{spoken} has no result on all folds, so nothing is compared with it."
    if decision.kind == "majority":
        return "no method is detectably better than always predicting the majority class."
    if decision.kind == "use":
        use = _spoken(standing, decision.method)
        gain = change(standing, decision.gains[str(decision.method)])
        return f"use {use}: {gain} than with {spoken} (95 %)."
    if set(decision.alike) - {MAJORITY}:
        return f"no detectable difference; keep {spoken}."
    return f"keep {spoken}: every other method does worse."


def remarks(standing: Standing) -> list[str]:
    """Say what else belongs to the verdict."""
    decision, found = standing.decision, []
    spoken = _spoken(standing, BASELINE)
    if decision.kind == "use" and decision.alike:
        names = _joined(_spoken(standing, name) for name in decision.alike)
        use = _spoken(standing, decision.method)
        found.append(f"No detectable difference between {use} and {names}.")
    others = [name for name in decision.alike if name != MAJORITY]
    if decision.kind == "keep" and others:
        gain = decision.gains[others[0]]
        best = _capital(_spoken(standing, others[0]))
        if gain.low == gain.high:
            found.append(f"{best} does exactly as well.")
        else:
            found.append(f"{best} against {spoken}: {_either_way(standing, gain)} (95 %).")
    if decision.kind == "majority":
        found.append(_beyond_the_majority(standing))
    without = [line.label for line in standing.lines if line.value is None]
    if without:
        found.append(f"Not compared, as a result is missing: {', '.join(without)}.")
    return found


def _beyond_the_majority(standing: Standing) -> str:
    """Say what may show more than the majority class does."""
    line = standing.line(MAJORITY)
    if standing.metric.name == "error" and line and line.metrics["error"] < _RARE:
        return "Error rates say little about rare classes: try --metric balanced, auc or f1."
    return "More rows or more informative columns may change that."


def _spoken(standing: Standing, name: str | None) -> str:
    method = find_method(str(name))
    line = standing.line(name)
    label = line.label if line else str(name)
    return (method.spoken if method else "") or label


def _joined(names: Any) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def change(standing: Standing, gain: Interval) -> str:
    """Say how much better, from the lower to the upper end."""
    name = standing.metric.name
    if name in ("error", "cost"):
        per = _per(max(abs(gain.low), abs(gain.high)))
        ends = f"{_count(gain.low * per)} to {_count(gain.high * per)}"
        if name == "cost":
            return f"a cost {ends} lower per {per:,} rows"
        return f"{ends} fewer errors in {per:,}"
    title, way = standing.metric.title, "higher" if standing.metric.higher else "lower"
    if name == "balanced":
        return f"{title} {100 * gain.low:.1f} to {100 * gain.high:.1f} points {way}"
    return f"{title} {gain.low:.3f} to {gain.high:.3f} {way}"


def _either_way(standing: Standing, gain: Interval) -> str:
    """Say how much worse or better, of an interval that holds 0."""
    name = standing.metric.name
    better, worse = ("higher", "lower") if standing.metric.higher else ("lower", "higher")
    if name == "error":
        per = _per(max(-gain.low, gain.high))
        more, fewer = _count(gain.low * per), _count(gain.high * per)
        return f"between {more} more and {fewer} fewer errors in {per:,}"
    scale, unit, rows, digits = 1.0, "", "", 3
    if name == "cost":
        scale, digits = float(_per(max(-gain.low, gain.high))), 0
        rows = f" per {scale:,.0f} rows"
    elif name == "balanced":
        scale, unit, digits = 100.0, " points", 1
    # Enough digits that the wider side is not zero.
    while scale * max(-gain.low, gain.high) < 0.5 * 10**-digits and digits < 9:
        digits += 1
    low, high = (f"{scale * end:.{digits}f}" for end in (-gain.low, gain.high))
    title = "a cost" if name == "cost" else standing.metric.title
    return f"{title} between {low}{unit} {worse} and {high} {better}{rows}"


def _per(rate: float) -> int:
    """Return of how many rows to speak, so that there are some whole errors among them."""
    per = 1_000
    while rate * per < 10 and per < 1_000_000:
        per *= 10
    return per


def _count(number: float) -> str:
    return f"{abs(number):.1f}" if 0 < abs(number) < 1 else f"{abs(number):,.0f}"


def shown_value(name: str, value: float | None) -> str:
    """Write a metric as tables show it: rates in percent, others as they are."""
    if value is None:
        return DASH
    return f"{100 * value:.2f}" if name in _PERCENT else f"{value:.3f}"


def _shown_ends(name: str, interval: Interval | None, *, signed: bool = False) -> str:
    if interval is None:
        return DASH
    scale, digits = (100, 1) if name in _PERCENT else (1, 3)
    pattern = f"{{:{'+' if signed else ''}.{digits}f}}"
    ends = (pattern.format(scale * end) for end in (interval.low, interval.high))
    return " to ".join(ends).replace("-", "−")


_PERCENT = ("error", "balanced")
_HEADS = {"error": "Error\n%", "balanced": "Bal.\n%", "log-loss": "Log\nloss"}


def table(standing: Standing) -> pd.DataFrame:
    """Lay a standing out as texts: the chosen metric, its interval, the difference, the rest."""
    name = standing.metric.name
    others = [each for each in ("error", "balanced", "auc", "log-loss") if each != name]
    # With three digits, the intervals leave room for two more columns on 80.
    others = others[: 3 if name in _PERCENT else 2]
    baseline = standing.line(BASELINE)
    rows = []
    for line in standing.lines:
        row = {
            "Method": line.label + (f" ({line.done}/{line.planned})" * (line.done < line.planned)),
            _head(name): shown_value(name, line.value.value if line.value else None),
            "95 %": _shown_ends(name, line.value),
        }
        if baseline is not None:
            row[f"95 %, against\n{baseline.label}"] = _shown_ends(
                name, _difference(standing, line), signed=True
            )
        row |= {_head(each): shown_value(each, line.metrics.get(each)) for each in others}
        row["Sec."] = DASH if line.seconds != line.seconds else f"{line.seconds:.2f}"
        rows.append(row)
    return pd.DataFrame(rows)


def _head(name: str) -> str:
    return _HEADS.get(name, METRICS[name].title)


def _difference(standing: Standing, line: Line) -> Interval | None:
    """Return the metric less that of the baseline, which is the gain where more is better."""
    if line.gain is None or standing.metric.higher:
        return line.gain
    return line.gain.flipped()


def as_json(standings: Sequence[Standing]) -> dict[str, Any]:
    """Return everything as JSON values; docs/command_line.md says what they mean."""
    metric = standings[0].metric
    return {
        "metric": metric.name,
        "higher_is_better": metric.higher,
        "results": [_standing_json(standing) for standing in standings],
    }


def _standing_json(standing: Standing) -> dict[str, Any]:
    decision = standing.decision
    return {
        "data": standing.data,
        "condition": standing.condition.label,
        "rows": standing.n_rows,
        "folds": standing.folds,
        "repeats": standing.repeats,
        "verdict": {
            "decision": decision.kind,
            "method": decision.method,
            "sentence": sentence(standing),
            "remarks": remarks(standing),
            "alike": list(decision.alike),
        },
        "methods": [
            {
                "method": line.method,
                "value": _ends(line.value),
                "difference": _ends(_difference(standing, line)),
                "metrics": dict(line.metrics),
                "seconds": line.seconds,
                "folds_done": line.done,
                "folds_planned": line.planned,
            }
            for line in standing.lines
        ],
    }


def _ends(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else {**vars(interval)}
