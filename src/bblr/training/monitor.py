"""Monitoring of a fit: printed lines, callbacks, and interruption by Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from types import TracebackType
from typing import Any, Self

from bblr._checks import interruption_of, keep
from bblr.solvers import Stage
from bblr.solvers.solution import Callback
from bblr.training.callbacks import FitTask, has_callbacks, in_parallel

__all__ = ["FitMonitor", "Unpack"]

# Gives an estimator the fitted attributes of a best so far and of the stages that led there.
Unpack = Callable[[Any, Any, list[Stage]], None]


class FitMonitor:
    """The progress of one fit: its best solution so far, its stages, and requests to stop.

    Within ``with monitor.fitting(total, unpack):`` an interruption leaves the best solution so far
    in the estimator, if there is one.

    Parameters
    ----------
    estimator : estimator or None
        The estimator to fit; if its ``verbose`` is set, lines are printed. None to report nothing.
    X, y, sample_weight : object
        What ``fit`` was given, for callbacks; left out if it is not an array.
    """

    def __init__(
        self, estimator: Any = None, X: Any = None, y: Any = None, sample_weight: Any = None
    ) -> None:
        self._estimator = estimator
        self._verbose = bool(getattr(estimator, "verbose", 0))
        self._data = {"X": X, "y": y}
        if sample_weight is not None:
            self._data["metadata"] = {"sample_weight": sample_weight}
        self._task = FitTask(estimator)
        self._stage: FitTask | None = None
        self._coming: Iterator[float] = iter(())
        self._fresh = True
        self.unpack: Unpack | None = None
        self.best: Any = None
        self.trace: list[Stage] = []
        self.stopped = False
        self.interrupted = False
        self._cut = False

    @property
    def is_silent(self) -> bool:
        """Whether nobody listens: nothing is printed, and no callback is called."""
        return not self._verbose and not has_callbacks(self._estimator)

    def fitting(self, total: int | None, unpack: Unpack | None = None) -> Self:
        """Return this monitor for a fit of at most `total` tasks.

        `unpack` may also be set later, once there is something to unpack.
        """
        self.unpack = unpack
        self._task = FitTask.root(self._estimator, total)
        return self

    def __enter__(self) -> Self:
        """Report the beginning of the fit."""
        self._task.begin(**self._data)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Report the end of the fit, or keep the best solution after an interruption."""
        if error is None:
            try:
                self._task.end(**self._data, reconstruction_attributes={})
            except KeyboardInterrupt as late:
                keep(late, self._estimator, "the finished fit")
                raise
            return
        interruption = interruption_of(error)
        if interruption is not None and self._can_unpack:
            self.interrupted = True
            trace = self.trace
            if trace:
                trace = [*trace]
                trace[-1] = trace[-1]._replace(reason=f"{trace[-1].reason}, then interrupted")
            self._fill(self._estimator, trace)
            keep(interruption, self._estimator, "the best so far")
            if interruption is not error:
                raise interruption from error

    @property
    def _can_unpack(self) -> bool:
        return self.best is not None and self.unpack is not None

    def _fill(self, estimator: Any, trace: list[Stage]) -> None:
        if self.unpack is not None:
            self.unpack(estimator, self.best, trace)

    def _attributes(self) -> dict[str, Any] | None:
        """Return the attributes that the estimator would have if the fit ended now."""
        if not self._can_unpack:
            return None
        fitted = copy(self._estimator)
        self._fill(fitted, self.trace)
        known = vars(self._estimator)
        return {name: v for name, v in vars(fitted).items() if known.get(name) is not v}

    def log(self, sentence: str) -> None:
        """Print a line if the estimator is verbose."""
        if self._verbose:
            print(f"[{type(self._estimator).__name__}] {sentence}", flush=True)

    def log_stage(self, stage: Stage) -> None:
        """Print the result of a stage."""
        if self._verbose:
            self.log(
                f"gamma {stage.gamma:g}: objective {stage.value:.6g}, training errors "
                f"{stage.errors:g}, {stage.n_iter} iterations, {stage.reason}"
            )

    @contextmanager
    def task(
        self, name: str, total: int | None = 0, *, together: bool = False
    ) -> Iterator[FitTask]:
        """Report the enclosed work to callbacks as a task."""
        outer = self._task
        if outer.context is None:
            yield outer
            return
        self._task = outer.sub(name, total, together=together)
        self._task.begin(**self._data, reconstruction_attributes=self._attributes)
        yield self._task
        self._end(self._task)
        self._task = outer

    @contextmanager
    def search(self, total: int | None = None) -> Iterator[None]:
        """Report the search for settings; a callback that stops it does not stop the final fit."""
        with self.task("search", total):
            yield
        self._cut, self.stopped = self.stopped, False

    def annotated(self, trace: list[Stage]) -> list[Stage]:
        """Return the stages, with a note on the last one if the search was stopped."""
        if not self._cut:
            return trace
        reason = f"{trace[-1].reason}, after a search stopped by a callback"
        return [*trace[:-1], trace[-1]._replace(reason=reason)]

    def _end(self, task: FitTask) -> None:
        if task.end(**self._data, reconstruction_attributes=self._attributes):
            self.stopped = True

    def step(self, name: str, best: Any = None) -> bool:
        """Report one more finished task without subtasks; return whether to stop."""
        if best is not None:
            self.best = best
        if self._task.context is not None:
            task = self._task.sub(name)
            task.begin(**self._data)
            self._end(task)
        return self.stopped

    def stage_callback(self, gammas: Sequence[float], *, keep: bool = True) -> Callback:
        """Return the callback for an annealing over these gammas, called after each stage.

        Without `keep` the stages are reported, but an earlier best solution is kept.
        """
        self._coming, self._fresh = iter(gammas), True
        self._begin_stage()
        return self._keep_stage if keep else self._report_stage

    def _begin_stage(self) -> None:
        if self._task.context is None:
            return
        gamma = next(self._coming, None)
        self._stage = None if gamma is None else self._task.sub(f"gamma {gamma:g}")
        if self._stage is not None:
            self._stage.begin(**self._data, reconstruction_attributes=self._attributes)

    def _keep_stage(self, stage: Stage, best: Any) -> bool:
        trace = [stage] if self._fresh else [*self.trace, stage]
        # In one statement: an interruption in between would find a best without its stage.
        self.best, self.trace, self._fresh = best, trace, False
        return self._report_stage(stage, best)

    def _report_stage(self, stage: Stage, best: Any) -> bool:
        self.log_stage(stage)
        if self._stage is not None:
            self._end(self._stage)
            if not self.stopped:
                self._begin_stage()
        return self.stopped

    def in_parallel(
        self,
        what: str,
        name: str,
        work: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        n_jobs: int | None,
        *,
        threads: bool = False,
    ) -> list[Any]:
        """Return the results of some work for each of the arguments, as subtasks of one task."""
        with self.task(what, len(arguments), together=True) as task:
            results, stop = in_parallel(task, name, work, arguments, n_jobs, threads=threads)
        self.stopped |= stop
        return results
