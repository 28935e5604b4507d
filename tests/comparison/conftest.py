"""Small data and fast methods, so that whole comparisons run in a moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bblr.comparison.cells import CLEAN, Condition
from bblr.comparison.compare import Comparison
from bblr.comparison.methods import Method
from bblr.comparison.sources import Table, make_table

NOISY = Condition(0.2, "uniform-one-class", "training")


def fast_method(name: str, strength: float, calls: list[str] | None = None) -> Method:
    """A logistic regression that notes its calls; a closure, so that workers can unpickle it."""

    def build(random_state: int, *, sparse: bool = False) -> Any:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        if calls is not None:
            calls.append(name)
        classifier = LogisticRegression(C=strength, random_state=random_state)
        return make_pipeline(StandardScaler(with_mean=not sparse), classifier)

    return Method(name, name, f"Stand-in for {name}.", build)


def failing_method(name: str) -> Method:
    def build(random_state: int, *, sparse: bool = False) -> Any:
        raise RuntimeError("it never\nworks")

    return Method(name, name, "Fails.", build)


@pytest.fixture
def tiny_table() -> Table:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=60) > 0, "yes", "no")
    return make_table("tiny", X, y)


@pytest.fixture
def calls() -> list[str]:
    """Every fit that the methods of `comparison` were asked for."""
    return []


@pytest.fixture
def make_comparison(tiny_table: Table, calls: list[str]) -> Callable[..., Comparison]:
    def make(**changes: Any) -> Comparison:
        settings: dict[str, Any] = {
            "tables": (tiny_table,),
            "methods": (
                fast_method("LR", 1.0, calls),
                fast_method("SVM", 0.01, calls),
                fast_method("BBLR", 100.0, calls),
            ),
            "conditions": (CLEAN, NOISY),
            "repeats": 2,
            "folds": 3,
        }
        return Comparison(**{**settings, **changes})

    return make


@pytest.fixture
def failing() -> Method:
    return failing_method("BBLR3")


@pytest.fixture
def fast_registry(monkeypatch: pytest.MonkeyPatch) -> dict[str, Method]:
    """Put fast stand-ins behind the names LR, SVM and BBLR."""
    registry = {name: fast_method(name, 1.0 + i) for i, name in enumerate(("LR", "SVM", "BBLR"))}
    monkeypatch.setattr("bblr.comparison.methods.METHODS", registry)
    return registry


@pytest.fixture(scope="session")
def make_record() -> Callable[..., dict[str, Any]]:
    """A record of ten test rows of class 1, of which the given ones are misclassified."""

    def make(method: str, wrong: tuple[int, ...] = (), **changes: Any) -> dict[str, Any]:
        predictions = [0 if row in wrong else 1 for row in range(10)]
        record: dict[str, Any] = {
            "key": f"{method}{sorted(changes.items())}",
            "data": "tiny",
            "condition": {"noise": 0.0, "protocol": None, "place": None},
            "method": method,
            "label": method,
            "repeat": 0,
            "fold": 0,
            "folds": 5,
            "seed": 0,
            "versions": {"bblr": "0", "python": "3"},
            "warnings": [],
            "rows": list(range(10)),
            "truth": [1] * 10,
            "predictions": predictions,
            "probabilities": None if method == "SVM" else [0.3 + 0.4 * p for p in predictions],
            "errors": len(wrong),
            "log_loss": None if method == "SVM" else 0.5,
            "train_errors": 4,
            "n_train": 40,
            "n_test": 10,
            "seconds": 0.25,
        }
        return {**record, **changes}

    return make
