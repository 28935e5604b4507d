"""Cases for the audit of labels: any classifier, any data, any folds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import parallel_backend
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    SLAClassifier,
    ZeroOneClassifier,
    find_label_errors,
)
from tests.fuzz import layouts
from tests.fuzz.cases import Case
from tests.fuzz.data import Data
from tests.fuzz.refusals import FITTED, REFUSED, Wrong, no_warnings, refusal
from tests.fuzz.strategies import AUDIT

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "find_label_errors linear": lambda: BBLRClassifier(gamma_max=2.0),
    "find_label_errors kernel": lambda: KernelBBLRClassifier(gamma_max=1.0, random_state=0),
    "find_label_errors cv": lambda: BBLRClassifierCV(
        "mild", cv=2, l2s=(1.0,), gamma_limit=1.0, random_state=0
    ),
    "find_label_errors sla": lambda: SLAClassifier(),
    "find_label_errors csa": lambda: ZeroOneClassifier("csa", max_steps=5, random_state=0),
    # Of scikit-learn: scores, probabilities with zeros among them, no weights.
    "find_label_errors logistic": lambda: LogisticRegression(max_iter=1000),
    "find_label_errors tree": lambda: DecisionTreeClassifier(max_depth=2, random_state=0),
    "find_label_errors neighbours": lambda: KNeighborsClassifier(3),
}
_OF_SKLEARN = ("logistic", "tree", "neighbours")


def run_audit(case: Case) -> str:
    """Audit, and return "fitted" or "refused"; raise Wrong where something is wrong."""
    data = Data(case)
    model = CLASSIFIERS[case.estimator]()
    given = (data.X, data.y, data.weight)
    held = [layouts.contents(part) for part in given]
    try:
        with no_warnings():
            # cv=None are the folds of scikit-learn, whose warning of rare classes is right.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            found = _audit(case, *given, model=model)
    except Exception as error:
        if _of_sklearn(case):
            return _their_refusal(error, case)
        outcome = refusal(error, (*AUDIT[1], "estimator"))
        if must_audit(case):
            raise Wrong(f"plain data were refused: {error}") from error
        return outcome
    if [layouts.contents(part) for part in given] != held:
        raise Wrong("an audit changed what it was given")
    if hasattr(model, "classes_"):
        raise Wrong("an audit fitted the estimator itself, not a copy")
    if case.wrong_data and not _of_sklearn(case):
        raise Wrong("data were audited that no fit may take")
    with no_warnings():
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        _check(found, data)
        _check_twist(found, data)
    return FITTED


def _audit(case: Case, X: Any, y: Any, weight: Any, model: Any, **more: Any) -> Any:
    settings = {"cv": 3, "random_state": 0, **dict(case.params), **more}
    return find_label_errors(model, X, y, sample_weight=weight, **settings)


def must_audit(case: Case) -> bool:
    """Whether nothing about a case gives a reason to refuse it."""
    two = case.estimator.endswith(("sla", "csa"))
    return (
        case.plain_data
        and not case.params
        and case.layout in layouts.SAME
        and case.weights != "some_zero"
        and case.n >= 8 * case.classes
        and (case.classes == 2 or not two)
    )


def _of_sklearn(case: Case) -> bool:
    return case.estimator.split()[1] in _OF_SKLEARN


def _their_refusal(error: BaseException, case: Case) -> str:
    """Return that a case was refused: what scikit-learn's own fits say is not for us to judge."""
    if not isinstance(error, ValueError | TypeError | Warning):
        raise Wrong(f"{type(error).__name__} instead of a refusal: {error}") from error
    few = case.estimator.endswith("neighbours") and case.weights != "none"
    if must_audit(case) and not few and not isinstance(error, Warning):
        raise Wrong(f"plain data were refused: {error}") from error
    return REFUSED


def _check(found: Any, data: Data) -> None:
    n = data.case.n
    y = data.y
    labels = list(y) if isinstance(y, list) else np.asarray(y, dtype=object).ravel().tolist()
    for name in ("scores", "probability"):
        values = getattr(found, name)
        if values.shape != (n,) or not np.isfinite(values).all():
            raise Wrong(f"{name} are not finite: {values[:5]}")
    if (found.probability < 0).any() or (found.probability > 1).any():
        raise Wrong(f"probabilities are none: {found.probability[:5]}")
    if not np.array_equal(np.sort(found.ranking), np.arange(n)):
        raise Wrong("the ranking does not name each row once")
    if (np.diff(found.scores[found.ranking]) > 0).any():
        raise Wrong("the ranking is not that of the scores")
    if not 0 <= found.n_errors <= n or len(found.indices) != found.n_errors:
        raise Wrong(f"n_errors is {found.n_errors} of {n}")
    suggested = found.suggested.tolist()
    if len(suggested) != n or not set(suggested) <= set(labels):
        raise Wrong(f"suggestions are no labels: {suggested[:5]}")
    if any(a == b for a, b in zip(suggested, labels, strict=True)):
        raise Wrong("the label that is there is suggested")


def _check_twist(found: Any, data: Data) -> None:
    """Audit again: the same bits from the same seed, any jobs, and the same folds in words."""
    case = data.case
    seed = dict(case.params).get("random_state", 0)
    if case.twist == "none" or not isinstance(seed, int):
        return
    given = (data.X, data.y, data.weight)
    model = CLASSIFIERS[case.estimator]()
    if case.twist == "n_jobs":
        with parallel_backend("threading", n_jobs=2):
            other = _audit(case, *given, model=model, n_jobs=2)
    elif case.twist == "given" and not case.params:
        # Folds by number and by mask are the same folds.
        rows = np.arange(case.n)
        folds = [(rows[rows % 2 != k], rows[rows % 2 == k]) for k in (0, 1)]
        masks = [(rows % 2 != k, rows % 2 == k) for k in (0, 1)]
        try:
            found = _audit(case, *given, model=model, cv=folds)
        except ValueError:  # a class may be missing in one of them
            return
        other = _audit(case, *given, model=model, cv=masks)
    else:
        other = _audit(case, *given, model=model)
    if not np.array_equal(found.scores, other.scores):
        raise Wrong("scores differ from audit to audit")
