"""Records as frames: one line per table, condition and method, folds joined; and pooled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from bblr.comparison.records import Record
from bblr.comparison.tasks import is_result
from bblr.evaluation import mcnemar, pooled_mcnemar
from research.panorama.cells import CONDITIONS, Cell
from research.panorama.methods import BASELINE, METHODS
from research.panorama.scores import unpack
from research.panorama.tables import Table

__all__ = ["GROUPS", "Results", "paired", "pooled_z", "significant"]

GROUPS = {
    "all": ("two", "rare", "many", "wide"),
    "two": ("two", "rare", "wide"),
    "many": ("many",),
    "rare": ("rare",),
    "wide": ("wide",),
}
LEVEL = 0.01
_PLACE = ["data", "condition", "method"]
_MEANS = ["balanced_error", "log_loss", "base_log_loss", "calibration_error", "auc"]


class Results:
    """The results of a plan, as far as they are there.

    Parameters
    ----------
    cells : sequence of Cell
        What was planned, for all methods.
    records : dict of str to dict
        The records that are there, by key.
    unread : iterable of Table
        Tables that should have been planned and could not be read.

    Attributes
    ----------
    planned : DataFrame
        A line a cell: where it is, and whether it is done, has failed or was skipped.
    sets : DataFrame
        One line per table, condition and method all folds of which are done: ``wrong`` says which
        test rows are errors, ``rate`` how many per cent; others are means over the folds.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        records: Mapping[str, Record],
        unread: Iterable[Table] = (),
    ) -> None:
        self._unread = {table.kind for table in unread}
        self.records = [records[cell.key] for cell in cells if cell.key in records]
        lines = [
            (c.data, c.condition, c.method, c.group, c.fold, _state(records.get(c.key)))
            for c in cells
        ]
        self.planned = pd.DataFrame(lines, columns=[*_PLACE, "group", "fold", "state"])
        self.kinds: dict[str, str] = dict(
            zip(self.planned["data"], self.planned["group"], strict=True)
        )
        there = set(self.planned["condition"])
        self.conditions = [name for name in CONDITIONS if name in there]
        self.methods = list(dict.fromkeys(record["method"] for record in self.records))
        self.sets = self._joined()

    def _joined(self) -> pd.DataFrame:
        """Join the folds of each set that has all of them."""
        whole = self.planned.groupby(_PLACE)["state"].agg(lambda states: set(states) == {"done"})
        done = [r for r in self.records if _state(r) == "done"]
        names = [*_PLACE, *_MEANS, "fit_seconds", "wrong", "constant", "constant_probabilities"]
        frame = pd.DataFrame(
            [
                {
                    **{name: r[name] for name in (*_PLACE, *_MEANS, "fit_seconds", "fold")},
                    "wrong": unpack(r["wrong"], r["n_test"]),
                    "constant": r["constant_predictions"],
                    "constant_probabilities": r["constant_probabilities"],
                }
                for r in done
            ],
            columns=[*names, "fold"],
        )
        frame["auc"] = frame["auc"].astype(float)
        found = (
            frame.sort_values("fold")
            .groupby(_PLACE, sort=False)
            .agg(
                **{name: (name, "mean") for name in _MEANS},
                fit_seconds=("fit_seconds", "sum"),
                wrong=("wrong", lambda parts: np.concatenate(list(parts))),
                constant=("constant", tuple),
                constant_probabilities=("constant_probabilities", tuple),
            )
        )
        found = found[whole.reindex(found.index, fill_value=False).to_numpy(dtype=bool)]
        found["errors"] = [int(wrong.sum()) for wrong in found["wrong"]]
        found["rate"] = [100.0 * float(wrong.mean()) for wrong in found["wrong"]]
        return found.reset_index().sort_values("data", kind="stable")

    def tables(self, group: str) -> list[str]:
        """Return the names of the tables of a group."""
        return sorted(name for name, kind in self.kinds.items() if kind in GROUPS[group])

    def of(self, method: str | None, condition: str, group: str = "all") -> pd.DataFrame:
        """Return the finished sets of one method, or of all, by table."""
        mine = self.sets[self.sets["condition"] == condition]
        mine = mine[mine["data"].isin(self.tables(group))]
        if method is not None:
            mine = mine[mine["method"] == method]
        return mine.set_index("data")

    def pairs(self, method: str, other: str, condition: str, group: str = "all") -> pd.DataFrame:
        """Return the sets that both methods have finished; the columns of the other end in _2."""
        mine, theirs = self.of(method, condition, group), self.of(other, condition, group)
        return paired(mine, theirs)

    def is_run(self, methods: Iterable[str], condition: str, group: str = "all") -> bool:
        """Say whether all that was planned for these methods has been tried, and anything was."""
        if self._unread.intersection(GROUPS[group]):
            return False
        planned = self._planned(condition, group)
        names = set(planned["data"])
        for method in methods:
            own = planned[planned["method"] == method]
            if set(own["data"]) != names or not names or (own["state"] == "missing").any():
                return False
        return True

    def n_failed(self, methods: Iterable[str], condition: str, group: str = "all") -> int:
        """Return how many fits of some methods ended in an error."""
        planned = self._planned(condition, group)
        return int(((planned["state"] == "failed") & planned["method"].isin(list(methods))).sum())

    def _planned(self, condition: str, group: str) -> pd.DataFrame:
        here = self.planned["condition"] == condition
        return self.planned[here & self.planned["group"].isin(GROUPS[group])]

    def ranks(self, methods: Sequence[str], condition: str, group: str = "all") -> pd.Series:
        """Return the mean rank of the error rate among the methods that finished a table.

        The fewest errors are rank 1; equal rates share the mean of their ranks.
        """
        found = self.of(None, condition, group).reset_index()
        found = found[found["method"].isin(methods)]
        rates = found.pivot(index="data", columns="method", values="rate")
        return rates.round(9).rank(axis=1).mean()

    def pooled(self, condition: str, group: str) -> pd.DataFrame:
        """Return the figures of each method over the tables it has finished, by method.

        ``relative`` is the sum of the error rates over the baseline's on the same tables, ``z``
        the pooled McNemar z, positive for fewer errors than the baseline; ``worse`` and
        ``better`` are tables with significantly more or fewer errors.
        """
        ranks = self.ranks(list(METHODS), condition, group)
        rows = {}
        for method in METHODS:
            own = self.of(method, condition, group)
            if own.empty:
                continue
            pairs = self.pairs(method, BASELINE, condition, group)
            worse, better = significant(pairs)
            theirs = pairs["rate_2"].sum()
            rows[method] = {
                "sets": len(own),
                "error_sum": own["rate"].sum(),
                "relative": pairs["rate"].sum() / theirs if theirs else None,
                "z": pooled_z(pairs),
                "worse": worse,
                "better": better,
                **own[["log_loss", "auc", "balanced_error", "calibration_error"]].mean(),
                "rank": ranks.get(method),
                "fit_seconds": own["fit_seconds"].sum(),
            }
        return pd.DataFrame.from_dict(rows, orient="index")


def _state(record: Record | None) -> str:
    if record is None:
        return "missing"
    if not is_result(record):
        return "failed"
    return "skipped" if "skipped" in record else "done"


def paired(mine: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Return the tables that both have, side by side; columns of the second end in _2."""
    return mine.merge(theirs, left_index=True, right_index=True, suffixes=("", "_2"))


def pooled_z(pairs: pd.DataFrame) -> float | None:
    """Return z = Σ(n10 − n01) / √Σ(n01 + n10); positive where the first errs less often."""
    counts = [
        (int(np.sum(a & ~b)), int(np.sum(~a & b)))
        for a, b in zip(pairs["wrong"], pairs["wrong_2"], strict=True)
    ]
    return pooled_mcnemar(counts).z if counts else None


def significant(pairs: pd.DataFrame) -> tuple[int, int]:
    """Return on how many tables the first is worse, and better, by the exact test."""
    tests = [
        mcnemar(np.zeros(len(a), dtype=bool), a, b, exact=True)
        for a, b in zip(pairs["wrong"], pairs["wrong_2"], strict=True)
    ]
    sure = [test.z for test in tests if test.p_value < LEVEL]
    return sum(z < 0 for z in sure), sum(z > 0 for z in sure)
