"""Methods that are judged by their training loss: the zero-one loss on all rows of a data set."""

from __future__ import annotations

from typing import Any

import numpy as np

from bblr.comparison.methods import STRENGTHS, Factory, Method, scaled

__all__ = ["TRAINERS"]


def _least(classifiers: Any, X: Any, y: Any) -> Any:
    """Fit all and return the one with the fewest strict training errors."""
    sign = np.where(y == 1, 1.0, -1.0)
    fitted = [classifier.fit(X, y) for classifier in classifiers]
    losses = [np.sum(sign * model.decision_function(X) <= 0) for model in fitted]
    return fitted[int(np.argmin(losses))]


class _BestOverStrengths:
    """The classifier with the least training loss over C, as in Nguyen and Sanner's table."""

    def __init__(self, build: Any) -> None:
        self.build = build

    def fit(self, X: Any, y: Any) -> _BestOverStrengths:
        sparse = hasattr(X, "indptr")
        models = [scaled(self.build(C), sparse) for C in STRENGTHS]
        self.model_ = _least(models, X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def decision_function(self, X: Any) -> Any:
        return self.model_.decision_function(X)


def _logistic(random_state: int, *, sparse: bool = False) -> Any:
    from sklearn.linear_model import LogisticRegression

    return _BestOverStrengths(lambda C: LogisticRegression(C=C, max_iter=1000))


def _svm(random_state: int, *, sparse: bool = False) -> Any:
    from sklearn.svm import LinearSVC

    return _BestOverStrengths(
        lambda C: LinearSVC(C=C, dual="auto", max_iter=10_000, random_state=random_state)
    )


def _zero_one(solver: str, steps: int | None = None) -> Factory:
    def build(random_state: int, *, sparse: bool = False) -> Any:
        from bblr import ZeroOneClassifier

        # Ended by steps, not by seconds: the loss is then the same on any machine.
        return ZeroOneClassifier(
            solver, time_limit=None, max_steps=steps, random_state=random_state
        )

    return build


def _bblr(prior: str) -> Factory:
    def build(random_state: int, *, sparse: bool = False) -> Any:
        from bblr import BBLRClassifier

        # So weak a penalty asks for the least training loss.
        classifier = BBLRClassifier(prior=prior, l2=1e-3, random_state=random_state)
        return scaled(classifier, sparse)

    return build


_ENTRIES = (
    Method("LR-train", "LR", "Logistic regression, the least training loss over C.", _logistic),
    Method("SVM-train", "SVM", "Linear SVM, the least training loss over C.", _svm),
    Method("SLA-train", "SLA", "The sigmoid loss annealed.", _zero_one("sla")),
    Method("CSA", "CSA", "Points near the start, then swaps.", _zero_one("csa")),
    Method("PCS", "PCS", "Subsets of points in order.", _zero_one("pcs", 15_000)),
    Method("PCS-short", "PCS", "Subsets of points in order, few.", _zero_one("pcs", 300)),
    Method("BnB", "BnB", "Branch and bound over labels.", _zero_one("bnb", 60_000)),
    Method("BnB-short", "BnB", "Branch and bound, few nodes.", _zero_one("bnb", 1_500)),
    Method("search-train", "search", "Our walk over vertices.", _zero_one("search")),
    Method("BBLR1-train", "BBLR1", "Weak prior, least training loss.", _bblr("weak")),
    Method("BBLR2-train", "BBLR2", "Empirical prior, least training loss.", _bblr("empirical")),
)
TRAINERS: dict[str, Method] = {method.name: method for method in _ENTRIES}
