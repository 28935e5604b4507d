"""Plateaus and mixture shares that KernelBBLRClassifier learns from held-out rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from bblr._numeric.arrays import equal_rows
from bblr.kernel.fit import ALL_CENTRES, KernelFit, KernelProblem
from bblr.kernel.sparse_fit import SHARES, Promise
from bblr.losses import Plateaus
from bblr.training.cross_validation import Path
from bblr.training.folds import Fold
from bblr.training.monitor import FitMonitor
from bblr.training.probabilities import likeliest_plateaus
from bblr.training.start import resolve_prior

FitPart = Callable[[KernelProblem, Path], KernelFit]
Mixture = Callable[[KernelProblem, KernelFit, float], KernelFit]

# One row of so many of each class is held out to compare shares.
_HELD_OUT = 4
# Folds whose held-out scores the plateaus are learned from.
_FOLDS = 5


def learned_prior(
    problem: KernelProblem,
    path: Path,
    n_classes: int,
    fit_part: FitPart,
    rng: np.random.Generator,
    monitor: FitMonitor,
) -> Plateaus:
    """Return the plateaus of greatest likelihood on held-out scores.

    A kernel fit may make no training errors at all, from which plateaus cannot be learned.

    Parameters
    ----------
    problem : KernelProblem
        The training rows, at least two of each class.
    path : Path
        Penalty and gammas; its plateaus are not used.
    n_classes : int
        Number of classes.
    fit_part : callable
        Fits some of the rows along a path.
    rng : Generator
        Random numbers for the folds.
    monitor : FitMonitor
        Reports each fold.
    """
    seed = int(rng.integers(2**31 - 1))
    folds = StratifiedKFold(min(_FOLDS, problem.smallest_class()), shuffle=True, random_state=seed)
    mild = resolve_prior("mild", problem.y, problem.weight, n_classes, problem.fit_intercept)
    parts, places = [], []
    with monitor.task("learn plateaus", folds.n_splits):
        order = _order(problem)
        for drawn in folds.split(order[:, None], problem.y[order]):
            fold = Fold(*(np.sort(order[rows]) for rows in drawn))
            fitted = fit_part(problem.on_rows(fold.train), path._replace(prior=mild))
            parts.append(problem.held_out(fold, fitted).decision)
            places.append(fold.test)
            monitor.step("fold")
    decision = np.concatenate(parts)[np.argsort(np.concatenate(places))]
    learned = likeliest_plateaus(decision, problem.y, problem.weight)
    monitor.log(f"learned plateaus {learned}")
    return learned


def validated_shares(
    problem: KernelProblem,
    path: Path,
    fit_part: FitPart,
    mixture: Mixture,
    rng: np.random.Generator,
    monitor: FitMonitor,
) -> Promise:
    """Return the errors of the shares, fitted to three quarters of the rows, on the others.

    Parameters
    ----------
    problem : KernelProblem
        The training rows, at least two of each class.
    path : Path
        Plateaus, penalty and gammas.
    fit_part : callable
        Fits some of the rows along a path.
    mixture : callable
        Fits them under the mixture, from that fit and with a share to start in its narrow cluster.
    rng : Generator
        Random numbers for the split.
    monitor : FitMonitor
        Reports each share, and may stop the trials.
    """
    fold = _split(problem.y, _order(problem), int(rng.integers(2**31 - 1)))
    part = problem.on_rows(fold.train)
    dense = fit_part(part, path)
    errors: list[float] = []
    for share in SHARES:
        errors.append(problem.held_out(fold, mixture(part, dense, share)).errors)
        if monitor.step("share"):
            break
    return Promise(errors, float(problem.weight[fold.test].sum()), len(fold.test))


def _order(problem: KernelProblem) -> NDArray[np.intp]:
    """Return the rows in an order that does not depend on what the classes are called.

    Few rows are in the order of their values. Equal ones of several classes follow one another as
    their classes are named; here, as the classes come in the order of all rows.
    """
    n = problem.gram.n_rows
    first, place = equal_rows(problem.gram.X) if n <= ALL_CENTRES else (np.arange(n), np.arange(n))
    if len(first) == n:
        return np.arange(n)
    kinds = np.unique(problem.y, return_inverse=True)[1]
    where = np.full(len(first), n)
    np.minimum.at(where, place, np.arange(n))
    told = [
        sorted(zip(where[place[rows]], problem.weight[rows], strict=True))
        for rows in (kinds == k for k in range(kinds.max() + 1))
    ]
    rank = np.empty(len(told), dtype=np.intp)
    rank[sorted(range(len(told)), key=told.__getitem__)] = np.arange(len(told))
    return np.lexsort([rank[kinds], where[place]])


def _split(y: NDArray[np.generic], order: NDArray[np.intp], seed: int) -> Fold:
    """Return a division that holds out some of each class, whatever the classes are called.

    That of scikit-learn draws class by class, so that labels swapped would be other rows.
    """
    drawn = order[np.random.default_rng(seed).permutation(len(y))]
    classes = [drawn[y[drawn] == label] for label in np.unique(y)]
    test = np.sort(np.concatenate([rows[: -(-len(rows) // _HELD_OUT)] for rows in classes]))
    return Fold(np.setdiff1d(np.arange(len(y)), test), test)
