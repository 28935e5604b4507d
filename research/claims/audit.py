"""The claim about label audits: flipped labels found, beside cleanlab."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from bblr.audit import find_label_errors
from bblr.audit.held_out import Labelled, held_out_scores, make_folds
from bblr.comparison.sources import EMBEDDED
from bblr.evaluation import add_noise
from bblr.linear import BBLRClassifier
from bblr.linear.evidence import log_odds_against
from research.claims.base import Claim, ClaimRun
from research.claims.research import available
from research.core.targets import Bar, Measured, Unavailable

__all__ = ["AUDIT_CLAIMS", "load_audited", "own_ranking", "rival_ranking"]

LARGE = "trec07p"
DATA = (*EMBEDDED, "digits", LARGE)
FLIPS = 0.1
# One run of both on TREC07p takes minutes.
_LARGE_REPEATS = 2
_WHO = ("rival", "own", "clean")


class Found(NamedTuple):
    """A ranking of all rows, and how many of the first the method itself would name."""

    ranking: NDArray[np.intp]
    named: int


class Cell(NamedTuple):
    """One data set with one draw of flips: precision at their number.

    Recall at that number is the same figure. Of the rows that a method names by itself: how many,
    and its precision and recall among these.
    """

    data: str
    flips: int
    rival: float
    own: float
    clean: float
    rival_named: tuple[int, float, float]
    own_named: tuple[int, float, float]


def load_audited(name: str) -> tuple[Any, NDArray[np.intp]]:
    """Return the rows and class numbers of a data set of the claim."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
    elif name == LARGE:
        from bblr.datasets import fetch_trec07p

        X, y = available(partial(fetch_trec07p, return_X_y=True))
    else:
        from bblr.datasets import load_uci

        X, y = load_uci(name, return_X_y=True)
    return X, np.unique(y, return_inverse=True)[1]


def auditor() -> BBLRClassifier:
    """Return the classifier that audits, chosen on other data than these."""
    return BBLRClassifier()


def own_ranking(X: Any, y: NDArray[np.intp], seed: int) -> Found:
    """Audit with our classifier."""
    found = find_label_errors(auditor(), X, y, random_state=seed)
    return Found(found.ranking, found.n_errors)


def rival_ranking(X: Any, y: NDArray[np.intp], seed: int, n_jobs: int | None = None) -> Found:
    """Audit with cleanlab: logistic regression on standardised features, out of fold.

    The rows it filters come first, in its order; its label quality orders the others. By default
    it starts processes of its own, which it cannot within those of joblib.
    """
    from scipy.sparse import issparse
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    try:
        from cleanlab.filter import find_label_issues
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        raise Unavailable("cleanlab is not installed; run: pip install 'bblr[bench]'") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not converge in 100 iterations says so
        model = make_pipeline(StandardScaler(with_mean=not issparse(X)), LogisticRegression())
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        probability = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
        named = find_label_issues(
            y, probability, return_indices_ranked_by="self_confidence", n_jobs=n_jobs
        )
        order = np.argsort(get_label_quality_scores(y, probability), kind="stable")
    ranking = np.concatenate([named, order[~np.isin(order, named)]])
    return Found(ranking, len(named))


def clean_ranking(X: Any, y: NDArray[np.intp], flipped: NDArray[np.intp], seed: int) -> Any:
    """Rank flipped labels by models that were trained on the labels as they were.

    No audit can expect more of such models: what it misses lies where classes overlap.
    """
    data = Labelled(X, y, np.unique(y), y, None)
    raw = held_out_scores(auditor(), data, make_folds(5, data, seed), None)
    return np.argsort(-log_odds_against(raw, flipped, 1.0), kind="stable")


def measure(name: str, seed: int) -> Cell:
    """Flip labels and let both look for them."""
    X, y = load_audited(name)
    X, flipped, index = add_noise(
        X, y, protocol="label-flip", fraction=FLIPS, random_state=seed, return_index=True
    )
    k = len(index)

    def hits(ranking: NDArray[np.intp], first: int) -> int:
        return int(np.isin(ranking[:first], index).sum())

    def named(found: Found) -> tuple[int, float, float]:
        right = hits(*found)
        return found.named, right / max(found.named, 1), right / k

    own, rival = own_ranking(X, flipped, seed), rival_ranking(X, flipped, seed, 1)
    clean = clean_ranking(X, y, flipped, seed)
    at_flips = {
        who: hits(ranking, k) / k
        for who, ranking in zip(_WHO, (rival.ranking, own.ranking, clean), strict=True)
    }
    return Cell(name, k, rival_named=named(rival), own_named=named(own), **at_flips)


def _line(cells: list[Cell]) -> str:
    rival, own, clean = (np.mean([getattr(c, who) for c in cells]) for who in _WHO)
    errors = np.std([c.own - c.rival for c in cells]) / np.sqrt(len(cells))
    own_named = []
    for who in ("rival_named", "own_named"):
        count, precision, recall = np.mean([getattr(c, who) for c in cells], axis=0)
        own_named.append(f"{count:.0f} ({precision:.2f}, {recall:.2f})")
    return (
        f"{cells[0].data:8} {cells[0].flips:5} flips, {len(cells):2} draws   {rival:.3f} "
        f"{own:.3f} ± {errors:.3f}   clean {clean:.3f}   named {'  '.join(own_named)}"
    )


def _work(run: ClaimRun) -> Measured:
    tasks = [
        (name, run.seed + repeat)
        for name in DATA
        for repeat in range(min(run.repeats, _LARGE_REPEATS) if name == LARGE else run.repeats)
    ]
    notes = [
        "precision and recall at the number of flips: cleanlab's, ours ± the standard error of",
        "the difference; clean: of models trained on the labels before the flips; named: rows a",
        "method would name by itself (precision, recall): cleanlab's, ours",
    ]
    try:
        load_audited(LARGE)
    except Unavailable as reason:
        tasks = [task for task in tasks if task[0] != LARGE]
        notes.append(f"{LARGE} left out: {reason}")
    done: list[Cell] = Parallel(n_jobs=run.jobs)(delayed(measure)(*task) for task in tasks)
    wins = []
    for name in dict.fromkeys(cell.data for cell in done):
        cells = [cell for cell in done if cell.data == name]
        notes.append(_line(cells))
        # Equal counts must not differ by rounding.
        wins.append(round(float(np.mean([c.own - c.rival for c in cells])), 9) >= 0)
    notes.append(f"no lower than cleanlab's on {sum(wins)} of {len(wins)} sets")
    figures = {_PRECISION: float(np.mean(wins))}
    return Measured(figures, notes, {"cells": [cell._asdict() for cell in done]})


_PRECISION = "share of sets with precision no lower than cleanlab's"

AUDIT_CLAIMS: tuple[Claim, ...] = (
    Claim(
        "audit",
        "10 % flipped labels found by find_label_errors, beside cleanlab with logistic regression",
        (Bar(_PRECISION, ">", 0.5),),
        _work,
    ),
)
