"""scikit-learn's callbacks, where the installed version has them.

Estimators use :class:`FitTask` only. If no callback is set, or scikit-learn is too old to have
callbacks, a task has no context and costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import repeat
from typing import Any, TypeVar, cast

from sklearn.utils.parallel import Parallel, delayed

from bblr._numeric.threads import MIN_WORK, as_child, jobs_for, lift_limits, map_ranges

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks as _managed
except ImportError:  # scikit-learn before 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """Nothing to support."""

    _managed = None

__all__ = ["CallbackSupport", "FitTask", "in_parallel", "with_callbacks"]

Fit = TypeVar("Fit", bound=Callable[..., Any])


def with_callbacks(fit: Fit) -> Fit:
    """Clean up after a ``fit``, however it ends, as callbacks of the estimator do.

    Belongs inside ``all_or_nothing``, which would remove their context.
    """
    managed = fit if _managed is None else _managed(fit)

    @wraps(fit)
    def heard(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return (managed if has_callbacks(self) else fit)(self, *args, **kwargs)
        except BaseException:
            lift_limits()
            raise

    return cast(Fit, heard)


def has_callbacks(estimator: Any) -> bool:
    """Whether an estimator has callbacks."""
    return _managed is not None and bool(vars(estimator).get("_skl_callbacks"))


@dataclass(frozen=True, eq=False)
class FitTask:
    """A part of a fit, as callbacks see it.

    Parameters
    ----------
    estimator : estimator
        Whose fit it is.
    context : CallbackContext or None
        scikit-learn's context of it; None without callbacks.
    """

    estimator: Any
    context: Any = None

    @classmethod
    def root(cls, estimator: Any, total: int | None) -> FitTask:
        """Return the task of the fit itself; `total` is the most subtasks, None if unknown."""
        if not has_callbacks(estimator):
            return cls(estimator)
        return cls(estimator, estimator._init_callback_context(max_subtasks=total))

    def sub(
        self,
        name: str,
        total: int | None = 0,
        *,
        number: int | None = None,
        together: bool = False,
    ) -> FitTask:
        """Return a subtask; subtasks may run `together`, and then have a number."""
        if self.context is None:
            return self
        context = self.context.subcontext(name, number, total, not together)
        return FitTask(self.estimator, context)

    def begin(self, **data: Any) -> None:
        """Call the callbacks at its beginning."""
        if self.context is not None:
            self.context.call_on_fit_task_begin(estimator=self.estimator, **data)

    def end(self, **data: Any) -> bool:
        """Call the callbacks at its end; return whether one of them asks to stop."""
        if self.context is None:
            return False
        return bool(self.context.call_on_fit_task_end(estimator=self.estimator, **data))


def in_parallel(
    outer: FitTask,
    name: str,
    work: Callable[..., Any],
    arguments: Sequence[tuple[Any, ...]],
    n_jobs: int | None,
    *,
    threads: bool = False,
) -> tuple[list[Any], bool]:
    """Do the same work for several arguments, as subtasks that run in parallel.

    `threads` is for work that is mostly compiled code and too little for other processes.

    Returns
    -------
    list, bool
        The results, and whether a callback asks to stop.
    """
    if threads and outer.context is None:
        return _in_threads(work, arguments), False
    parallel = Parallel(n_jobs=jobs_for(len(arguments), n_jobs))
    me = os.getpid()
    if outer.context is None:
        return list(parallel(delayed(as_child)(me, work, *each) for each in arguments)), False
    tasks = [outer.sub(name, number=k) for k in range(len(arguments))]
    calls = zip(repeat(me), repeat(_reported), tasks, repeat(work), arguments)
    done = list(parallel(delayed(as_child)(*call) for call in calls))
    return [result for result, _ in done], any(stop for _, stop in done)


def _in_threads(work: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    def part(_: int, start: int, stop: int) -> list[Any]:
        return [work(*each) for each in arguments[start:stop]]

    n = len(arguments)
    return [result for part in map_ranges(part, n, n * MIN_WORK) for result in part]


def _reported(
    task: FitTask, work: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Any, bool]:
    task.begin()
    result = work(*arguments)
    return result, task.end()
