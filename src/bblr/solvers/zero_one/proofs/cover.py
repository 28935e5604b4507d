"""The relaxed covering problem, and the cuts that it has seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# A cut overlooked by less than this is met.
VIOLATION = 1e-4
_RECALLED = 50
# A cut without a price in this many solutions is idle; so many idle ones are worth a clean-up.
_IDLE, _FEW_IDLE = 3, 20


class Cut(NamedTuple):
    """The z of these rows, times their factors, sum to the demand at least."""

    rows: Ints
    factors: Floats
    demand: float


class Pool:
    """All cuts found so far, in the order they were found, each of them once."""

    def __init__(self) -> None:
        self.cuts: list[Cut] = []
        self._number: dict[bytes, int] = {}
        self._flat = _CutTable.of([])

    def add(self, cuts: list[Cut]) -> Ints:
        """Return the numbers of cuts, old or new."""
        numbers, known = [], len(self.cuts)
        for cut in cuts:
            key = cut.rows.tobytes() + cut.factors.tobytes() + bytes([int(cut.demand)])
            numbers.append(self._number.setdefault(key, len(self.cuts)))
            if numbers[-1] == len(self.cuts):
                self.cuts.append(cut)
        self._flat = self._flat.and_also(self.cuts[known:])
        return np.array(numbers, np.int64)

    def missing(self, z: Floats) -> Floats:
        """Return what each cut is short of its demand."""
        flat = self._flat
        if len(flat.demand) == 0:
            return flat.demand
        starts = np.cumsum(flat.lengths) - flat.lengths
        return flat.demand - np.add.reduceat(z[flat.rows] * flat.factors, starts)


class _CutTable(NamedTuple):
    """Cuts one after the other."""

    rows: Ints
    factors: Floats
    lengths: Ints
    demand: Floats

    @classmethod
    def of(cls, cuts: list[Cut]) -> _CutTable:
        none = cls(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64), np.empty(0))
        return none.and_also(cuts)

    def and_also(self, cuts: list[Cut]) -> _CutTable:
        if not cuts:
            return self
        rows, factors, demand = zip(*cuts, strict=True)
        return _CutTable(
            np.concatenate([self.rows, *rows]),
            np.concatenate([self.factors, *factors]),
            np.append(self.lengths, [len(r) for r in rows]),
            np.append(self.demand, demand),
        )


class Cover:
    """The relaxed covering problem: min weight @ z, 0 <= z <= 1, and the cuts.

    Cuts that have not mattered for a while leave the linear programme, and come back from the pool
    when a solution violates them.
    """

    def __init__(self, weight: Floats, pool: Pool) -> None:
        # Tolerances of the linear solver are absolute: weights of about one suit them.
        self.unit = float(weight.max())
        self.weight = weight / self.unit
        self.n = len(weight)
        self.low, self.high = np.zeros(self.n), np.ones(self.n)
        # What a row costs beyond the prices of its cuts in the last solution.
        self.reduced = np.zeros(self.n)
        self.pool = pool
        # Cuts in the linear programme, their numbers in the pool, and solutions without a price.
        self.held: list[Cut] = []
        self._flat = _CutTable.of([])
        self.number, self.age = np.empty(0, np.int64), np.empty(0, np.int64)
        self.fresh: list[Cut] = []
        self.model = quiet_model()
        none = np.empty(0)
        self.model.addCols(
            self.n, self.weight, self.low, self.high, 0,
            np.zeros(self.n, np.int32), none.astype(np.int32), none,
        )  # fmt: skip

    def fix(self, wrong: tuple[int, ...], right: tuple[int, ...]) -> None:
        """Set the rows that a node has decided."""
        low, high = np.zeros(self.n), np.ones(self.n)
        low[list(wrong)] = 1.0
        high[list(right)] = 0.0
        changed = np.flatnonzero((low != self.low) | (high != self.high)).astype(np.int32)
        if len(changed):
            self.model.changeColsBounds(len(changed), changed, low[changed], high[changed])
        self.low, self.high = low, high
        self._drop_idle()

    def add(self, cuts: list[Cut]) -> None:
        """Add new cuts, which the pool may take over later."""
        first = len(self.pool.cuts) + len(self.fresh)
        self.fresh += cuts
        self._hold(cuts, np.arange(first, first + len(cuts)))

    def hand_over(self, before: int) -> None:
        """Let the pool, which had so many cuts when these were found, take the fresh ones."""
        numbers = self.pool.add(self.fresh)
        mine = self.number >= before
        self.number[mine] = numbers[self.number[mine] - before]
        self.fresh = []

    def recall(self, z: Floats) -> bool:
        """Put overlooked cuts of the pool back; return whether there were any."""
        missing = self.pool.missing(z)
        missing[self.number[self.number < len(missing)]] = 0.0
        overlooked = np.flatnonzero(missing > VIOLATION)
        worst = overlooked[np.argsort(-missing[overlooked], kind="stable")[:_RECALLED]]
        self._hold([self.pool.cuts[k] for k in worst], worst)
        return len(worst) > 0

    def solve(self) -> tuple[Floats, float]:
        """Return a solution and a bound that weak duality proves; infinite if there is none."""
        flat = self._flat
        if len(flat.demand):
            starts = np.cumsum(flat.lengths) - flat.lengths
            most = np.add.reduceat(flat.factors * self.high[flat.rows], starts)
            if np.any(most < flat.demand):
                # Too many rows of a cut are decided to be right.
                return self.low, np.inf
        self.model.run()
        found = self.model.getSolution()
        z, dual = np.array(found.col_value), np.array(found.row_dual)
        if len(dual) != len(self.held) or len(z) != self.n:
            middle = np.clip(np.full(self.n, 0.5), self.low, self.high)
            self.reduced = np.zeros(self.n)
            return middle, self.unit * float(self.weight @ self.low)
        dual = np.maximum(dual, 0.0)
        self.age = np.where(dual > 0, 0, self.age + 1)
        prices = np.repeat(dual, flat.lengths) * flat.factors
        reduced = self.weight - np.bincount(flat.rows, prices, self.n)
        bound = float(
            dual @ flat.demand + np.minimum(reduced * self.low, reduced * self.high).sum()
        )
        self.reduced = self.unit * reduced
        return np.clip(z, self.low, self.high), self.unit * bound

    def branching_row(self, z: Floats, rows: Ints) -> int:
        """Return the row in most of the cuts among those most likely to be wrong."""
        degree = np.bincount(self._flat.rows, minlength=self.n)[rows]
        return int(rows[int(np.argmax(z[rows] * (1.0 + degree)))])

    def _hold(self, cuts: list[Cut], numbers: Ints) -> None:
        if not cuts:
            return
        flat = _CutTable.of(cuts)
        starts = (np.cumsum(flat.lengths) - flat.lengths).astype(np.int32)
        self.model.addRows(
            len(cuts), flat.demand, np.full(len(cuts), np.inf),
            len(flat.rows), starts, flat.rows.astype(np.int32), flat.factors,
        )  # fmt: skip
        self.held += cuts
        self._flat = self._flat.and_also(cuts)
        self.number = np.append(self.number, numbers)
        self.age = np.append(self.age, np.zeros(len(cuts), np.int64))

    def _drop_idle(self) -> None:
        idle = self.age > _IDLE
        if idle.sum() > _FEW_IDLE:
            numbers = np.flatnonzero(idle).astype(np.int32)
            self.model.deleteRows(len(numbers), numbers)
            self.number, self.age = self.number[~idle], self.age[~idle]
            self.held = [cut for cut, gone in zip(self.held, idle, strict=True) if not gone]
            self._flat = _CutTable.of(self.held)


def quiet_model() -> Any:
    """Return an empty linear programme that prints nothing."""
    import highspy

    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("presolve", "off")
    return model
