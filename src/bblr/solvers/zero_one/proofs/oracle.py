"""Finds the cuts that a relaxed solution overlooks: contradictions, and sets of higher rank."""

from __future__ import annotations

import numpy as np

from bblr.solvers.zero_one.certificates import contradiction
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.proofs.cover import VIOLATION, Cut, Floats, quiet_model
from bblr.solvers.zero_one.proofs.elimination import shown
from bblr.solvers.zero_one.proofs.rank_walk import NO_ROW, first_corner, grow_set

# A coefficient of a combination below this is rounding; so is a row with it.
_PRESENT = 1e-9
_CUTS_A_ROUND = 20
# Sets of a rank to try, and how many are enough not to try the next rank.
_SETS_A_ROUND, _ENOUGH = 10, 4
# Contradictions in a set, and looks at them while it grows.
_MOST_SETS, _LOOKS = 600, 2_000_000
# Rows outside a set cost this at least; rows decided to be wrong, and those already used, more.
_OUTSIDE, _WRONG, _USED = 1e-4, 5.0, 0.2
# Numbers in a table beyond which sets of higher rank take too long.
_SMALL = 100_000


class Oracle:
    """What is asked for overlooked cuts; each is proved before it is handed out.

    Parameters
    ----------
    problem : ZeroOneProblem
        The rows.
    proved : dict
        Which sets of rows whole numbers have shown to contain a contradiction, for all oracles.
    """

    def __init__(self, problem: ZeroOneProblem, proved: dict[tuple[int, ...], bool]) -> None:
        self.given, self.proved = problem.given, proved
        n, d = problem.rows.shape
        self.n = n
        lengths = np.linalg.norm(problem.rows, axis=1, keepdims=True)
        table = np.hstack([problem.rows / np.where(lengths > 0, lengths, 1.0), np.ones((n, 1))])
        self.model = quiet_model()
        # Primal simplex: only costs change from call to call.
        self.model.setOptionValue("simplex_strategy", 4)
        right = np.zeros(d + 1)
        right[-1] = 1.0
        starts = np.zeros(d + 1, np.int32)
        self.model.addRows(
            d + 1, right, right, 0, starts, np.empty(0, np.int32), np.empty(0)
        )  # fmt: skip
        index = np.tile(np.arange(d + 1, dtype=np.int32), n)
        self.model.addCols(
            n, np.zeros(n), np.zeros(n), np.full(n, np.inf), n * (d + 1),
            np.arange(n, dtype=np.int32) * (d + 1), index, table.ravel(),
        )  # fmt: skip
        self.columns = np.arange(n, dtype=np.int32)
        self.known: set[tuple[int, ...]] = set()
        # The table of the compiled part, and the corner where it stands.
        self.table = np.vstack([table, np.eye(d + 1)])
        self.corner = np.zeros(d + 1, np.int64), np.empty((d + 1, d + 1))
        self.small = table.size <= _SMALL and bool(first_corner(self.table, *self.corner))

    def contradictions(self, z: Floats, wrong: tuple[int, ...]) -> list[Cut]:
        """Return proved contradictions whose rows z sums to less than one over."""
        import highspy

        found: list[Cut] = []
        cost = z.copy()
        cost[list(wrong)] = 10.0
        for _ in range(_CUTS_A_ROUND):
            self.model.changeColsCost(self.n, self.columns, cost)
            self.model.run()
            if self.model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                break
            share = np.array(self.model.getSolution().col_value)
            members = np.flatnonzero(share > _PRESENT)
            if float(z[members].sum()) >= 1.0 - VIOLATION:
                break
            cut = contradiction(self.given, members.tolist())
            if cut is None or cut in self.known:
                # Steer clear of what could not be proved, or is known already.
                cost[members] += 0.1
                if cut is None:
                    continue
                break
            self.known.add(cut)
            found.append(Cut(np.array(cut), np.ones(len(cut)), 1.0))
            cost[members] += _USED
        return found

    def sets(
        self, z: Floats, wrong: tuple[int, ...], right: tuple[int, ...], highest: int
    ) -> list[Cut]:
        """Return sets of proved rank over which z sums to less than their rank.

        A row decided to be right may be part of a set without being taken out to prove its rank;
        its factor is the rank, so that the cut holds wherever the row is wrong.
        """
        found: list[Cut] = []
        if not self.small:
            return found
        decided = np.zeros(self.n, bool)
        decided[list(right)] = True
        sets = np.empty((_MOST_SETS, len(self.corner[0])), np.int64)
        sizes, inside = np.empty(_MOST_SETS, np.int64), np.empty(self.n, bool)
        for rank in range(2, highest + 1):
            start = z + _OUTSIDE
            start[list(wrong)] += _WRONG
            before = len(found)
            for _ in range(_SETS_A_ROUND):
                cost = np.append(start, np.full(len(self.corner[0]), NO_ROW))
                count = grow_set(
                    self.table, *self.corner, z, cost, np.where(decided, rank + 1, 0), rank,
                    rank - 100 * VIOLATION, _LOOKS, sets, sizes, inside,
                )  # fmt: skip
                if sizes[0] == 0:
                    break
                start[sets[0, : sizes[0]]] += _USED
                if count and self._all_proved(sets[:count], sizes[:count]):
                    rows = np.flatnonzero(inside)
                    factors = np.where(decided[rows], float(rank), 1.0)
                    found.append(Cut(rows, factors, float(rank)))
            if len(found) - before >= _ENOUGH:
                break
        return found

    def _all_proved(self, sets: np.ndarray, sizes: np.ndarray) -> bool:
        """Say whether each of the sets is proved to contain a contradiction."""
        for k in np.flatnonzero(~shown(self.given, sets, sizes)):
            key = tuple(sorted(sets[k, : sizes[k]].tolist()))
            if key not in self.proved:
                self.proved[key] = contradiction(self.given, key) is not None
            if not self.proved[key]:
                return False
        return True
