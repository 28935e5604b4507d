"""The worker's side: one actor per partition, with its block of rows and its vectors."""

from __future__ import annotations

import asyncio
import operator
import pickle
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, reduce
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.sampling import clipped_shares, part_of_sample
from bblr.designs import make_design
from bblr.designs.base import Curvature, Design, Floats, Moments
from bblr.designs.dask import operations, remote_lines
from bblr.designs.dask.operations import REDUCERS, SILENT
from bblr.designs.rows import Rows


class Ref(NamedTuple):
    """Stands for a vector that a partition keeps, or can make by the step of that key."""

    key: int


class PartitionStep(NamedTuple):
    """A named operation and its arguments, `Ref` for vectors.

    The name is that of a method of :class:`Partition`, or of one of its attributes, such as
    "design.scores", "narrow.scores" (the design at its fastest precision), "rows.fisher",
    "operations.kept", "lines.bins", "numpy.bincount" or "operator.mul".
    """

    name: str
    args: tuple[Any, ...]


class Call(NamedTuple):
    """A call to every partition.

    Parameters
    ----------
    steps : dict
        How to make the vectors that may be missing, by key.
    parts : dict
        Numbers sent from the client: by key, then by partition.
    last : PartitionStep
        What is wanted.
    how : str
        How the answers of two sets of partitions become one.
    keep : int or None
        Keep the last item of the answer, a vector, under this key instead of sending it.
    live : frozenset of int
        Vectors that somebody may still ask for; others are dropped.
    """

    steps: dict[int, PartitionStep]
    parts: dict[int, dict[int, Any]]
    last: PartitionStep
    how: str
    keep: int | None
    live: frozenset[int]


class Branch(NamedTuple):
    """A worker to call: its leading actor, its partitions, and the workers below it."""

    lead: Any
    numbers: tuple[int, ...]
    branches: tuple[Any, ...]


class Answer(NamedTuple):
    """A reduced value, or an error and its partition, or nothing if a worker was lost."""

    value: Any = None
    number: int | None = None
    error: BaseException | None = None
    gone: bool = False


def fold(answers: list[Answer], how: str) -> Answer:
    """Return the combined answer."""
    for answer in answers:
        if answer.gone or answer.error is not None:
            return answer
    return Answer(reduce(REDUCERS[how], [answer.value for answer in answers]))


def replaced(value: Any, kind: type, by: Callable[[Any], Any]) -> Any:
    """Return arguments with something else for each value of a kind, inside lists and tuples."""
    if isinstance(value, kind):
        return by(value)
    if type(value) in (tuple, list):
        return type(value)(replaced(item, kind, by) for item in value)
    return value


def found(value: Any, kind: type) -> list[Any]:
    """Return the values of a kind among arguments."""
    values: list[Any] = []
    replaced(value, kind, values.append)
    return values


def _keys(step: PartitionStep) -> list[int]:
    """Return the keys of the vectors that a step needs."""
    return [ref.key for ref in found(step.args, Ref)]


# Actors of one worker find each other here; an actor that Dask lets go is gone from it.
_here: WeakValueDictionary[tuple[str, int], Partition] = WeakValueDictionary()


class Partition:
    """A block of rows with its labels, its weights and its vectors.

    Parameters
    ----------
    session : str
        Names the fit.
    number : int
        Place among the partitions.
    piece : tuple
        Rows, labels and weights as they were loaded; None where they are given otherwise.
    check : callable
        Returns the three validated, or raises a ValueError or a TypeError.
    """

    operations, lines, numpy, operator = operations, remote_lines, np, operator

    def __init__(
        self, session: str, number: int, piece: tuple[Any, Any, Any], check: Callable[..., Any]
    ) -> None:
        self.session, self.number = session, number
        self.problem = ""
        try:
            X, self.labels, self.weight = check(*piece)
            self.design: Design = make_design(X)
        except (ValueError, TypeError) as error:
            self.problem = str(error)
        self.rows = Rows()
        self.vectors: dict[int, Any] = {}
        # A repeated call may overlap with the first one.
        self._lock = threading.Lock()
        _here[session, number] = self

    @cached_property
    def narrow(self) -> Design:
        """The design at its fastest precision."""
        return self.design.narrowed()

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        from distributed import get_worker

        return ThreadPoolExecutor(get_worker().state.nthreads, thread_name_prefix="bblr")

    async def run(
        self, call: Call, numbers: tuple[int, ...], branches: tuple[Branch, ...]
    ) -> Answer:
        """Ask the partitions of this worker, and other workers, and return their answers in one.

        This runs on the worker's event loop, the work itself on as many threads as it has.
        """
        others = [branch.lead.run(call, branch.numbers, branch.branches) for branch in branches]
        loop = asyncio.get_running_loop()
        own = [_here.get((self.session, number)) for number in numbers]
        jobs = [
            loop.run_in_executor(self._pool, part.answer, call) for part in own if part is not None
        ]
        answers = [await job for job in jobs]
        if len(answers) < len(own):
            answers.append(Answer(gone=True))
        for other in others:
            try:
                answers.append(await other)
            except Exception:
                answers.append(Answer(gone=True))
        return fold(answers, call.how)

    def answer(self, call: Call) -> Answer:
        """Run a call on the calling thread."""
        try:
            with self._lock:
                value = self._work(call)
        except Exception as error:
            return Answer(number=self.number, error=_portable(error))
        return Answer({self.number: value} if call.how == "gather" else value)

    def _work(self, call: Call) -> Any:
        for key in _keys(call.last):
            self._make(key, call)
        value = self._perform(call.last, call)
        if call.keep is not None:
            *value, self.vectors[call.keep] = value
        for key in [key for key in self.vectors if key not in call.live]:
            del self.vectors[key]
        return value

    def _make(self, wanted: int, call: Call) -> None:
        """Make a vector by its steps, as far as they are needed."""
        order: dict[int, None] = {}
        stack = [wanted]
        while stack:
            key = stack[-1]
            if key in self.vectors or key in order:
                stack.pop()
                continue
            missing = [
                k for k in _keys(call.steps[key]) if k not in self.vectors and k not in order
            ]
            if missing:
                stack += missing
            else:
                order[key] = None
        uses = Counter(k for key in order for k in _keys(call.steps[key]))
        for key in order:
            step = call.steps[key]
            self.vectors[key] = self._perform(step, call, key)
            for used in _keys(step):
                uses[used] -= 1
                # A long chain of steps is made anew without keeping what led to its end.
                if uses[used] == 0 and used in order and used not in call.live:
                    del self.vectors[used]

    def _perform(self, step: PartitionStep, call: Call, key: int | None = None) -> Any:
        if step.name == "parts":
            return call.parts[key or 0][self.number]
        args = replaced(step.args, Ref, lambda ref: self.vectors[ref.key])
        room, _, method = step.name.rpartition(".")
        return getattr(getattr(self, room) if room else self, method)(*args)

    def describe(self) -> dict[str, Any]:
        """Return what the client must know about this partition."""
        if self.problem:
            return {"problem": self.problem}
        return {"problem": "", "rows": self.design.n_rows, "features": self.design.n_features}

    def given(self, name: str) -> Any:
        """Return the labels or the weight that were loaded with the rows."""
        return getattr(self, name)

    def ones(self) -> Floats:
        """Return a vector of ones."""
        return np.ones(self.design.n_rows)

    @SILENT
    def moments(self, weight: Floats) -> Moments | None:
        """Return the weighted moments of the columns, None where nothing has a weight."""
        return self.design.moments(weight) if np.any(weight > 0) else None

    def whole_curvature(self, weight: Floats, centre: Floats) -> Curvature:
        """Return the second moments about the centre over all rows that have a weight."""
        rows = np.flatnonzero(weight > 0)
        return self.design.curvature(rows, weight[rows], centre)

    def clipped(self, weight: Floats, size: Floats, largest: float, scale: float) -> float:
        """Return how many rows of a sample fall to this partition."""
        return float(clipped_shares(weight, size, largest, scale))

    def sampled_curvature(
        self,
        weight: Floats,
        size: Floats,
        largest: float,
        scale: float,
        spans: dict[int, tuple[float, float]],
        centre: Floats,
    ) -> Curvature:
        """Return the second moments about the centre over this part of a systematic sample.

        `spans` says how many rows of the sample fall to the partitions before each, and to it.
        """
        rows, own = part_of_sample(weight, size, largest, scale, *spans[self.number])
        return self.design.curvature(rows, own, centre)

    def taken(self, rows: NDArray[np.intp]) -> Any:
        """Return some rows."""
        design: Any = self.design
        return design.X[rows]


def _portable(error: BaseException) -> BaseException:
    # An error that cannot be pickled would close the connection without a message.
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
