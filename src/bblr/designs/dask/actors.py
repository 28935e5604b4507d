"""The actors of a fit: created where their rows are, called as a tree, replaced when lost."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, NoReturn
from uuid import uuid4
from weakref import ref

from bblr.designs.dask.partition import Branch, Partition

_log = logging.getLogger("bblr.dask")

# Seconds to wait for a worker or for the scheduler.
PATIENCE = 60.0
# Workers called at once; each calls as many others. A client alone would add up the gradients of
# a thousand workers one by one.
FAN_OUT = 8
# Consecutive losses of workers after which the work itself is to blame.
MOST_LOSSES = 5
# Seconds between checks of the cluster while waiting for an answer.
CHECK_EVERY = 0.5


class _AllLost(Exception):
    """All workers that were there when loading began are gone."""


class _Actor(NamedTuple):
    future: Any
    proxy: Any
    address: str


class Actors:
    """An actor for each partition, on the worker that loaded it.

    Parameters
    ----------
    client : distributed.Client
        Client of the cluster.
    pieces : sequence of Delayed
        What to load: rows, labels and weights of each partition.
    check : callable
        Validates them on the worker.
    held : sequence of Future or None
        Rows that the workers hold already, a future a partition: each is loaded where it is. None
        where they hold something else of the data, and Dask is to choose; empty where they hold
        nothing, and partitions are dealt out to the workers by the number of their threads.
    """

    def __init__(
        self,
        client: Any,
        pieces: Sequence[Any],
        check: Callable[..., Any],
        held: Sequence[Any],
    ) -> None:
        self.name = uuid4().hex
        self.client = client
        self.numbers: list[int] = list(range(len(pieces)))
        self.branches: tuple[Branch, ...] = ()
        self._pieces = pieces
        self._check = check
        self._held = held
        self._actors: dict[int, _Actor] = {}
        self._began: frozenset[str] = frozenset()
        # Pieces are released as soon as their actor has them.
        self._loaded: list[tuple[int, ref[Any]]] = []
        self._made: list[Any] = []

    @property
    def places(self) -> dict[int, str]:
        """The address of the worker of each partition."""
        return {number: actor.address for number, actor in self._actors.items()}

    def open(self) -> None:
        """Load all partitions."""
        with self.client.as_current():
            self._wait_for_workers()
            self._load(self.numbers)

    def close(self) -> None:
        """Release all actors.

        They are cancelled, not only forgotten: Dask's proxies of them live in cycles of
        references, and the traceback of an error holds on to them.
        """
        self._actors.clear()
        self.branches = ()
        self._cancel(self._made)
        self._made = []

    def _cancel(self, made: Sequence[Any]) -> None:
        """Give up some actors, and all pieces that are still there."""
        self._release([*made, *(piece for _, piece in self._pieces_left())])

    def _pieces_left(self) -> list[tuple[int, Any]]:
        """Return the pieces that were loaded and are still there, with their numbers."""
        return [(n, piece) for n, loaded in self._loaded if (piece := loaded()) is not None]

    def _release(self, left: list[Any]) -> None:
        if left and self.client.status == "running":
            with suppress(OSError, TimeoutError):
                self.client.cancel(left)

    def only(self, numbers: Sequence[int]) -> None:
        """Release all partitions but some."""
        self.numbers = list(numbers)
        self._actors = {number: self._actors[number] for number in numbers}
        self.branches = _tree(self._actors)

    def lost(self) -> list[int]:
        """Return the partitions of lost workers."""
        return [n for n, actor in self._actors.items() if actor.future.status != "finished"]

    def find_lost(self) -> None:
        """Wait until the scheduler reports the lost worker, which may take a while."""
        end = time.monotonic() + PATIENCE
        while not self.lost():
            self.check_scheduler()
            workers = self._workers()
            if all(actor.address in workers for actor in self._actors.values()):
                # If only the connection was lost, a second call will do.
                return
            if time.monotonic() > end:
                raise ConnectionError(
                    f"a worker of {self._scheduler} does not answer, and the scheduler does not "
                    f"say in {PATIENCE:g} s what became of it; fit again."
                )
            time.sleep(0.05)

    def mend(self) -> bool:
        """Reload what was lost; return whether anything was."""
        lost = self.lost()
        if not lost:
            return False
        for number in lost:
            if self._actors[number].future.status == "cancelled":
                self._lost_scheduler()
        _log.warning("a worker was lost: partitions %s are loaded again", lost)
        self._wait_for_workers()
        for number in lost:
            del self._actors[number]
        self._load(lost)
        return True

    def _load(self, numbers: Sequence[int]) -> None:
        left = list(numbers)
        for _ in range(MOST_LOSSES):
            self._wait_for_workers()
            # Where their workers are gone, the scheduler may keep earlier pieces of the same names
            # for addresses that never come back.
            self._release(
                [p for n, p in self._pieces_left() if n in left and p.status != "finished"]
            )
            self._began, known = frozenset(self._workers()), len(self._made)
            try:
                made = self._place(self._compute(left))
                self._wait(made.values())
            except _AllLost:
                # Where none is left, the scheduler keeps tasks for the addresses of workers that
                # come back under others. Tasks of the same names need new ones.
                _log.warning("all workers were lost: partitions %s are loaded again", left)
                self._cancel(self._made[known:])
                continue
            left = [number for number, future in made.items() if not self._accept(number, future)]
            if not left:
                self._actors = dict(sorted(self._actors.items()))
                self.branches = _tree(self._actors)
                return
        raise RuntimeError(
            f"partitions {left} could not be placed: their workers were lost {MOST_LOSSES} "
            "times. They may have too little memory: use more, smaller partitions."
        )

    def _compute(self, numbers: Sequence[int]) -> dict[int, Any]:
        """Load the pieces of some partitions, on workers of Dask's choice."""
        places: dict[str | None, list[int]] = defaultdict(list)
        for number, place in zip(numbers, self._targets(numbers), strict=True):
            places[place].append(number)
        futures: dict[int, Any] = {}
        for place, some in places.items():
            where = {} if place is None else {"workers": [place], "allow_other_workers": True}
            pieces = [self._pieces[number] for number in some]
            found = self._say(partial(self.client.compute, pieces, **where))
            futures.update(zip(some, found, strict=True))
            self._loaded += zip(some, map(ref, found), strict=True)
        self._wait(futures.values())
        for number, future in futures.items():
            if future.status == "error":
                error = future.exception()
                raise RuntimeError(
                    f"partition {number} of the data cannot be read: "
                    f"{type(error).__name__}: {error}"
                ) from error
        return futures

    def _targets(self, numbers: Sequence[int]) -> list[str | None]:
        """Return the worker that is to load each partition; None leaves it to Dask."""
        if not self._held:
            workers = sorted(self._workers().items())
            slots = [address for address, threads in workers for _ in range(threads)]
            return [slots[k * len(slots) // len(numbers)] for k in range(len(numbers))]
        held = {n: self._held[n] for n in numbers if self._held[n] is not None}
        self._wait(held.values())
        places = self._say(lambda: self.client.who_has(list(held.values()))) if held else {}
        found = {n: sorted(places.get(future.key, ())) for n, future in held.items()}
        return [found[n][0] if found.get(n) else None for n in numbers]

    def _place(self, pieces: dict[int, Any]) -> dict[int, Any]:
        """Make an actor for each piece, where the piece is."""
        places = self._say(lambda: self.client.who_has(list(pieces.values())))
        made = {}
        for number, piece in pieces.items():
            where = sorted(places.get(piece.key, ()))[:1]
            made[number] = self.client.submit(
                Partition, self.name, number, piece, self._check,
                key=f"bblr-partition-{self.name}-{number}-{uuid4().hex[:8]}", actor=True,
                workers=where or None, allow_other_workers=bool(where),
            )  # fmt: skip
        self._made += made.values()
        return made

    def _accept(self, number: int, future: Any) -> bool:
        """Register an actor, unless its worker was lost meanwhile."""
        from distributed import KilledWorker

        try:
            proxy = future.result(timeout=PATIENCE)
        except (KilledWorker, RuntimeError, OSError):
            return False
        self._actors[number] = _Actor(future, proxy, proxy._address)
        return True

    def _wait(self, futures: Iterable[Any]) -> None:
        from distributed import CancelledError, wait

        futures = list(futures)
        while True:
            try:
                wait(futures, timeout=CHECK_EVERY)
            except TimeoutError:
                self.check_scheduler()
                self._wait_for_workers()
                if self._began.isdisjoint(self._workers()):
                    raise _AllLost from None
                continue
            except CancelledError:
                self._lost_scheduler()
            if any(future.status in ("cancelled", "lost") for future in futures):
                self._lost_scheduler()
            return

    @property
    def _scheduler(self) -> str:
        scheduler = getattr(self.client, "scheduler", None)
        return f"the cluster at {getattr(scheduler, 'address', 'an unknown address')}"

    def _lost_scheduler(self) -> NoReturn:
        raise ConnectionError(
            f"lost the scheduler of {self._scheduler} in the middle of a fit: nothing of the fit "
            "is left. Connect a new client to a running cluster and fit again."
        )

    def check_scheduler(self) -> None:
        """Raise a ConnectionError where the scheduler is gone."""
        if self.client.status != "running":
            self._lost_scheduler()

    def _say(self, ask: Callable[[], Any]) -> Any:
        """Query the scheduler."""
        self.check_scheduler()
        try:
            return ask()
        except (OSError, TimeoutError):
            self._lost_scheduler()

    def _workers(self) -> dict[str, int]:
        return self._say(self.client.nthreads)

    def _wait_for_workers(self) -> None:
        end = time.monotonic() + PATIENCE
        while not self._workers():
            if time.monotonic() > end:
                raise RuntimeError(
                    f"{self._scheduler} has had no workers for {PATIENCE:g} s. Add some, for "
                    "instance by cluster.scale(2), and fit again."
                )
            time.sleep(0.1)


def _tree(actors: dict[int, _Actor]) -> tuple[Branch, ...]:
    """Return the workers to ask, each with its partitions and the workers that it asks."""
    places: dict[str, list[int]] = defaultdict(list)
    for number, actor in actors.items():
        places[actor.address].append(number)
    leads = [(actors[numbers[0]].proxy, tuple(numbers)) for numbers in places.values()]
    return _branches(leads)


def _branches(leads: Sequence[tuple[Any, tuple[int, ...]]]) -> tuple[Branch, ...]:
    n = min(FAN_OUT, len(leads))
    groups = [leads[len(leads) * k // n : len(leads) * (k + 1) // n] for k in range(n)]
    return tuple(Branch(*group[0], _branches(group[1:])) for group in groups)


def flat(branches: Iterable[Branch]) -> Iterable[Branch]:
    """Yield all workers, none below another."""
    for branch in branches:
        yield branch._replace(branches=())
        yield from flat(branch.branches)
