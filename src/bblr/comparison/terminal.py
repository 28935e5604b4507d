"""A comparison on the terminal: progress while it runs, tables when it is done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

from bblr._bars import Lines
from bblr.comparison.headline import findings, format_p
from bblr.comparison.methods import BASELINES, METHODS
from bblr.comparison.records import Record
from bblr.comparison.runner import Task
from bblr.comparison.summary import Group, Row, Summary, Versus

__all__ = ["LiveProgress", "TimeLeft", "duration", "print_summary"]


class TimeLeft:
    """Estimate the time left from what like cells took.

    Methods differ a hundredfold in speed, so each cell still to run counts with the mean time of
    its own method on its own data, or of its method, or of all cells, whichever is known.

    Parameters
    ----------
    cells : sequence of Task
        The cells to run.
    jobs : int
        How many run at a time.
    guess : callable or None
        Seconds to expect of a cell of which no like was seen; the mean of all seen when None.
    """

    def __init__(
        self,
        cells: Sequence[Task],
        jobs: int,
        guess: Callable[[Task], float] | None = None,
    ) -> None:
        self._guess = guess
        self._left = {cell.key: cell for cell in cells}
        self._jobs = jobs
        self._seen: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])

    def finished(self, record: Record) -> None:
        """Take one finished cell into account."""
        self._left.pop(record["key"], None)
        for kind in ((record["method"], record["data"]), (record["method"],), ()):
            self._seen[kind][0] += record["seconds"]
            self._seen[kind][1] += 1

    @property
    def seconds(self) -> float | None:
        """Estimated seconds left; None before the first cell is finished."""
        if () not in self._seen and self._guess is None:
            return None
        return sum(self._expected(cell) for cell in self._left.values()) / self._jobs

    def _expected(self, cell: Task) -> float:
        kinds: list[tuple[str, ...]] = [(cell.method, cell.data), (cell.method,), ()]
        if self._guess is not None and kinds[0] not in self._seen:
            return self._guess(cell)
        total, count = next(self._seen[kind] for kind in kinds if kind in self._seen)
        return total / count


class LiveProgress:
    """A progress bar with the estimated time left.

    Parameters
    ----------
    console : Console
        Where to show it.
    jobs : int
        How many cells run at a time.
    verb : str
        What is being done.
    guess : callable or None
        As for TimeLeft.
    """

    def __init__(
        self,
        console: Console,
        jobs: int,
        verb: str = "Comparing",
        guess: Callable[[Task], float] | None = None,
    ) -> None:
        self.known = 0
        self._jobs = jobs
        self._guess = guess
        self._estimate = TimeLeft([], jobs)
        self._lines = Lines(console, verb)
        self._progress = Progress(
            TextColumn(verb),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("[dim]{task.fields[last]}"),
            console=console,
        )
        self._task = self._progress.add_task("", left="", last="", start=False)

    def __enter__(self) -> Self:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the bar as it stands."""
        self._progress.update(self._task, last="")
        self._progress.stop()

    def start(self, cells: Sequence[Task], missing: Sequence[Task]) -> None:
        """Show how many cells there are and how many are known already."""
        self.known = len(cells) - len(missing)
        self._estimate = TimeLeft(missing, self._jobs, self._guess)
        self._progress.update(self._task, total=len(cells), completed=self.known)
        self._progress.start_task(self._task)
        self._show()

    def advance(self, record: Record) -> None:
        """Show one more finished cell."""
        self._estimate.finished(record)
        last = f"{record['label']} on {record['data']}"
        self._progress.update(self._task, advance=1, last=last)
        self._show()
        task = self._progress.tasks[0]
        left = task.fields["left"] or "the time left is not known yet"
        share = task.completed / task.total if task.total else None
        self._lines.tell(share, f"{task.completed:.0f} of {task.total or 0:.0f}, {left}")

    def _show(self) -> None:
        left = self._estimate.seconds or 0.0
        text = f"about {duration(left)} left" if left else ""
        self._progress.update(self._task, left=text)


def duration(seconds: float) -> str:
    """Say a time in words."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def print_summary(summary: Summary, console: Console) -> None:
    """Print a table for each data set and condition, the totals, and the findings."""
    totals = summary.totals if len(summary.data) > 1 else ()
    for group in (*summary.groups, *totals):
        name = f"All {len(summary.data)} data sets" if group.data is None else group.data
        title = f"{name}, {group.condition.label} ({group.n_rows:,} rows)"
        console.print(title, style="bold", highlight=False, markup=False)
        console.print(_table(group, summary), "")
    known = {label: METHODS[m].estimator for m, label in summary.methods.items() if m in METHODS}
    legend = ", ".join(f"{label} is {built}" for label, built in known.items() if built)
    if legend:
        console.print(legend, style="dim", highlight=False, markup=False)
    for finding in findings(summary):
        console.print(f"{finding.claim} {finding.evidence}".strip(), highlight=False, markup=False)


def _table(group: Group, summary: Summary) -> RichTable:
    single = group.data is not None
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    rivals = [rival for rival in BASELINES if rival in summary.methods]
    table.add_column("Method", no_wrap=True)
    heads = ["Error\n%", "±" if single else "Err-\nors", "Log-\nloss", "Train\n0-1", "Sec-\nonds"]
    for head in [*heads, *(f"vs {summary.methods[rival]}\nz (p)" for rival in rivals)]:
        table.add_column(head, justify="right", no_wrap=True)
    best = min((row.rate for row in group.rows if row.done == row.planned), default=None)
    for row in group.rows:
        table.add_row(*_texts(row, rivals, single), style="bold" if row.rate == best else None)
    return table


def _texts(row: Row, rivals: list[str], single: bool) -> list[str]:
    missing = f" ({row.done}/{row.planned})" if row.done < row.planned else ""
    return [
        row.label + missing,
        f"{row.rate:.2f}",
        _number(row.spread if single else row.errors, 1),
        _number(row.log_loss, 3),
        f"{row.train_errors:.1f}",
        f"{row.seconds:.2f}",
        *(_test(row.versus.get(rival)) for rival in rivals),
    ]


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _test(versus: Versus | None) -> str:
    return "–" if versus is None else f"{versus.z:+.1f} ({format_p(versus.p)})"
