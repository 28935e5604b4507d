"""Progress of a command: a bar on a terminal, a plain line now and then anywhere else."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from bblr._settings import escaped

__all__ = ["Bar", "FitBar", "Lines"]

# Seconds before the first line, and between two that tell of less than a tenth.
_FIRST = 10.0
_EVERY = 30.0


class Lines:
    """A plain line every tenth of the way, or every 30 seconds; none of what takes 10 seconds.

    Parameters
    ----------
    console : Console
        Where to print; nothing is printed where that is a terminal, which has a bar.
    verb : str
        What is being done.
    """

    def __init__(self, console: Console, verb: str) -> None:
        self._console = console
        self._verb = verb
        self._start = time.monotonic()
        self._last, self._tenths = self._start, 0

    def tell(self, share: float | None, text: str) -> None:
        """Print how far it has got, if it is time to."""
        now = time.monotonic()
        if self._console.is_terminal or now - self._start < _FIRST:
            return
        tenths = int(10 * (share or 0.0))
        if tenths <= self._tenths and now - self._last < _EVERY:
            return
        self._last, self._tenths = now, max(tenths, self._tenths)
        if share is not None and share >= 1.0:
            text = "done"  # what is left of nothing need not be told
        known = "" if share is None else f"{100 * share:.0f} %, "
        line = f"{self._verb}: {known}{text}, after {now - self._start:.0f} s"
        self._console.print(escaped(line), highlight=False, markup=False, soft_wrap=True)


class Bar:
    """A bar that knows what share of the work is done, or only that there is some.

    Parameters
    ----------
    console : Console
        Where to show it.
    verb : str
        What is being done.
    shown : bool, default=True
        Whether to show anything at all.
    estimate : bool, default=False
        Whether to say how long the rest will take if it goes on as it has gone.
    """

    def __init__(
        self, console: Console, verb: str, *, shown: bool = True, estimate: bool = False
    ) -> None:
        self._lines = Lines(console, verb)
        self._shown = shown
        self._estimate = estimate
        self._start = time.monotonic()
        self._progress = Progress(
            TextColumn(verb),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[text]}"),
            console=console,
            transient=True,
            disable=not (shown and console.is_terminal),
        )
        self._task = self._progress.add_task(verb, total=None, text="")

    def __enter__(self) -> Self:
        """Show it."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take it away."""
        self._progress.stop()

    def tell(self, share: float | None, text: str = "", *, guessed: bool = False) -> None:
        """Show how far the work has got; a share that is a guess moves the bar and no more."""
        spent = time.monotonic() - self._start
        if self._estimate and share and not guessed and spent >= _FIRST:
            text = f"{text}, about {spent * (1.0 - share) / share:.0f} s left"
        if share is None:
            self._progress.update(self._task, text=text)
        else:
            self._progress.update(self._task, total=1.0, completed=share, text=text)
        if self._shown:
            self._lines.tell(None if guessed else share, text)


class FitBar:
    """A callback of scikit-learn's protocol that shows a fit on a bar.

    Parameters
    ----------
    bar : Bar or None
        Where to show it; a copy in another process has none.
    """

    def __init__(self, bar: Bar | None) -> None:
        self._bar = bar
        # Of each task at work, outermost first: parts that are done, and parts in all if known.
        self._levels: list[list[Any]] = []

    def __getstate__(self) -> dict[str, Any]:
        """Leave the bar where it is shown."""
        return {"_bar": None, "_levels": []}

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin with nothing done."""
        self._levels = []

    def teardown(self, estimator: Any, context: Any) -> None:
        """Leave the bar as it stands."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Go one level down."""
        self._levels.append([0, context.max_subtasks])
        self._tell(_name(context))

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Come back and count it."""
        if self._levels:
            self._levels.pop()
        if self._levels:
            self._levels[-1][0] += 1
            done, total = self._levels[-1]
            # Of steps whose number nobody knows, how many there were says more than a share.
            uncounted = total is None and context.max_subtasks == 0
            self._tell(f"{_name(context)} {done:,}" if uncounted else _name(context))

    def _tell(self, text: str) -> None:
        share = 0.0
        for done, total in reversed(self._levels):
            if total is None:
                # Each of an unknown number is thought to be half of what is left.
                share = 1.0 - 0.5**done * (1.0 - 0.5 * share)
            else:
                share = min(1.0, (done + share) / max(total, 1))
        if self._bar is not None:
            guessed = any(total is None for _, total in self._levels)
            self._bar.tell(share, text, guessed=guessed)


def _name(context: Any) -> str:
    """Return what a task is called, with its number where it is one of several alike."""
    outer = context.parent
    # Parts that may run together are alike; parts in a row are steps with names of their own.
    if outer is None or outer.sequential_subtasks or not outer.max_subtasks:
        return str(context.task_name)
    number = f"{context.task_id + 1} of {outer.max_subtasks}"
    return f"{outer.task_name}, {context.task_name} {number}"
