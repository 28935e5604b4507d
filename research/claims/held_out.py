"""Claims on research data with a test part of their own: web8 and TREC07p."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import parallel_config

from bblr.comparison.methods import select_methods
from research.claims import claim
from research.core.cases import Measured, Run, available
from research.core.thresholds import Threshold

_TEST_SHARE = 0.2
_ERROR = "test error, %"
_FEWER = "test errors, % fewer than tuned LR"
_ABOVE = "test error, points above the better of tuned LR and SVM"
_OURS = "BBLRClassifierCV"


@dataclass(frozen=True)
class Parts:
    """Training and test part."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


def web8(*, leak_free: bool = False) -> Parts:
    """Load web8, if asked without the training rows that the test part repeats (all of it)."""
    from bblr.datasets import fetch_web8

    fetch = partial(fetch_web8, download_if_missing=False, return_X_y=True)
    return available(lambda: Parts(*fetch(leak_free=leak_free), *fetch(subset="test")))


def trec07p(seed: int, *, in_order: bool) -> Parts:
    """Read TREC07p, dense and z-scored; the last fifth, or a random one, is the test part."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    from bblr.datasets import fetch_trec07p

    X, y = available(fetch_trec07p, return_X_y=True)
    order = {"shuffle": False} if in_order else {"random_state": seed}
    X_train, X_test, y_train, y_test = train_test_split(
        X.toarray(), y, test_size=_TEST_SHARE, **order
    )
    scaler = StandardScaler().fit(X_train)
    return Parts(scaler.transform(X_train), y_train, scaler.transform(X_test), y_test)


def own(run: Run) -> dict[str, Any]:
    """Return our classifier, as it comes."""
    from bblr import BBLRClassifierCV

    return {_OURS: BBLRClassifierCV(random_state=run.seed)}


def score(run: Run, parts: Parts, models: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Fit each model on the training part and count its test errors."""
    found = {}
    for name, model in models.items():
        run.tell(f"fitting {name} ...")
        started = time.perf_counter()
        # Estimators with n_jobs=None take the number of jobs from here.
        with parallel_config(n_jobs=run.jobs):
            model.fit(parts.X_train, parts.y_train)
        errors = int(np.sum(model.predict(parts.X_test) != parts.y_test))
        found[name] = {
            "errors": errors,
            "rate": 100.0 * errors / len(parts.y_test),
            "seconds": round(time.perf_counter() - started, 2),
            "chosen": _chosen(model),
        }
    return found


def _chosen(model: Any) -> dict[str, Any]:
    """Return what a model chose by cross-validation."""
    if hasattr(model, "best_params_"):
        return {name.rpartition("__")[2]: value for name, value in model.best_params_.items()}
    prior = model.prior_
    penalty = float(getattr(model, "l2_", getattr(model, "l2", np.nan)))
    gammas = [float(stage.gamma) for stage in model.path_]
    return {"a": float(prior.a), "b": float(prior.b), "l2": penalty, "gammas": gammas}


def _text(value: Any) -> str:
    return " ".join(map(_text, value)) if isinstance(value, list) else f"{value:.3g}"


def _held_out(
    figure: str,
    load: Callable[[Run], Parts],
    baselines: tuple[str, ...],
    measure: Callable[[dict[str, Any]], float],
    models: Callable[[Run], dict[str, Any]] | None = None,
) -> Callable[[Run], Measured]:
    """Make a claim of the models' test errors beside those of tuned baselines."""

    def work(run: Run) -> Measured:
        parts = load(run)
        sparse = hasattr(parts.X_train, "indptr")
        theirs = select_methods(baselines) if baselines else ()
        built = {m.name: m.build(run.seed, sparse=sparse) for m in theirs}
        found = score(run, parts, {**(models or own)(run), **built})
        notes = [
            f"{name}: {m['errors']} errors ({m['rate']:.2f} %) in {m['seconds']:.1f} s; "
            + ", ".join(f"{k} {_text(v)}" for k, v in m["chosen"].items())
            for name, m in found.items()
        ]
        sizes = {"n_train": len(parts.y_train), "n_test": len(parts.y_test)}
        details = {"seed": run.seed, **sizes, "models": found}
        return Measured({figure: measure(found)}, notes, details)

    return work


def _default(run: Run) -> dict[str, Any]:
    from bblr import BBLRClassifier

    return {_OURS: BBLRClassifier()}


def _fewer(found: dict[str, Any]) -> float:
    return 100.0 * (1.0 - found[_OURS]["errors"] / found["LR"]["errors"])


claim(
    "web8",
    "BBLRClassifierCV on web8, official split (its test rows all stand in the training part)",
    Threshold(_ERROR, "<=", 0.88),
)(_held_out(_ERROR, lambda run: web8(), ("LR",), lambda found: found[_OURS]["rate"]))
claim(
    "web8-leak-free",
    "BBLRClassifierCV on web8 without the training rows that occur in the test part",
    Threshold(_ABOVE, "<=", 0.0),
)(
    _held_out(
        _ABOVE,
        lambda run: web8(leak_free=True),
        ("LR", "SVM"),
        lambda found: found[_OURS]["rate"] - min(found[name]["rate"] for name in ("LR", "SVM")),
    )
)
claim("web8-default", "BBLRClassifier() on web8, official split", Threshold(_ERROR, "<=", 1.0))(
    _held_out(_ERROR, lambda run: web8(), (), lambda found: found[_OURS]["rate"], _default)
)
claim(
    "trec07p-random",
    "BBLRClassifierCV on TREC07p, a random fifth to test",
    Threshold(_FEWER, ">=", 6.0),
)(_held_out(_FEWER, lambda run: trec07p(run.seed, in_order=False), ("LR",), _fewer))
claim(
    "trec07p-delivery",
    "BBLRClassifierCV on TREC07p in the order of delivery, the last fifth to test",
    Threshold(_FEWER, ">=", 10.0),
)(_held_out(_FEWER, lambda run: trec07p(run.seed, in_order=True), ("LR",), _fewer))
