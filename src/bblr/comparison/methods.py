"""The classifiers that experiments compare, by name.

Importing this module loads neither scikit-learn nor the estimators: a method holds a factory
that does so when it is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from unicodedata import normalize

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = [
    "BASELINES",
    "FILE_METHODS",
    "FOLDS",
    "METHODS",
    "NOISE",
    "OUT",
    "PROTOCOL",
    "REPEATS",
    "Factory",
    "Method",
    "find_method",
    "scaled",
    "select_file_methods",
    "select_methods",
    "tune_for",
]

# What `bblr compare` does where nothing else is said; noise is for the embedded sets alone.
REPEATS, FOLDS = 1, 5
NOISE, PROTOCOL = 0.1, "uniform-one-class"
OUT = Path("report.html")
INNER_FOLDS = 5
# 2^-10 ... 2^10 in steps of four: the range of Nguyen & Sanner's logistic fits.
STRENGTHS = tuple(4.0**power for power in range(-5, 6))
# Strongest first: a tie goes to the simpler model, as with C above. It ends above 0.01, where the
# classifier would turn to its slow search for the least training loss.
PENALTIES = tuple(4.0**power for power in range(5, -4, -1))
BASELINES = ("LR", "SVM")
# What the user's own data are tried with; the first two always take part.
FILE_METHODS = ("majority", "LR", "BBLR0", "BBLR", "HGB", "robust:HGB")
# Written before the name of another method.
ROBUST = "robust:"
# The grid of a kernel SVM on standardised features, no coarser than KernelBBLRClassifierCV's.
COSTS = tuple(2.0**power for power in range(-4, 11, 2))
WIDTHS = tuple(2.0**power for power in range(-10, 2))


class Factory(Protocol):
    """Builds an untrained classifier for dense or sparse features."""

    def __call__(self, random_state: int, *, sparse: bool = False) -> BaseEstimator:
        """Build it."""
        ...


@dataclass(frozen=True)
class Method:
    """A named way to get a classifier from training data.

    Parameters
    ----------
    name : str
        What the user types and the records hold.
    label : str
        What tables and figures show.
    description : str
        One sentence for the report.
    build : Factory
        ``build(random_state, sparse=...)`` returns an untrained scikit-learn classifier that
        chooses its own hyper-parameters from what it is fitted on, and nothing else.
    usual : bool, default=True
        Whether it takes part where no method is named.
    many : bool, default=True
        Whether it takes more than two classes.
    estimator : str, default=""
        What it builds, as one would write it; the report and the help show it.
    spoken : str, default=""
        What a sentence calls it; the label by default.
    weight : float, default=1.0
        How long a fit takes about, logistic regression being 1: progress counts by it.
    sparse : bool, default=True
        Whether it takes sparse features.
    tunes : bool, default=True
        Whether it chooses settings by what predictions for held-out rows are worth.
    """

    name: str
    label: str
    description: str
    build: Factory
    usual: bool = True
    many: bool = True
    estimator: str = ""
    spoken: str = ""
    weight: float = 1.0
    sparse: bool = True
    tunes: bool = True


def select_methods(names: Iterable[str] | None = None) -> tuple[Method, ...]:
    """Look methods up by name or label, ignoring case; the usual ones when ``names`` is None.

    Raised digits are digits: the paper writes BBLR³ for BBLR3. ``robust:`` before a name is that
    method inside :class:`bblr.RobustClassifier`.

    Raises
    ------
    ValueError
        If a name is unknown or given twice, or if there is none.
    """
    if names is None:
        return tuple(method for method in METHODS.values() if method.usual)
    known = {_plain(text): m for m in METHODS.values() for text in (m.label, m.name)}
    chosen: list[Method] = []
    for name in names:
        inner = _plain(name).removeprefix(ROBUST)
        method = known.get(inner.strip())
        if method is None:
            raise ValueError(f"unknown method {name.strip()!r}; choose from {', '.join(METHODS)}")
        if inner != _plain(name):
            method = _robust(method)
        if method.name in {each.name for each in chosen}:
            raise ValueError(f"method {method.name!r} is given twice; name each method once")
        chosen.append(method)
    if not chosen:
        raise ValueError(f"no method is named; choose from {', '.join(METHODS)}")
    return tuple(chosen)


def select_file_methods(names: Iterable[str] | None = None) -> tuple[Method, ...]:
    """Look up the methods for the user's own data; two baselines are always among them.

    Raises
    ------
    ValueError
        As :func:`select_methods` does.
    """
    usual = [name for name in FILE_METHODS if find_method(name)]
    chosen = select_methods(usual if names is None else names)
    baselines = tuple(METHODS[name] for name in usual if name in FILE_METHODS[:2])
    return (*baselines, *(method for method in chosen if method not in baselines))


def find_method(name: str) -> Method | None:
    """Look up a method of any name that a record may hold; None for one of somebody's own."""
    try:
        (found,) = select_methods([name])
    except ValueError:
        return None
    return found


def _plain(name: str) -> str:
    return " ".join(normalize("NFKC", name).casefold().split())


def scaled(classifier: Any, sparse: bool) -> Any:
    """Put a scaler before a classifier."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    # Centring a sparse matrix would fill it.
    return make_pipeline(MaxAbsScaler() if sparse else StandardScaler(), classifier)


def _scores(estimator: Any, X: Any, y: Any, scoring: str = "accuracy") -> dict[str, float]:
    """Return what to choose by and, where there are probabilities, log-loss, greater being better.

    The scorers of scikit-learn check their input so thoroughly that on small data they take
    longer than the fits they score.
    """
    import numpy as np

    from bblr.comparison.verdict.metrics import auc_values

    has_probabilities = hasattr(estimator, "predict_proba")
    found = np.asarray(getattr(estimator, "predict_proba" if has_probabilities else "predict")(X))
    column = np.searchsorted(estimator.classes_, y)
    if not has_probabilities:
        hits, losses = found == y, {}
    else:
        given = np.maximum(found[np.arange(len(y)), column], 1e-15)
        hits = np.argmax(found, axis=1) == column
        losses = {"log_loss": float(np.mean(np.log(given)))}
    if scoring == "neg_log_loss" and losses:
        value = losses["log_loss"]
    elif scoring == "balanced_accuracy":
        value = np.mean([hits[column == k].mean() for k in np.unique(column)])
    elif scoring == "roc_auc":
        scores = found if has_probabilities else estimator.decision_function(X)
        value = auc_values(column, scores).mean()
    else:  # log-loss is not to be had without probabilities
        value = np.mean(hits)
    return {"score": float(value), **losses}


def _best(results: Mapping[str, Any]) -> int:
    """Index of the best cross-validated score; log-loss, where there is one, breaks ties."""
    import numpy as np

    score = np.round(results["mean_test_score"], 12)
    if "mean_test_log_loss" not in results:
        return int(np.argmax(score))
    return int(np.lexsort((-results["mean_test_log_loss"], -score))[0])


def tune_for(estimator: Any, scoring: str) -> Any:
    """Let an untrained method choose its settings by another score than accuracy.

    Parameters
    ----------
    estimator : estimator
        What a method has built; it is changed and returned.
    scoring : {"accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss"}
        The score; without probabilities there is no log-loss, and accuracy decides.
    """
    for name, value in estimator.get_params().items():
        # Boosting has a parameter of this name too, for when to stop.
        if name.rpartition("__")[2] == "scoring" and value in ("accuracy", _scores):
            new = partial(_scores, scoring=scoring) if value is _scores else scoring
            estimator.set_params(**{name: new})
    return estimator


def _tuned(classifier: Any, grid: Mapping[str, Iterable[float]], seed: int, sparse: bool) -> Any:
    """Wrap a classifier so that fitting it first chooses from ``grid`` by cross-validation."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    step = type(classifier).__name__.lower()
    return GridSearchCV(
        scaled(classifier, sparse),
        {f"{step}__{name}": list(values) for name, values in grid.items()},
        scoring=_scores,
        refit=_best,
        cv=StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed),
        error_score="raise",
    )


def _logistic(random_state: int, *, sparse: bool = False) -> Any:
    from sklearn.linear_model import LogisticRegression

    return _tuned(LogisticRegression(max_iter=1000), {"C": STRENGTHS}, random_state, sparse)


def _svm(random_state: int, *, sparse: bool = False) -> Any:
    from sklearn.svm import LinearSVC

    # dual="auto" solves the primal wherever rows outnumber columns.
    classifier = LinearSVC(dual="auto", max_iter=10_000, random_state=random_state)
    return _tuned(classifier, {"C": STRENGTHS}, random_state, sparse)


def _ours(estimator: str, **options: Any) -> Factory:
    """Build one of this library's classifiers behind a scaler."""

    def build(random_state: int, *, sparse: bool = False) -> Any:
        import bblr

        seed = {} if estimator == "SLAClassifier" else {"random_state": random_state}
        return scaled(getattr(bblr, estimator)(**seed, **options), sparse)

    return build


def _majority(random_state: int, *, sparse: bool = False) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="prior")


def _boosting(random_state: int, *, sparse: bool = False) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=random_state)


def _robust(inner: Method) -> Method:
    """Put a method inside RobustClassifier."""

    def build(random_state: int, *, sparse: bool = False) -> Any:
        from bblr import RobustClassifier

        found = inner.build(random_state, sparse=sparse)
        return RobustClassifier(found, random_state=random_state)

    return replace(
        inner,
        name=f"{ROBUST}{inner.name}",
        label=f"{ROBUST}{inner.label}",
        description=f"RobustClassifier around {inner.label}.",
        build=build,
        estimator=f"RobustClassifier({inner.estimator})",
        spoken=f"RobustClassifier around {inner.spoken or inner.label}",
        weight=7 * inner.weight,
    )


def _fixed_prior(prior: str) -> Factory:
    def build(random_state: int, *, sparse: bool = False) -> Any:
        from bblr import BBLRClassifier

        # The paper bounds what a row costs, not how far it reaches.
        classifier = BBLRClassifier(prior=prior, leverage=None, random_state=random_state)
        return _tuned(classifier, {"l2": PENALTIES}, random_state, sparse)

    return build


def _svc(random_state: int, *, sparse: bool = False) -> Any:
    from sklearn.svm import SVC

    classifier = SVC(cache_size=500, random_state=random_state)
    return _tuned(classifier, {"C": COSTS, "gamma": WIDTHS}, random_state, sparse)


_ENTRIES: tuple[tuple[str, str, str, Factory], ...] = (
    ("LR", "LogisticRegression(C=...)",
     "Logistic regression with an L2 penalty, its strength chosen by cross-validation.",
     _logistic),
    ("SVM", "LinearSVC(C=...)",
     "Linear support vector machine (squared hinge), C chosen by cross-validation.", _svm),
    ("SLA", "SLAClassifier()",
     "Nguyen and Sanner's smooth approximation of the zero-one loss by a sigmoid.",
     _ours("SLAClassifier")),
    ("BBLR1", "BBLRClassifier(prior='weak', l2=..., leverage=None)",
     "Beta-Bernoulli loss with a weak prior; the L2 penalty chosen by cross-validation.",
     _fixed_prior("weak")),
    ("BBLR2", "BBLRClassifier(prior='empirical', l2=..., leverage=None)",
     "Beta-Bernoulli loss with the empirical prior; the L2 penalty by cross-validation.",
     _fixed_prior("empirical")),
    ("BBLR3", "BBLRClassifierCV(prior='empirical')",
     "The empirical prior with schedule and penalty chosen by cross-validation (SLAM).",
     _ours("BBLRClassifierCV", prior="empirical")),
    ("BBLR4", "BBLRClassifierCV(prior='learned')",
     "Prior and sharpness learned from the data; schedule and penalty by cross-validation.",
     _ours("BBLRClassifierCV", prior="learned")),
    ("BBLR", "BBLRClassifierCV()",
     "Plateaus and penalty by cross-validation, then a link fitted for the probabilities.",
     _ours("BBLRClassifierCV")),
    ("BBLR0", "BBLRClassifier()",
     "The default without tuning: one fit, nothing chosen by cross-validation.",
     _ours("BBLRClassifier")),
    ("SVC", "SVC(C=..., gamma=...)",
     "Support vector machine with a Gaussian kernel, C and width chosen by cross-validation.",
     _svc),
    ("KBBLR", "KernelBBLRClassifierCV()",
     "Kernel BBLR with a Gaussian kernel; width, penalty and plateaus by cross-validation.",
     _ours("KernelBBLRClassifierCV")),
    ("KBBLR-B", "KernelBBLRClassifierCV(sparsity='backward')",
     "Kernel BBLR with few vectors by backward elimination, their number by cross-validation.",
     _ours("KernelBBLRClassifierCV", sparsity="backward")),
    ("KBBLR-GL", "KernelBBLRClassifierCV(sparsity='gauss-laplace')",
     "Kernel BBLR with the paper's Gauss-Laplace mixture prior on the weights.",
     _ours("KernelBBLRClassifierCV", sparsity="gauss-laplace")),
    ("HGB", "HistGradientBoostingClassifier()",
     "Histogram gradient boosting of scikit-learn, without tuning.", _boosting),
    ("majority", "DummyClassifier(strategy='prior')",
     "Always predicts the most frequent class, with the class frequencies as probabilities.",
     _majority),
)  # fmt: skip
_LABELS = {
    "SVC": "SVM (RBF)", "KBBLR-B": "Sparse KBBLR", "KBBLR-GL": "Sparse KBBLR (Gauss-Laplace)",
}  # fmt: skip
_SPOKEN = {
    "LR": "logistic regression", "SVM": "the linear SVM", "HGB": "gradient boosting",
    "majority": "the majority class",
}  # fmt: skip
# On 3,000 rows of 12 features.
_WEIGHTS = {
    "majority": 0.01, "SLA": 0.3, "BBLR0": 0.05, "BBLR": 0.3, "BBLR3": 0.3, "HGB": 0.8,
    "SVC": 100.0, "KBBLR": 100.0, "KBBLR-B": 100.0, "KBBLR-GL": 100.0,
}  # fmt: skip
# Others take part only where they are named; SLA takes two classes.
_USUAL = ("LR", "SVM", "SLA", "BBLR1", "BBLR2", "BBLR3", "BBLR4", "BBLR", "BBLR0")
_FIXED = ("SLA", "BBLR0", "HGB", "majority")
METHODS: dict[str, Method] = {
    name: Method(
        name, _LABELS.get(name, name), text, build, usual=name in _USUAL, many=name != "SLA",
        estimator=estimator, spoken=_SPOKEN.get(name, ""), weight=_WEIGHTS.get(name, 1.0),
        sparse=name != "HGB", tunes=name not in _FIXED,
    )
    for name, estimator, text, build in _ENTRIES
}  # fmt: skip
