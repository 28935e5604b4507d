"""Figures of sparsity: support vectors, errors and weights as the training rows grow."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bblr.comparison.figures import Panel
from bblr.comparison.records import Record
from bblr.comparison.sources import Table
from research.paper.exhibit import Exhibit, Given
from research.paper.results import FigureResult, TableResult
from research.paper.work import Work
from research.studies.sparsity import Parts, tuned_kernel, tuned_svc

__all__ = ["LABELS", "GrowthFigure", "GrowthTask", "Series", "SparsityFigure", "WeightsFigure"]

LABELS = {
    "SVC": "SVM (RBF)",
    "KBBLR-GL": "KBBLR, Gauss-Laplace",
    "KBBLR-B": "KBBLR, backward",
}
_TEST_SHARE = 1 / 3
_BINS = 41  # odd, so that one of them lies around 0
_HARDLY_ANY = 0.95
_HOW = {"KBBLR-GL": "gauss-laplace", "KBBLR-B": "backward"}


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
        model = self._fit(parts.X_train, parts.y_train, seed)
        found: Record = {
            "vectors": int(np.sum(model.n_support_)),
            "errors": int(np.sum(model.predict(parts.X_test) != parts.y_test)),
            "n_test": len(parts.y_test),
        }
        if self.method in _HOW:
            found["weights"] = histogram(model.dense_dual_coef_, model.dual_coef_.ravel())
        return found

    def _fit(self, X: Any, y: Any, seed: int) -> Any:
        grid: Any = {"widths": self.widths, "costs": self.costs}
        if self.method in _HOW:
            return tuned_kernel(X, y, seed, sparsity=_HOW[self.method], **grid)
        return tuned_svc(X, y, seed, **grid).fit(X, y)


def split(table: Table, n: int, seed: int) -> Parts:
    """Hold a third out, take the first n of the others, and scale by those.

    Rows of a sparse matrix get length 1; other features mean 0 and standard deviation 1.
    """
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import Normalizer, StandardScaler

    X, X_test, y, y_test = train_test_split(
        table.X, table.y, test_size=_TEST_SHARE, stratify=table.y, random_state=seed
    )
    if n > len(y):
        raise ValueError(f"n must be at most {len(y)}, the training rows at hand, got {n}")
    scaler = (Normalizer() if table.sparse else StandardScaler()).fit(X[:n])
    return Parts(scaler.transform(X[:n]), y[:n], scaler.transform(X_test), y_test)


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
    """Training sets of growing size.

    Parameters
    ----------
    data : str
        Name of the data.
    sizes : tuple of int
        Training rows, in rising order.
    repeats : int
        Divisions into training and test part.
    widths, costs : tuple of float
        What to choose from, as in :class:`GrowthTask`.
    """

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
        """Return what to run of the data sets at hand."""
        wanted = self.quick if given.level == "quick" else self.full
        return tuple(series for series in wanted if series.data in given.fingerprints)

    def tasks(self, given: Given) -> list[GrowthTask]:
        """Return a task for each data set, method, size and repeat."""
        return [
            self._task(given, series, method, n, repeat)
            for series in self.series(given)
            for n in self.sizes(series)
            for repeat in range(self.repeats(series))
            for method in self.methods
        ]

    def _task(self, given: Given, series: Series, method: str, n: int, repeat: int) -> GrowthTask:
        return GrowthTask(
            data=series.data, fingerprint=given.fingerprints[series.data], method=method,
            seed=given.seed, library=given.library, n=n, repeat=repeat,
            widths=series.widths, costs=series.costs,
        )  # fmt: skip

    def sizes(self, series: Series) -> tuple[int, ...]:
        """Return the sizes that are shown."""
        return series.sizes

    def repeats(self, series: Series) -> int:
        """Return how many repeats are shown."""
        return series.repeats

    def results(
        self, given: Given, records: Mapping[str, Record]
    ) -> list[TableResult | FigureResult]:
        """Draw what the records tell, and say what is missing."""
        library, panels, notes, wrong = given.library, [], list(self.notes), []
        tasks = self.tasks(given)
        for series in self.series(given):
            mine = [records[t.key] for t in tasks if t.data == series.data and t.key in records]
            wrong += [record["failure"] for record in mine if "failure" in record]
            done = [record for record in mine if "failure" not in record]
            if done:
                panels += self.panels(library.title(series.data), done)
                notes += self.remarks(library.title(series.data), done)
        notes += [
            f"{library.title(name)} is left out: {given.missing[name].rstrip('.')}."
            for name in self.needs
            if name in given.missing
        ]
        if wrong:
            notes.append(f"{len(wrong)} of {len(tasks)} fits failed, the first by {wrong[0]}.")
        shown = (self.name, self.title, self.about, self.reading)
        return [FigureResult(*shown, tuple(panels), tuple(notes))]

    @abstractmethod
    def panels(self, title: str, records: Sequence[Record]) -> list[Panel]:
        """Draw the records of one data set."""

    def remarks(self, title: str, records: Sequence[Record]) -> list[str]:
        """Say what the figure of one data set comes to."""
        return []


@dataclass(frozen=True, kw_only=True)
class SparsityFigure(GrowthFigure):
    """Support vectors and test error against training rows."""

    methods: ClassVar[tuple[str, ...]] = ("SVC", "KBBLR-GL", "KBBLR-B")

    def panels(self, title: str, records: Sequence[Record]) -> list[Panel]:
        """Draw vectors and errors of one data set."""
        from research.paper.growth_plot import error_panel, vector_panel

        return [vector_panel(title, records), error_panel(title, records)]

    def remarks(self, title: str, records: Sequence[Record]) -> list[str]:
        """Say how the vectors grow, and where the mixture drops hardly any or nearly all."""
        sizes = sorted({record["n"] for record in records})
        first, last = sizes[0], sizes[-1]
        few, many = _mean_vectors(records, first), _mean_vectors(records, last)
        factors = [
            f"{LABELS[method]} {many[method] / few[method]:.1f}"
            for method in self.methods
            if method in many and method in few
        ]
        found = [
            f"{title}, from {first:,} to {last:,} training rows, {last / first:.1f} times as "
            f"many: the vectors grow by these factors: {'; '.join(factors)}."
        ]
        kept = many.get("KBBLR-GL", 0.0)
        if kept > _HARDLY_ANY * last:
            found.append(
                f"On {title} the mixture keeps {kept:,.0f} of {last:,} vectors, unlike in the "
                "paper; figure-weights shows the weights it starts from."
            )
        mixtures = [record for record in records if record["method"] == "KBBLR-GL"]
        alone = sum(record["vectors"] == 1 for record in mixtures)
        if alone:
            found.append(
                f"In {alone} of {len(mixtures)} fits on {title} the mixture left a single vector."
            )
        return found


def _mean_vectors(records: Sequence[Record], n: int) -> dict[str, float]:
    """Return the mean number of vectors at n rows, by method."""
    counts: dict[str, list[int]] = {}
    for record in records:
        if record["n"] == n:
            counts.setdefault(record["method"], []).append(record["vectors"])
    return {method: float(np.mean(vectors)) for method, vectors in counts.items()}


@dataclass(frozen=True, kw_only=True)
class WeightsFigure(GrowthFigure):
    """Weights of the vectors before and after, in one fit to the most rows a method."""

    methods: ClassVar[tuple[str, ...]] = ("KBBLR-GL", "KBBLR-B")

    def sizes(self, series: Series) -> tuple[int, ...]:
        """Return the largest size."""
        return series.sizes[-1:]

    def repeats(self, series: Series) -> int:
        """Return that one repeat is shown."""
        return 1

    def panels(self, title: str, records: Sequence[Record]) -> list[Panel]:
        """Draw the weights of one data set, a panel a method."""
        from research.paper.growth_plot import weight_panel

        return [weight_panel(title, record) for record in records]
