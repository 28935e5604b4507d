"""The client's side of a fit on a cluster: actors, calls to all of them, and recovery."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any

from bblr.designs.dask.actors import CHECK_EVERY, MOST_LOSSES, Actors, flat
from bblr.designs.dask.operations import REDUCERS
from bblr.designs.dask.partition import Answer, Call, PartitionStep, Ref, found, replaced


class Definition:
    """How a vector is made: a step on other definitions, or numbers sent by the client.

    It outlives the vector, so that a reloaded partition can remake what was kept on it.
    """

    __slots__ = ("args", "key", "name", "parts")

    def __init__(
        self, key: int, name: str, args: tuple[Any, ...], parts: dict[int, Any] | None = None
    ) -> None:
        self.key, self.name, self.args, self.parts = key, name, args, parts


class _Gone(Exception):
    """A worker did not answer."""


class Session(Actors):
    """The partitions of one fit, each kept by an actor on the worker that loaded it.

    Parameters
    ----------
    client, pieces, check, held
        As in :class:`~bblr.designs.dask.actors.Actors`.

    Notes
    -----
    Nothing is kept on the workers once a session is closed. A worker that is lost takes its actors
    with it: their pieces are loaded again elsewhere, by the Dask graph they come from, their
    vectors are made again as calls ask for them, and the call that failed is repeated.
    """

    def __init__(
        self,
        client: Any,
        pieces: Sequence[Any],
        check: Callable[..., Any],
        held: Sequence[Any] = (),
    ) -> None:
        super().__init__(client, pieces, check, held)
        self.live: set[int] = set()
        self.round_trips = 0
        self._keys = itertools.count(1)
        self._known: set[int] = set()

    def define(
        self, name: str, args: tuple[Any, ...], parts: dict[int, Any] | None = None
    ) -> Definition:
        """Return a new definition; nothing is made until a call needs it."""
        return Definition(next(self._keys), name, args, parts)

    def call(self, name: str, *args: Any, how: str = "sum", keep: Definition | None = None) -> Any:
        """Run a step on every partition and return the combined answer.

        Arguments may hold definitions. With `keep`, the last item of the answer stays where it
        was made, as the vector of that definition.
        """
        losses = 0
        while True:
            try:
                with self.client.as_current():
                    if self.mend():
                        self._known.clear()
                    value = self._ask(name, args, how, keep)
            except _Gone:
                losses += 1
                if losses > MOST_LOSSES:
                    raise RuntimeError(
                        f"workers were lost {losses} times in a row while {name!r} ran on them. "
                        "It may need more memory than they have: use more, smaller partitions."
                    ) from None
                self.find_lost()
                continue
            self._known.update(definition.key for definition in found(args, Definition))
            if keep is not None:
                self._known.add(keep.key)
            self._known &= self.live
            return value

    def _ask(self, name: str, args: tuple[Any, ...], how: str, keep: Definition | None) -> Any:
        missing = _closure(found(args, Definition), self._known)
        steps = {
            d.key: PartitionStep("parts", ())
            if d.parts is not None
            else PartitionStep(d.name, _named(d.args))
            for d in missing
        }
        live = frozenset(self.live)
        last = PartitionStep(name, _named(args))
        sent = [d for d in missing if d.parts is not None]
        asked = []
        # Numbers of single partitions go straight to their worker.
        for root in flat(self.branches) if sent else self.branches:
            parts = {d.key: {n: (d.parts or {})[n] for n in root.numbers} for d in sent}
            call = Call(steps, parts, last, how, None if keep is None else keep.key, live)
            try:
                asked.append(root.lead.run(call, root.numbers, root.branches))
            except RuntimeError:  # the proxy knows that its worker was lost
                raise _Gone from None
        self.round_trips += 1
        return reduce(REDUCERS[how], [self._result(future) for future in asked])

    def _result(self, future: Any) -> Any:
        while True:
            try:
                answer: Answer = future.result(timeout=CHECK_EVERY)
                break
            except TimeoutError:
                # It may take long, or never come.
                self.check_scheduler()
                if self.lost():
                    raise _Gone from None
            except OSError:
                raise _Gone from None
        if answer.gone:
            raise _Gone
        if answer.error is not None:
            answer.error.add_note(f"This happened on partition {answer.number}.")
            raise answer.error
        return answer.value


def _named(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments with references for definitions."""
    named: tuple[Any, ...] = replaced(args, Definition, lambda made: Ref(made.key))
    return named


def _closure(wanted: Iterable[Definition], known: set[int]) -> list[Definition]:
    """Return all definitions that are needed where only some vectors are known."""
    needed: dict[int, Definition] = {}
    stack = list(wanted)
    while stack:
        definition = stack.pop()
        if definition.key not in known and definition.key not in needed:
            needed[definition.key] = definition
            stack += found(definition.args, Definition)
    return list(needed.values())
