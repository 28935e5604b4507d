"""Claims on research data that the user must have: web8 and TREC07p."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import parallel_config

from bblr.comparison.methods import select_methods
from research.claims.base import Claim, ClaimRun
from research.core.targets import Bar, Measured, Unavailable

__all__ = ["RESEARCH_CLAIMS", "Parts", "score"]

_TEST_SHARE = 0.2
_ERROR = "test error, %"
_FEWER = "test errors, % fewer than tuned LR"
_ABOVE = "test error, points above the better of tuned LR and SVM"


@dataclass(frozen=True)
class Parts:
    """Training and test part."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


def available(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except FileNotFoundError as missing:
        raise Unavailable(str(missing)) from None


def web8(*, leak_free: bool = False) -> Parts:
    """Load web8, if asked without the training rows that the test part repeats (all of it)."""
    from bblr.datasets import fetch_web8

    fetch = partial(fetch_web8, download_if_missing=False, return_X_y=True)
    return available(lambda: Parts(*fetch(leak_free=leak_free), *fetch(subset="test")))


def _z_scored(X_train: Any, X_test: Any) -> tuple[Any, Any]:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test)


def trec07p(seed: int, *, in_order: bool) -> Parts:
    """Read TREC07p, dense; the last fifth, or a random one, is the test part."""
    from sklearn.model_selection import train_test_split

    from bblr.datasets import fetch_trec07p

    X, y = available(partial(fetch_trec07p, return_X_y=True))
    order = {"shuffle": False} if in_order else {"random_state": seed}
    X_train, X_test, y_train, y_test = train_test_split(
        X.toarray(), y, test_size=_TEST_SHARE, **order
    )
    X_train, X_test = _z_scored(X_train, X_test)
    return Parts(X_train, y_train, X_test, y_test)


def score(run: ClaimRun, parts: Parts, models: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Fit each model on the training part and count its test errors."""
    found = {}
    for name, model in models.items():
        run.console.print(f"fitting {name} ...", highlight=False, markup=False)
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
    plateaus = {"a": float(prior.a), "b": float(prior.b)}
    penalty = float(getattr(model, "l2_", getattr(model, "l2", np.nan)))
    return {**plateaus, "l2": penalty, "gammas": [float(stage.gamma) for stage in model.path_]}


def _rivals(run: ClaimRun, parts: Parts, *names: str) -> dict[str, Any]:
    sparse = hasattr(parts.X_train, "indptr")
    return {m.name: m.build(run.seed, sparse=sparse) for m in select_methods(names)}


def _mine(run: ClaimRun) -> dict[str, Any]:
    from bblr import BBLRClassifierCV

    return {"BBLRClassifierCV": BBLRClassifierCV(random_state=run.seed)}


def _measured(
    run: ClaimRun, parts: Parts, found: dict[str, Any], figures: dict[str, float]
) -> Measured:
    notes = [
        f"{name}: {m['errors']} errors ({m['rate']:.2f} %) in {m['seconds']:.1f} s; "
        + ", ".join(f"{k} {_text(v)}" for k, v in m["chosen"].items())
        for name, m in found.items()
    ]
    sizes = {"n_train": len(parts.y_train), "n_test": len(parts.y_test)}
    return Measured(figures, notes, {"seed": run.seed, **sizes, "models": found})


def _text(value: Any) -> str:
    return " ".join(map(_text, value)) if isinstance(value, list) else f"{value:.3g}"


def _web8(run: ClaimRun) -> Measured:
    parts = web8()
    found = score(run, parts, {**_mine(run), **_rivals(run, parts, "LR")})
    return _measured(run, parts, found, {_ERROR: found["BBLRClassifierCV"]["rate"]})


def _web8_leak_free(run: ClaimRun) -> Measured:
    parts = web8(leak_free=True)
    found = score(run, parts, {**_mine(run), **_rivals(run, parts, "LR", "SVM")})
    better = min(found["LR"]["rate"], found["SVM"]["rate"])
    return _measured(run, parts, found, {_ABOVE: found["BBLRClassifierCV"]["rate"] - better})


def _web8_default(run: ClaimRun) -> Measured:
    from bblr import BBLRClassifier

    parts = web8()
    found = score(run, parts, {"BBLRClassifier": BBLRClassifier()})
    return _measured(run, parts, found, {_ERROR: found["BBLRClassifier"]["rate"]})


def _trec07p(in_order: bool) -> Callable[[ClaimRun], Measured]:
    def work(run: ClaimRun) -> Measured:
        parts = trec07p(run.seed, in_order=in_order)
        found = score(run, parts, {**_mine(run), **_rivals(run, parts, "LR")})
        share = found["BBLRClassifierCV"]["errors"] / found["LR"]["errors"]
        return _measured(run, parts, found, {_FEWER: 100.0 * (1.0 - share)})

    return work


RESEARCH_CLAIMS = (
    Claim(
        "web8",
        "BBLRClassifierCV on web8, official split (its test rows all stand in the training part)",
        (Bar(_ERROR, "<=", 0.88),),
        _web8,
    ),
    Claim(
        "web8-leak-free",
        "BBLRClassifierCV on web8 without the training rows that occur in the test part",
        (Bar(_ABOVE, "<=", 0.0),),
        _web8_leak_free,
    ),
    Claim(
        "web8-default",
        "BBLRClassifier() on web8, official split",
        (Bar(_ERROR, "<=", 1.0),),
        _web8_default,
    ),
    Claim(
        "trec07p-random",
        "BBLRClassifierCV on TREC07p, a random fifth to test",
        (Bar(_FEWER, ">=", 6.0),),
        _trec07p(in_order=False),
    ),
    Claim(
        "trec07p-delivery",
        "BBLRClassifierCV on TREC07p in the order of delivery, the last fifth to test",
        (Bar(_FEWER, ">=", 10.0),),
        _trec07p(in_order=True),
    ),
)
