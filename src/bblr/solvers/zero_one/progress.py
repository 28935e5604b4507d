"""The time limit and the record of a zero-one solver."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Seconds without an improvement after which a step is reported all the same.
_QUIET = 0.5


class Moment(NamedTuple):
    """A row of ``trace_``: what was known after so many seconds."""

    seconds: float
    loss: float
    bound: float


@dataclass(frozen=True, eq=False)
class ZeroOneSolution:
    """The best parameters a zero-one solver found, and what it can prove.

    Attributes
    ----------
    theta : ndarray
        Parameters.
    loss : float
        Weighted strict zero-one loss.
    bound : float
        No classifier has a smaller loss; 0 where nothing was proved.
    reason : str
        Why the solver stopped, in words.
    """

    theta: Floats
    loss: float
    bound: float
    reason: str


class Progress:
    """The best so far, the bound so far, and when each of them changed.

    Parameters
    ----------
    time_limit : float or None
        Seconds the solver may take.
    max_steps : int or None
        Steps it may take; what a step is, is the solver's own affair.
    report : callable or None
        Called with each new Moment.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        report: Callable[[Moment], None] | None = None,
        max_steps: int | None = None,
    ) -> None:
        self._start = time.perf_counter()
        self._limit = np.inf if time_limit is None else float(time_limit)
        self._report = report
        self._tell: Callable[[], bool] | None = None
        self._counted = False
        self._last = self._start
        self._halted = ""
        self._steps_left = np.inf if max_steps is None else max_steps
        self.loss = np.inf
        self.bound = 0.0
        self.theta: Floats | None = None
        self.reason = ""
        self.trace: list[Moment] = []

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    @property
    def left(self) -> float:
        """Seconds left."""
        return self._limit - self.seconds

    @property
    def expired(self) -> bool:
        """Whether the time is up, or nobody wants more."""
        return bool(self._halted) or self.left <= 0

    @property
    def limit(self) -> str:
        """What has expired, in words."""
        return self._halted or "time limit"

    def halt(self, reason: str) -> None:
        """Let the solver end as if the time were up."""
        self._halted = self._halted or reason

    @contextmanager
    def reported(self, tell: Callable[[], bool], counted: bool) -> Iterator[None]:
        """Call `tell` after each step, until it says that there have been enough.

        Steps are what the solver counts, or else improvements.
        """
        self._tell, self._counted = tell, counted
        try:
            yield
        finally:
            self._tell = None

    def step(self) -> None:
        """Tell that a step is done."""
        self._last = time.perf_counter()
        if self._tell is not None and self._tell():
            self.halt("stopped by a callback")

    def stop(self) -> str:
        """Count one more step; say why it must not be taken, or nothing where it may be."""
        if self._tell is not None and time.perf_counter() - self._last > _QUIET:
            self.step()  # lest a callback that wants no more have no chance to say so
        if self.expired:
            return self.limit
        self._steps_left -= 1
        return "" if self._steps_left >= 0 else "step limit"

    @property
    def proved(self) -> bool:
        """Whether the bound has met the loss."""
        return self.bound >= self.loss

    def found(self, theta: Floats, loss: float) -> bool:
        """Note parameters; say whether they are the best so far."""
        if not loss < self.loss:
            return False
        self.loss, self.theta = float(loss), np.array(theta)
        self._note()
        return True

    def raise_bound(self, bound: float) -> None:
        """Note a bound; one that exceeds the loss says that the loss is the least."""
        bound = min(float(bound), self.loss)
        if bound > self.bound:
            self.bound = bound
            self._note()

    def solution(self, reason: str) -> ZeroOneSolution:
        """Return the best so far."""
        if self.theta is None:
            raise RuntimeError("a solver must note its starting point")
        self.reason = reason
        return ZeroOneSolution(self.theta, self.loss, self.bound, reason)

    def _note(self) -> None:
        self.trace.append(Moment(self.seconds, self.loss, self.bound))
        if self._report is not None:
            self._report(self.trace[-1])
        if not self._counted:
            self.step()
