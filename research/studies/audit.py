"""Audits of labels against cleanlab: wrong labels put in, and how many of them are found."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import BBLRClassifier, find_label_errors
from bblr.audit.held_out import Labelled, held_out_scores, make_folds
from bblr.comparison.cells import Condition
from bblr.comparison.records import Record
from bblr.comparison.tasks import Task
from bblr.datasets import UCI_NAMES, fetch_trec07p, load_uci
from bblr.linear.evidence import log_odds_against
from research.core.cases import Unavailable, available
from research.panorama import tables
from research.panorama.cells import spoilt

__all__ = [
    "ESTIMATORS", "FLIPS", "Audit", "baseline_ranking", "cleanlab", "load_audited", "own_ranking",
]  # fmt: skip

FLIPS = 0.1
_FLIPPED = Condition(FLIPS, "label-flip", "training")
Codes = NDArray[np.intp]
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "default": lambda: BBLRClassifier(),
    "sharper": lambda: BBLRClassifier(gamma_max=2),
    "robust": lambda: BBLRClassifier("robust"),
    "mild": lambda: BBLRClassifier("mild"),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
}


class Found(NamedTuple):
    """A ranking of all rows, and how many of the first the method itself would name."""

    ranking: Codes
    named: int


def load_audited(name: str) -> tuple[Any, Codes]:
    """Return the rows and class numbers of an embedded set, digits, TREC07p or a table."""
    if name == "trec07p":
        X, y = available(partial(fetch_trec07p, return_X_y=True))
    elif name in UCI_NAMES:
        X, y = load_uci(name, return_X_y=True)
    else:
        X, y = load_digits(return_X_y=True) if name == "digits" else tables.load(name)
    return X, np.unique(y, return_inverse=True)[1]


def own_ranking(X: Any, y: Codes, seed: int) -> Found:
    """Audit with our classifier as it comes, chosen on other data than these."""
    found = find_label_errors(BBLRClassifier(), X, y, random_state=seed)
    return Found(found.ranking, found.n_errors)


def cleanlab() -> tuple[Any, Any]:
    """Return its filter and its scores, or skip the case where it is not installed."""
    try:
        from cleanlab.filter import find_label_issues
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        raise Unavailable("cleanlab is not installed; run: pip install 'bblr[bench]'") from None
    return find_label_issues, get_label_quality_scores


def baseline_ranking(X: Any, y: Codes, seed: int, n_jobs: int | None = None) -> Found:
    """Audit with cleanlab: logistic regression on standardised features, out of fold.

    The rows it filters come first, in its order; its label quality orders the others. By default
    it starts processes of its own, which it cannot within those of joblib.
    """
    find_label_issues, get_label_quality_scores = cleanlab()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not converge in 100 iterations says so
        model = make_pipeline(StandardScaler(with_mean=not issparse(X)), LogisticRegression())
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        probability = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
        named = find_label_issues(
            y, probability, return_indices_ranked_by="self_confidence", n_jobs=n_jobs
        )
        order = np.argsort(get_label_quality_scores(y, probability), kind="stable")
    return Found(np.concatenate([named, order[~np.isin(order, named)]]), len(named))


def _clean_ranking(X: Any, y: Codes, given: Codes, seed: int) -> Any:
    """Rank labels by models that were trained on the labels as they were.

    No audit can expect more of such models: what it misses lies where classes overlap.
    """
    data = Labelled(X, y, np.unique(y), y, None)
    raw = held_out_scores(BBLRClassifier(), data, make_folds(5, data, seed), None)
    return np.argsort(-log_odds_against(raw, given, 1.0), kind="stable")


@dataclass(frozen=True, kw_only=True)
class Audit(Task):
    """One data set with one draw of wrong labels; the method is one of `ESTIMATORS`.

    Precisions are at the number of wrong labels, where recall is the same figure; of the rows
    that a method names by itself, how many and which share of them, and of the wrong ones.
    """

    condition: Condition = _FLIPPED

    def work(self) -> Record:
        """Let both look for the wrong labels."""
        X, y = load_audited(self.data)
        given = spoilt(self.condition, X, y, self.seed)[1]
        wrong = given != y
        k = int(wrong.sum())
        own = find_label_errors(ESTIMATORS[self.method](), X, given, random_state=self.seed)
        baseline = baseline_ranking(X, given, self.seed, 1)
        flagged = np.isin(np.arange(len(y)), own.indices), own.wrong_plateau
        record: Record = {
            "flips": k,
            "flipped": k / len(y),
            "estimated": float(own.probability.mean()),
            "flagged": max(float(flags.mean()) for flags in flagged),
            "worst": max(
                float((np.bincount(given, flags) / np.bincount(given)).max()) for flags in flagged
            ),
        }
        if not k:
            return record
        clean = _clean_ranking(X, y, given, self.seed)
        rankings = {"own": own.ranking, "baseline": baseline.ranking, "clean": clean}
        record |= {who: float(wrong[ranking[:k]].mean()) for who, ranking in rankings.items()}
        for who, found in (("own", Found(own.ranking, own.n_errors)), ("baseline", baseline)):
            right = int(wrong[found.ranking[: found.named]].sum())
            record |= {
                f"{who} named": found.named,
                f"{who} named precision": right / max(found.named, 1),
                f"{who} named recall": right / k,
            }
        return record
