"""How KernelBBLRClassifierCV chooses the number of vectors, and width and penalty for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.kernel.fit import Floats, Held, KernelFit, KernelProblem
from bblr.kernel.kernel_search import KernelSearch
from bblr.kernel.sparse_fit import SHARES, Elimination, Promise, gauss_laplace
from bblr.training.cross_validation import Path
from bblr.training.folds import Fold

Tried = tuple[Any, float, float]
HeldOut = tuple[Floats, NDArray[np.intp]]
SparseFit = tuple[KernelFit, HeldOut | None, list[Tried]]

# Numbers of vectors to try.
SIZES = (724, 512, 362, 256, 181, 128, 90, 64, 45, 32, 23, 16, 11, 8, 6, 4)
_MOST = 181
# Share by which the held-out loss may rise as vectors are dropped.
_LOSS_RISE = 0.005
# Few vectors cover the data only with a wide kernel, and need a weaker penalty. Number of widths
# and of penalties to try, including those of the dense fit.
_NEIGHBOURS = 4


@dataclass(frozen=True, eq=False)
class Sparsify:
    """The choice of vectors, given width, penalty, plateaus and schedule of the dense fit.

    Parameters
    ----------
    search : KernelSearch
        Cross-validation on the training rows or a sample of them.
    how : {"backward", "gauss-laplace"}
        The ``sparsity`` of the classifier.
    most : int or None
        Most vectors.
    n_rows : int
        Number of training rows.
    centres : int or None
        Most centres of the dense fit.
    """

    search: KernelSearch
    how: str
    most: int | None
    n_rows: int
    centres: int | None

    @property
    def _sampled(self) -> bool:
        return len(self.search.problem.y) < self.n_rows

    def suited_to_size(
        self, width: float, path: Path, widths: Sequence[float], l2s: Sequence[float]
    ) -> tuple[float, Path]:
        """Return the width and penalty that suit `most` vectors best, by their held-out loss.

        Without a limit the settings of the dense fit stand; so they do where the search runs on a
        sample, whose best settings for few vectors are not those of all rows.
        """
        count = min(len(fold.train) for fold in self.search.folds)
        if self.how != "backward" or self.most is None or self.most >= count or self._sampled:
            return width, path
        search = replace(self.search, folds=self._one_division())
        wider = sorted((w for w in widths if w <= width), reverse=True)[:_NEIGHBOURS]
        weaker = sorted((l2 for l2 in l2s if l2 <= path.l2), reverse=True)[:_NEIGHBOURS]
        tried: list[tuple[float, float, Path]] = []
        for w, l2 in product(wider, weaker):
            candidate = path._replace(l2=l2)
            tried.append((search.sizes(w, candidate, (self.most,))[1].loss, w, candidate))
            if search.monitor.stopped:
                break
        _, width, path = min(tried, key=lambda trial: trial[0])
        self.search.monitor.log(
            f"{self.most} vectors: {len(tried)} trials, kernel_gamma={width:.3g}, l2={path.l2:g}"
        )
        return width, path

    def _one_division(self) -> Sequence[Fold]:
        """Return the first folds that hold out every row once."""
        rows = len(self.search.problem.y)
        count = np.cumsum([len(fold.test) for fold in self.search.folds])
        return self.search.folds[: 1 + int(np.searchsorted(count, rows))]

    def fit(
        self,
        problem: KernelProblem,
        dense: KernelFit,
        width: float,
        path: Path,
        rng: np.random.Generator,
    ) -> SparseFit:
        """Return the sparse fit, held-out decisions of such a fit if any, and the trials."""
        if self.how == "gauss-laplace":
            return self._mixture(problem, dense, width, path)
        elimination = Elimination(problem, path, rng, self.search.monitor)
        if self._sampled:
            tried, held = self._hold_out(problem, width, path, len(dense.basis.centres)), None
        else:
            tried, held = self._cross_validate(width, path)
        size = smallest_adequate_size(
            [size for size, _, _ in tried[1:]], [loss for _, _, loss in tried]
        )
        self.search.monitor.log(f"{size} vectors")
        fitted = next(elimination.to_sizes(elimination.pool(dense, size), (size,)))
        if held is None:
            return fitted, None, tried
        decision = next(h.decision for (s, _, _), h in zip(tried, held, strict=True) if s == size)
        return fitted, (decision, _held_rows(self.search.folds)), tried

    def _sizes(self, count: int, largest: int) -> tuple[int, ...]:
        """Return the numbers of vectors to try, given that of the dense fit."""
        sizes = tuple(s for s in SIZES if s < min(count, self.most or count) and s <= largest)
        if self.most is not None and self.most < count:
            return (self.most, *sizes)
        return sizes or (1,)

    def _cross_validate(self, width: float, path: Path) -> tuple[list[Tried], list[Held]]:
        count = min(len(fold.train) for fold in self.search.folds)
        sizes = self._sizes(count, _MOST)
        held = self.search.sizes(width, path, sizes)
        tried = [(s, h.errors, h.loss) for s, h in zip((count, *sizes), held, strict=True)]
        return tried, held

    def _hold_out(
        self, problem: KernelProblem, width: float, path: Path, count: int
    ) -> list[Tried]:
        """Score sizes on held-out rows of a large sample, until one loses too much."""
        search = replace(self.search, problem=problem)
        sizes = self._sizes(count, count)
        limit = self.centres or count
        scores = search.hold_out_sizes(width, path, sizes, limit)
        tried: list[Tried] = []
        for size, held in zip((count, *sizes), scores, strict=False):
            tried.append((size, held.errors, held.loss))
            enough = self.search.monitor.step("size") and len(tried) > 1
            if enough or held.loss > (1.0 + _LOSS_RISE) * tried[0][2]:
                break
        return tried

    def _mixture(
        self, problem: KernelProblem, dense: KernelFit, width: float, path: Path
    ) -> SparseFit:
        held = self.search.shares(width, path, SHARES)
        rows = _held_rows(self.search.share_folds())
        weight = float(self.search.problem.weight[rows].sum())
        fitted, k = Promise([h.errors for h in held], weight, len(rows)).kept(
            lambda share: gauss_laplace(problem, dense, path, share, self.most)
        )
        self.search.monitor.log(f"{SHARES[k]:g} of the weights start in the narrow cluster")
        tried = [(share, h.errors, h.loss) for share, h in zip(SHARES, held, strict=True)]
        return fitted, (held[k].decision, rows), tried


def smallest_adequate_size(sizes: Sequence[int], losses: Sequence[float]) -> int:
    """Return the smallest size whose loss, and that of every larger one, is near the dense fit's.

    `losses` starts with the dense fit. The loss is smooth; errors are too few to compare sizes.
    """
    chosen = sizes[0]
    for size, loss in zip(sizes, losses[1:], strict=True):
        if loss > (1.0 + _LOSS_RISE) * losses[0]:
            break
        chosen = size
    return chosen


def _held_rows(folds: Sequence[Fold]) -> NDArray[np.intp]:
    return np.concatenate([fold.test for fold in folds])
