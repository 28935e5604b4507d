"""``bblr sparsity`` from end to end: check the settings, measure, show, draw, write."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from joblib import cpu_count
from rich.console import Console

from bblr._bars import Bar
from bblr._settings import SettingError, check_writable
from bblr.comparison.session import DONE, INTERRUPTED, MISUSED, check_least, refusal, say
from bblr.comparison.sources import Table, load_two_classes
from bblr.comparison.tasks import versions
from research.studies.sparsity import Growth, Parts, Point, grow, trec07p_parts

__all__ = ["SparsityJob", "run_sparsity", "split_table"]

_TEST_SHARE = 1 / 3
_MOST_TEST_ROWS = 10_000
_SMALLEST = 60
# Without --rows: up to so many training rows, and so many sizes.
_LARGEST = 16_000
_MOST_SIZES = 7
RESEARCH = "trec07p"


@dataclass(frozen=True)
class SparsityJob:
    """The settings of ``bblr sparsity``, as they were typed.

    See ``bblr sparsity --help`` for what each of them means.
    """

    data: str
    target: str | None
    rows: str | None
    jobs: int | None
    seed: int
    plot: Path
    out: Path | None
    drop: tuple[str, ...] = ()

    def prepared(self) -> tuple[Table, Parts, list[int]]:
        """Check every setting, load the data and choose the sizes; nothing is written."""
        check_least(jobs=(self.jobs, 1), seed=(self.seed, 0))
        check_writable("plot", self.plot, (".png", ".svg"))
        if self.out is not None:
            check_writable("json", self.out, (".json",))
        table, parts = self._load()
        return table, parts, self._sizes(len(parts.y_train))

    def _load(self) -> tuple[Table, Parts]:
        if self.data == RESEARCH and self.target is None:
            try:
                return trec07p_parts(self.seed)
            except FileNotFoundError as error:
                raise SettingError("data", f"cannot be read: {error}") from error
        table = load_two_classes(self.data, self.target, self.drop)
        return table, split_table(table, self.seed)

    def _sizes(self, most: int) -> list[int]:
        if self.rows is None:
            sizes = [min(most, _LARGEST)]
            while sizes[0] // 2 >= _SMALLEST and len(sizes) < _MOST_SIZES:
                sizes.insert(0, sizes[0] // 2)
            return sizes
        try:
            sizes = sorted({int(text) for text in self.rows.split(",")})
        except ValueError:
            raise SettingError(
                "rows", f"must be whole numbers with commas between, got {self.rows!r}"
            ) from None
        if not _SMALLEST <= sizes[0] <= sizes[-1] <= most:
            raise SettingError(
                "rows", f"must lie between {_SMALLEST} and {most}, the training rows of these data"
            )
        return sizes


def split_table(table: Table, seed: int) -> Parts:
    """Shuffle, hold a third out to test on, and standardise by the training part."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    count = min(_MOST_TEST_ROWS, round(_TEST_SHARE * len(table.y)))
    X, X_test, y, y_test = train_test_split(
        table.X, table.y, test_size=count, stratify=table.y, random_state=seed
    )
    scaler = (MaxAbsScaler() if table.sparse else StandardScaler()).fit(X)
    return Parts(scaler.transform(X), y, scaler.transform(X_test), y_test)


def run_sparsity(job: SparsityJob) -> int:
    """Carry out ``bblr sparsity``.

    Returns
    -------
    int
        Exit status: 0 done, 2 a setting cannot be used, 130 interrupted.
    """
    messages, console = Console(stderr=True), Console()
    try:
        table, parts, sizes = job.prepared()
    except SettingError as error:
        say(messages, refusal(error, data="DATA"))
        return MISUSED
    for note in table.notes:
        say(messages, f"Note: {note}")
    n, d = parts.X_train.shape
    say(
        console,
        f"{table.name}: {n:,} training rows of {d} features, {len(parts.y_test):,} test rows\n"
        f"{'':>8}  {'SVM':>16}  {'sparse KBBLR':>16}  {'a third of the SVM':>18}\n"
        f"{'rows':>8}" + f"  {'vectors':>7} {'error %':>8}" * 3,
    )

    def show(point: Point) -> None:
        done.append(point)
        bar.tell(len(done) / (len(sizes) + 1), f"{point.n:,} rows done")
        pairs = (
            (point.svc_vectors, point.svc_error),
            (point.vectors, point.error),
            (point.third_vectors, point.third_error),
        )
        shown = "".join(f"  {vectors:7,.0f} {error:8.2f}" for vectors, error in pairs)
        say(console, f"{point.n:8,}{shown}")

    done: list[Point] = []
    try:
        with Bar(messages, "Measuring") as bar:
            bar.tell(0.0, f"{sizes[0]:,} rows")
            growth = grow(parts, sizes, job.seed, job.jobs or cpu_count(), show)
    except KeyboardInterrupt:
        say(messages, "Stopped; nothing was written.")
        return INTERRUPTED
    from research.studies.sparsity_plot import draw

    draw(growth, f"Sparsity on {table.name}", job.plot)
    say(console, f"Wrote {job.plot}")
    if job.out is not None:
        job.out.write_text(json.dumps(_record(job, table, growth), indent=2) + "\n", "utf-8")
        say(console, f"Wrote {job.out}")
    return DONE


def _record(job: SparsityJob, table: Table, growth: Growth) -> dict[str, object]:
    return {
        "versions": versions(),
        "data": {"name": table.name, "fingerprint": table.fingerprint},
        "settings": {"seed": job.seed},
        "points": [asdict(point) for point in growth.points],
        "path": growth.path,
        "dense_error": growth.dense_error,
        "weights": [
            {"label": w.label, "dense": np.round(w.dense, 6).tolist(),
             "sparse": np.round(w.sparse, 6).tolist()}
            for w in growth.weights
        ],
    }  # fmt: skip
