"""How the claims of the paper, and our own thresholds, hold up over all tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from research.core.thresholds import MET, MISSED, NOT_JUDGED, Threshold, Verdict
from research.paper.exhibit import Level, Result

__all__ = ["findings"]

_POINT = 1.0
# z of a test on both sides at 5 %.
_SIGNIFICANT = 1.96
_BASELINES = ("LR", "SVM")
_OURS = ("BBLR3", "BBLR4")
_DEFAULT, _UNTUNED = "BBLR", "BBLR0"
# Tables of test errors on data without added noise, and all tables of test errors in per cent.
_CLEAN = ("table-errors", "table-large", "table-reviews")
_PERCENT = ("table-errors", "table-noisy-errors", "table-large", "table-reviews")


def findings(results: Sequence[Result], level: Level) -> list[Verdict]:
    """Work out what the tables say together; nothing about tables that are not there.

    BBLR is BBLRClassifierCV, BBLR0 is BBLRClassifier, both as they come.
    A quick run tells the figures but judges nothing: they rest on too few rows.
    """
    entries = _entries(results)
    tests: list[Callable[[pd.DataFrame], Verdict | None]] = [
        _baselines,
        _at_or_below,
        partial(_total, table="table-sums", words="On the clean UCI sets", share=0.0),
        partial(_total, table="table-noisy-sums", words="With outliers of one class", share=20.0),
    ]
    for column in (_DEFAULT, _UNTUNED):
        tests += [
            partial(_web8, column=column),
            partial(_leak_free, column=column),
            partial(_fewer, column=column, data="TREC07p, random fifth", share=0.0),
            partial(_fewer, column=column, data="TREC07p, delivery order", share=15.0),
        ]
    tests += [
        _reviews,
        partial(_pooled, table="table-mcnemar", column="BBLR3", least=2.32),
        partial(_pooled, table="table-mcnemar-tuned", column=_DEFAULT, least=5.0),
        _joint,
    ]
    found = [verdict for test in tests if (verdict := test(entries)) is not None]
    return found if level == "full" else [replace(one, status=NOT_JUDGED) for one in found]


def _entries(results: Iterable[Result]) -> pd.DataFrame:
    """Return all figures of the first reading of each table."""
    first: dict[str, Result] = {}
    for result in results:
        if result.is_table:
            first.setdefault(result.name, result)
    rows = [
        (name, e.row, e.column, e.printed, e.ours, e.difference, e.remark, e.tests)
        for name, result in first.items()
        for e in result.entries
    ]
    names = ["table", "row", "column", "printed", "ours", "difference", "remark", "tests"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.astype({"printed": float, "ours": float, "difference": float})


def _verdict(claim: str, evidence: str, met: bool, rows: Iterable[str] = ()) -> Verdict:
    return Verdict(claim, evidence, MET if met else MISSED, notes=tuple(rows))


def _both(entries: pd.DataFrame, tables: Iterable[str], columns: Iterable[str]) -> pd.DataFrame:
    """Return figures of ours that stand next to a printed one."""
    here = entries["table"].isin(list(tables)) & entries["column"].isin(list(columns))
    return entries[here & entries["difference"].notna()]


def _names(entries: pd.DataFrame) -> list[str]:
    return [
        f"{e.table}, {e.row}, {e.column}: {e.ours:.2f} against {e.printed:g} printed"
        for e in entries.itertuples()
    ]


def _baselines(entries: pd.DataFrame) -> Verdict | None:
    found = _both(entries, _CLEAN, _BASELINES)
    far = found[found["difference"].abs() > _POINT]
    if found.empty:
        return None
    pairs = zip(_names(far), far["remark"], strict=True)
    return _verdict(
        "LR and SVM are within one point of the paper on clean data, or it is known why not.",
        f"{len(found) - len(far)} of {len(found)} figures are within it.",
        all(far["remark"]),
        [f"{name}. {remark}".strip() for name, remark in pairs],
    )


def _at_or_below(entries: pd.DataFrame) -> Verdict | None:
    found = _both(entries, _PERCENT, _OURS)
    if found.empty:
        return None
    # The paper prints one or two decimals: equal to the last printed one is equal.
    half = found["printed"].map(lambda value: 0.5 * 10.0 ** -len(f"{value:g}".partition(".")[2]))
    above = found[found["difference"] > half]
    return _verdict(
        "BBLR3 and BBLR4 are at or below the paper's error on most rows.",
        f"{len(found) - len(above)} of {len(found)} figures are.",
        2 * len(above) < len(found),
        _names(above),
    )


def _row(entries: pd.DataFrame, table: str, row: str) -> dict[str, float]:
    here = entries[(entries["table"] == table) & (entries["row"] == row)].dropna(subset="ours")
    return dict(zip(here["column"], here["ours"], strict=True))


def _figures(row: dict[str, float], *columns: str) -> str:
    return ", ".join(f"{column} {row[column]:.2f} %" for column in columns if column in row)


def _web8(entries: pd.DataFrame, column: str) -> Verdict | None:
    row = _row(entries, "table-large", "web8, official split")
    if column not in row:
        return None
    return _verdict(
        f"On web8's official split {column} makes at most 0.88 % errors.",
        f"{_figures(row, column, *_BASELINES)}. Its test rows all stand in its training file.",
        Threshold(column, "<=", 0.88).met(row[column]),
    )


def _total(entries: pd.DataFrame, table: str, words: str, share: float) -> Verdict | None:
    row = _row(entries, table, "Total")
    if not {_DEFAULT, *_BASELINES} <= set(row):
        return None
    best = min(row[name] for name in _BASELINES)
    fewer = 100.0 * (1.0 - row[_DEFAULT] / best)
    figures = ", ".join(f"{name} {row[name]:.1f}" for name in (_DEFAULT, *_BASELINES))
    return _verdict(
        f"{words}, {_DEFAULT} makes {_at_least(share)} the better of LR and SVM, in total.",
        f"{_more_or_fewer(fewer)}: {figures}.",
        Threshold(_DEFAULT, ">=", share).met(fewer),
    )


def _at_least(share: float) -> str:
    return f"at least {share:g} % fewer errors than" if share else "no more errors than"


def _more_or_fewer(fewer: float) -> str:
    return f"{abs(fewer):.1f} % {'fewer' if fewer >= 0 else 'more'}"


def _leak_free(entries: pd.DataFrame, column: str) -> Verdict | None:
    row = _row(entries, "table-large", "web8, leak-free")
    if not {column, *_BASELINES} <= set(row):
        return None
    zs = _zs(entries, "table-large", "web8, leak-free", column)
    shown = ", ".join(f"z = {z:.1f} against {name}" for name, z in zs.items())
    return _verdict(
        f"On web8 without the leak {column} is significantly below tuned LR and SVM.",
        f"{_figures(row, column, *_BASELINES)}; {shown}.".replace("-", "−"),
        set(zs) >= set(_BASELINES) and min(zs.values()) >= _SIGNIFICANT,
    )


def _zs(entries: pd.DataFrame, table: str, row: str, column: str) -> dict[str, float]:
    places = {"table": table, "row": row, "column": column}
    here = entries[(entries[list(places)] == pd.Series(places)).all(axis=1)]
    return {test.baseline: test.z for tests in here["tests"] for test in tests}


def _fewer(entries: pd.DataFrame, column: str, data: str, share: float) -> Verdict | None:
    row = _row(entries, "table-large", data)
    if not {column, "LR"} <= set(row) or not row["LR"]:
        return None
    fewer = 100.0 * (1.0 - row[column] / row["LR"])
    zs = _zs(entries, "table-large", data, column)
    z = f" (z = {zs['LR']:.1f})".replace("-", "−") if "LR" in zs else ""
    return _verdict(
        f"On {data}, {column} makes {_at_least(share)} tuned LR.",
        f"{_more_or_fewer(fewer)}{z}: {_figures(row, column, 'LR')}.",
        Threshold(column, ">=", share).met(fewer),
    )


def _reviews(entries: pd.DataFrame) -> Verdict | None:
    mine = entries[entries["table"] == "table-reviews"]
    # Those of the paper, not those of a user's file.
    rows = {
        row: _row(entries, "table-reviews", row) for row in mine.dropna(subset="printed")["row"]
    }
    gaps = {
        row: figures[_DEFAULT] - figures["LR"]
        for row, figures in rows.items()
        if {_DEFAULT, "LR"} <= set(figures)
    }
    above = [f"{name}: {gap:+.2f} points" for name, gap in gaps.items() if gap > 0]
    if not gaps:
        return None
    return _verdict(
        f"On the reviews {_DEFAULT} makes no more errors than well-tuned LR, in each domain.",
        f"So it is in {len(gaps) - len(above)} of {len(gaps)}.",
        not above,
        above,
    )


def _pooled(entries: pd.DataFrame, table: str, column: str, least: float) -> Verdict | None:
    here = (entries["table"] == table) & (entries["row"] == "Noisy")
    noisy = entries[here & entries["column"].str.contains("once")].dropna(subset="ours")
    if noisy.empty:
        return None
    return _verdict(
        f"With noise {column} makes significantly fewer errors than LR and SVM "
        f"(z of {least:g} and more).",
        ", ".join(f"{e.column}: z = {e.ours:.1f}" for e in noisy.itertuples()) + ".",
        bool((noisy["ours"] >= least).all()),
    )


def _joint(entries: pd.DataFrame) -> Verdict | None:
    rows = entries[entries["table"] == "table-structured"]["row"].unique()
    found = {row: _zs(entries, "table-structured", row, f"{_DEFAULT} joint") for row in rows}
    zs = {row: each["LR"] for row, each in found.items() if "LR" in each}
    if not zs:
        return None
    return _verdict(
        f"In the joint model {_DEFAULT} is nowhere significantly worse than LR.",
        ", ".join(f"{row}: z = {z:.1f}" for row, z in zs.items()).replace("-", "−") + ".",
        min(zs.values()) > -_SIGNIFICANT,
    )
