"""Figures of sparsity: support vectors, errors and weights as the training rows grow."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from sklearn.preprocessing import Normalizer, StandardScaler

from bblr.comparison.figures import BBLR, MUTED, PAGE, SLA, SVM, Panel, render
from bblr.comparison.records import Record
from bblr.comparison.sources import Table
from research.core.parts import Parts, divide
from research.paper.exhibit import Exhibit, Given, Result
from research.paper.fits import Work
from research.studies.sparsity import tuned_kernel, tuned_svc

__all__ = ["GrowthFigure", "GrowthTask", "Series", "SparsityFigure", "WeightsFigure"]

LABELS = {"SVC": "SVM (RBF)", "KBBLR-GL": "KBBLR, Gauss-Laplace", "KBBLR-B": "KBBLR, backward"}
_TEST_SHARE = 1 / 3
_BINS = 41  # odd, so that one of them lies around 0
_HARDLY_ANY = 0.95
_HOW = {"KBBLR-GL": "gauss-laplace", "KBBLR-B": "backward"}
# Members of one family differ by mark and dash: colour, marker, dash, whether it is filled.
_LOOKS: dict[str, tuple[str, str, Any, bool]] = {
    "SVC": (SVM, "s", "-", True),
    "KBBLR-GL": (BBLR, "o", (0, (5, 2.5)), False),
    "KBBLR-B": (BBLR, "o", "-", True),
}
_HEIGHT, _ASIDE = 3.3, 0.007


@dataclass(frozen=True, kw_only=True)
class GrowthTask(Work):
    """Tune and fit one classifier on the first rows of a training part.

    Parameters
    ----------
    n : int
        Training rows.
    repeat : int
        Which division into training and test part.
    widths, costs : tuple of float
        Multiples of "scale" and values of C to choose from; a penalty is 1 / C.
    """

    n: int
    repeat: int
    widths: tuple[float, ...]
    costs: tuple[float, ...]

    def work(self) -> Record:
        """Count vectors and test errors, and the weights before and after by size."""
        random = np.random.SeedSequence([self.seed, self.repeat, *b"growth"])
        seed = int(random.generate_state(1)[0]) & 0x7FFFFFFF
        parts = split(self.table(), self.n, seed)
        X, y, sparse = parts.X_train, parts.y_train, self.method in _HOW
        grid: Any = {"widths": self.widths, "costs": self.costs}
        if sparse:
            model = tuned_kernel(X, y, seed, sparsity=_HOW[self.method], **grid)
        else:
            model = tuned_svc(X, y, seed, **grid).fit(X, y)
        found: Record = {
            "vectors": int(np.sum(model.n_support_)),
            "errors": int(np.sum(model.predict(parts.X_test) != parts.y_test)),
            "n_test": len(parts.y_test),
        }
        if sparse:
            found["weights"] = histogram(model.dense_dual_coef_, model.dual_coef_.ravel())
        return found


def split(table: Table, n: int, seed: int) -> Parts:
    """Hold a third out, take the first n of the others, and scale by those.

    Rows of a sparse matrix get length 1; other features mean 0 and standard deviation 1.
    """
    parts = divide(table, _TEST_SHARE, seed)
    most = len(parts.y_train)
    if n > most:
        raise ValueError(f"n must be at most {most}, the training rows available, got {n}")
    return parts.first(n).scaled(Normalizer() if table.sparse else StandardScaler())


def histogram(before: Any, after: Any) -> Record:
    """Count weights before and after a fit was made sparse, in the same bins around 0."""
    # Four digits are enough for a record; those beyond them go into the outer bins.
    reach = float(f"{max(np.abs(before).max(), np.abs(after).max()):.4g}")
    edges = np.linspace(-reach, reach, _BINS + 1)
    counts = {
        name: np.histogram(np.clip(weights, -reach, reach), edges)[0].tolist()
        for name, weights in (("before", before), ("after", after))
    }
    return {"edges": [float(f"{edge:.6g}") for edge in edges], **counts}


@dataclass(frozen=True, kw_only=True)
class Series:
    """Training sets of growing size: of which data, how large, how often, and the grid."""

    data: str
    sizes: tuple[int, ...]
    repeats: int
    widths: tuple[float, ...]
    costs: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class GrowthFigure(Exhibit):
    """A figure of what becomes of the vectors as data grow.

    Parameters
    ----------
    quick, full : tuple of Series
        What to run at either level, a series for each data set.
    """

    methods: ClassVar[tuple[str, ...]]
    quick: tuple[Series, ...]
    full: tuple[Series, ...]

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the data sets."""
        return tuple(dict.fromkeys(series.data for series in (*self.quick, *self.full)))

    def series(self, given: Given) -> tuple[Series, ...]:
        """Return what to run of the data sets available."""
        wanted = self.quick if given.level == "quick" else self.full
        return tuple(series for series in wanted if series.data in given.fingerprints)

    def tasks(self, given: Given) -> list[GrowthTask]:
        """Return a task for each data set, method, size and repeat."""
        return [
            GrowthTask(
                data=series.data, method=method, n=n, repeat=repeat, widths=series.widths,
                costs=series.costs, **given.task(series.data),
            )
            for series in self.series(given)
            for n, repeat in self.shown(series)
            for method in self.methods
        ]  # fmt: skip

    def shown(self, series: Series) -> list[tuple[int, int]]:
        """Return the sizes and repeats that are shown."""
        return [(n, repeat) for n in series.sizes for repeat in range(series.repeats)]

    def results(self, given: Given, records: Mapping[str, Record]) -> list[Result]:
        """Draw what the records tell, and say what is missing."""
        panels: list[Panel] = []
        notes = list(self.notes)
        tasks = self.tasks(given)
        found = [records[task.key] for task in tasks if task.key in records]
        wrong = [record["failure"] for record in found if "failure" in record]
        for series in self.series(given):
            done = [r for r in found if "failure" not in r and r["data"] == series.data]
            if done:
                title = given.library.title(series.data)
                panels += self.panels(title, pd.DataFrame(done))
                notes += self.remarks(title, pd.DataFrame(done))
        notes += [
            f"{given.library.title(name)} is left out: {given.missing[name].rstrip('.')}."
            for name in self.needs
            if name in given.missing
        ]
        if wrong:
            notes.append(f"{len(wrong)} of {len(tasks)} fits failed, the first by {wrong[0]}.")
        shown = (self.name, self.title, self.about, self.reading)
        return [Result(*shown, panels=tuple(panels), notes=tuple(notes))]

    @abstractmethod
    def panels(self, title: str, frame: pd.DataFrame) -> list[Panel]:
        """Draw the records of one data set."""

    def remarks(self, title: str, frame: pd.DataFrame) -> list[str]:
        """Say what the figure of one data set comes to."""
        return []


@dataclass(frozen=True, kw_only=True)
class SparsityFigure(GrowthFigure):
    """Support vectors and test error against training rows."""

    methods: ClassVar[tuple[str, ...]] = ("SVC", "KBBLR-GL", "KBBLR-B")

    def panels(self, title: str, frame: pd.DataFrame) -> list[Panel]:
        """Draw vectors and errors of one data set."""
        rates = frame.assign(rate=100.0 * frame["errors"] / frame["n_test"])
        return [
            _panel(title, "support vectors", rates, "vectors", "{:,.0f}".format),
            _panel(title, "test error", rates, "rate", "{:.1f} %".format),
        ]

    def remarks(self, title: str, frame: pd.DataFrame) -> list[str]:
        """Say how the vectors grow, and where the mixture drops hardly any or nearly all."""
        means: Any = frame.pivot_table(index="n", columns="method", values="vectors")
        first, last = means.index[0], means.index[-1]
        factors = (means.loc[last] / means.loc[first]).reindex(list(self.methods)).dropna()
        grown = "; ".join(f"{LABELS[method]} {factor:.1f}" for method, factor in factors.items())
        found = [
            f"{title}, from {first:,} to {last:,} training rows, {last / first:.1f} times as "
            f"many: the vectors grow by these factors: {grown}."
        ]
        mixtures = frame[frame["method"] == "KBBLR-GL"]
        kept = means.loc[last].get("KBBLR-GL", 0.0)
        if kept > _HARDLY_ANY * last:
            found.append(
                f"On {title} the mixture keeps {kept:,.0f} of {last:,} vectors, unlike in the "
                "paper; figure-weights shows the weights it starts from."
            )
        alone = int((mixtures["vectors"] == 1).sum())
        if alone:
            found.append(
                f"In {alone} of {len(mixtures)} fits on {title} the mixture left a single vector."
            )
        return found


@dataclass(frozen=True, kw_only=True)
class WeightsFigure(GrowthFigure):
    """Weights of the vectors before and after, in one fit to the most rows a method."""

    methods: ClassVar[tuple[str, ...]] = ("KBBLR-GL", "KBBLR-B")

    def shown(self, series: Series) -> list[tuple[int, int]]:
        """Return the largest size, once."""
        return [(series.sizes[-1], 0)]

    def panels(self, title: str, frame: pd.DataFrame) -> list[Panel]:
        """Draw the weights of one data set, a panel a method."""
        return [_weights(title, record) for record in frame.to_dict("records")]


def _panel(
    title: str, what: str, frame: pd.DataFrame, column: str, write: Callable[[float], str]
) -> Panel:
    """Draw a column against the training rows: means over divisions, and their range."""
    found: Any = frame.groupby(["method", "n"])[column].agg(["mean", "min", "max"])
    curves = {m: found.loc[m] for m in _LOOKS if m in found.index.get_level_values(0)}
    said = " ".join(
        f"{LABELS[m]}: {', '.join(f'{write(v)} at {n:,}' for n, v in curve['mean'].items())}."
        for m, curve in curves.items()
    )
    text = f"{what[:1].upper()}{what[1:]} on {title}, by training rows. {said}"

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for place, (method, curve) in enumerate(curves.items()):
            colour, marker, dash, filled = _LOOKS[method]
            # Side by side, or the ranges would hide one another.
            n = np.asarray(curve.index, dtype=float) + _ASIDE * (place - 1) * curve.index[-1]
            axes.vlines(n, curve["min"], curve["max"], color=colour, lw=1.2, alpha=0.5)
            inside = colour if filled else PAGE
            axes.plot(
                n, curve["mean"], color=colour, ls=dash, lw=1.6, marker=marker, ms=5.5,
                mfc=inside, mec=colour, mew=1.5, label=LABELS[method],
            )  # fmt: skip
        axes.set(xlabel="training rows", ylabel=what if column == "vectors" else f"{what}, %")
        axes.margins(0.08)
        axes.set_xlim(left=0)
        if column == "vectors":
            axes.set_ylim(bottom=0)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10], integer=True))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        _finish(figure, axes)

    return Panel(f"{title}: {what}", render(draw, height=_HEIGHT, text=text), text)


def _finish(figure: Figure, axes: Any) -> None:
    axes.tick_params(axis="y", labelcolor=MUTED)
    figure.legend(
        loc="outside upper left", ncols=2, fontsize=10, handlelength=2.2, columnspacing=1.4,
        labelspacing=0.25, borderaxespad=0.2,
    )  # fmt: skip


def _weights(title: str, record: Any) -> Panel:
    """Draw the weights before and after a fit was made sparse."""
    label, weights = LABELS[record["method"]], record["weights"]
    edges, before, after = (np.array(weights[name]) for name in ("edges", "before", "after"))
    dense, kept = int(before.sum()), int(after.sum())
    middle = len(before) // 2
    text = (
        f"Weights of {label} on {title}, {record['n']:,} training rows, between "
        f"−{edges[-1]:.3g} and {edges[-1]:.3g}. Before: {dense:,} weights, {before[middle]:,} of "
        f"them within {edges[middle + 1]:.2g} of 0. After: {kept:,} weights are left, "
        f"{after[middle]:,} of them within {edges[middle + 1]:.2g} of 0; {dense - kept:,} are "
        "dropped and not drawn."
    )

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.stairs(before, edges, fill=True, color=SLA, alpha=0.45, label=f"before: {dense:,}")
        axes.stairs(after, edges, color=BBLR, lw=1.8, label=f"after: {kept:,}")
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.set(xlabel="weight", ylabel="number of weights, log scale")
        _finish(figure, axes)

    return Panel(f"{title}: {label}", render(draw, height=_HEIGHT, text=text), text)
