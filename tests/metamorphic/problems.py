"""Problems to be put in two ways: an estimator with any parameters, and rows, from one seed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

import bblr
from bblr import Plateaus
from bblr.training.probabilities import SCORINGS

Floats = NDArray[np.float64]

LINEAR = ("BBLRClassifier", "BBLRClassifierCV", "GeneralizedLinearClassifier", "SLAClassifier")
KERNELS = ("KernelBBLRClassifier", "KernelBBLRClassifierCV")
# How often each is drawn: what is slow, less.
SHARES = {
    "BBLRClassifier": 16, "BBLRClassifierCV": 4, "GeneralizedLinearClassifier": 6,
    "SLAClassifier": 1, "KernelBBLRClassifier": 5, "KernelBBLRClassifierCV": 0.5,
    "ZeroOneClassifier": 1, "RobustClassifier": 0.5,
}  # fmt: skip
_TWO_ONLY = ("SLAClassifier", "ZeroOneClassifier", "GeneralizedLinearClassifier")
# Why a zero-one search ends.
_SEARCHED = ("no errors left", "line searches spent")
_LOSSES = ("logistic", "sigmoid", "hinge", "ramp")


@dataclass(frozen=True, eq=False)
class Problem:
    """An estimator by name and parameters, and the data to fit; labels are class numbers."""

    name: str
    params: dict[str, Any]
    X: Any
    y: NDArray[Any]
    weight: Floats | None
    folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]] | None
    # Rows to predict, in the form of X.
    asked: Any
    classes: NDArray[Any] = field(default_factory=lambda: np.arange(0))

    def with_(self, **changes: Any) -> Problem:
        """Return the problem with some of it put differently."""
        return replace(self, **changes)

    @cached_property
    def model(self) -> Any:
        """The fitted estimator."""
        params = dict(self.params)
        if self.folds is not None:
            params["cv"] = self.folds
        if self.name == "RobustClassifier":
            inner = bblr.BBLRClassifier(**params.pop("inner"))
            model = bblr.RobustClassifier(inner, **params)
        else:
            model = _named(self.name)(**params)
        return model.fit(self.X, self.y, sample_weight=self.weight)

    @property
    def scores(self) -> Floats:
        """The decision values of the rows to predict."""
        return np.asarray(self.model.decision_function(self.asked))

    @property
    def table(self) -> Floats | None:
        """Their probabilities, where the estimator has some."""
        if not hasattr(self.model, "predict_proba"):
            return None
        return np.asarray(self.model.predict_proba(self.asked))

    @property
    def steps(self) -> int:
        """The steps of the final fit: each descent starts where the last one ended.

        A search of lines counts lines, and does not multiply rounding errors.
        """
        path = getattr(self.model, "path_", ())
        steps = sum(stage.n_iter for stage in path if stage.reason not in _SEARCHED)
        if self.name == "KernelBBLRClassifier" and self.params["sparsity"] is not None:
            # Vectors are dropped from a fit with all, under the mixture's own kind of penalty.
            dense = {**self.params, "sparsity": None}
            if self.params["sparsity"] == "gauss-laplace":
                dense["penalty"] = "ridge"
            steps += self.with_(params=dense).steps
        return steps

    @property
    def estimates_many(self) -> bool:
        """Whether penalty or plateaus of many classes are estimated, in up to 200 steps."""
        estimated = "auto" in (self.params.get("prior"), self.params.get("l2"))
        estimated |= self.name in ("BBLRClassifierCV", "RobustClassifier")
        return estimated and len(self.classes) > 2

    @property
    def walks_by_coordinate(self) -> bool:
        """Whether a search takes the parameters in turn, so that order and sign have a say."""
        if self.name in ("SLAClassifier", "ZeroOneClassifier"):
            return True
        params = self.params
        if params.get("solver") in ("sla", "search"):
            return True
        little = params.get("l2", "auto") != "auto" and params["l2"] < 1e-2
        return self.name == "BBLRClassifier" and little and params["solver"] == "auto"

    @property
    def finds_folds(self) -> bool:
        """Whether folds are drawn by row."""
        inner = self.name.endswith("CV") and self.folds is None
        held_out = self.params.get("sparsity") is not None and self.name in KERNELS
        return inner or held_out or self.name == "RobustClassifier"


def _named(name: str) -> Any:
    room = import_module("bblr.dask") if name.startswith("Dask") else bblr
    return getattr(room, name)


def draw(seed: int, names: tuple[str, ...] = ()) -> Problem:
    """Return the problem of a seed."""
    rng = np.random.default_rng(seed)
    shares = {name: SHARES[name] for name in names or SHARES}
    name = str(rng.choice(list(shares), p=np.array(list(shares.values())) / sum(shares.values())))
    two = name in _TWO_ONLY
    small = name.startswith("ZeroOne")
    classes = 2 if two else int(rng.choice([2, 2, 3, 10]))
    n = int(rng.integers(20, 30) if small else rng.integers(30, 120)) + 8 * classes
    X, y = _rows(rng, n + 20, classes)
    weight = _weights(rng, n)
    params = {key: _one_of(rng, ways) for key, ways in _grid(name, classes, rng).items()}
    folds = None
    if name.endswith("CV") and rng.random() < 0.6:
        seed_of_folds = int(rng.integers(2**31))
        count = int(rng.integers(2, 4))
        splitter = StratifiedKFold(count, shuffle=True, random_state=seed_of_folds)
        folds = [(a, b) for a, b in splitter.split(X[:n], y[:n])]
    elif name.endswith("CV"):
        params["cv"] = 2
    if params.get("loss") in ("logistic", "hinge"):
        params["gammas"] = None  # nothing to sharpen
    if params.get("sparsity") == "backward" and params["kernel"] not in ("rbf", "laplacian"):
        # Of vectors that span the same functions any may go.
        params["kernel"] = "rbf"
    return Problem(name, params, X[:n], y[:n], weight, folds, X, np.arange(classes))


def _rows(rng: np.random.Generator, n: int, classes: int) -> tuple[Floats, NDArray[np.intp]]:
    """Return rows of numbers that float32 holds, with outliers and wrong labels, and labels."""
    d = int(rng.integers(1, 8))
    shares = rng.dirichlet(np.full(classes, rng.choice([2.0, 20.0])))
    y = rng.choice(classes, n, p=shares)
    y[: 4 * classes] = np.arange(4 * classes) % classes
    y[-20:] = rng.integers(0, classes, 20)
    centres = rng.normal(size=(classes, d)) * rng.choice([0.5, 1.5, 4.0])
    X = centres[y] + rng.normal(size=(n, d))
    kind = rng.choice(["plain", "outliers", "whole", "rare", "far", "heavy"])
    if kind == "outliers":
        X[rng.random(n) < 0.08] *= rng.choice([5.0, 50.0])
    elif kind == "whole":
        X = np.round(2.0 * X) / 2.0
    elif kind == "rare":
        X *= rng.random((n, d)) < 0.3
    elif kind == "far":
        X += 10.0 * rng.normal(size=d)
    elif kind == "heavy":
        X *= np.exp(rng.normal(size=(n, 1)))
    flipped = rng.random(n) < rng.choice([0.0, 0.1, 0.25])
    flipped[: 4 * classes] = False
    y = np.where(flipped, rng.integers(0, classes, n), y)
    return X.astype(np.float32).astype(np.float64), y


def _weights(rng: np.random.Generator, n: int) -> Floats | None:
    kind = rng.choice(["none", "none", "counts", "shares"])
    if kind == "none":
        return None
    return rng.integers(1, 4, n).astype(float) if kind == "counts" else rng.uniform(0.1, 2.0, n)


def _one_of(rng: np.random.Generator, ways: tuple[Any, ...]) -> Any:
    """Return the first half of the time, and another otherwise."""
    return ways[0] if rng.random() < 0.5 else ways[int(rng.integers(len(ways)))]


def _plateaus(rng: np.random.Generator, classes: int) -> Plateaus:
    low = rng.uniform(0.0, 0.6, classes) / classes
    return Plateaus(tuple(np.round(low, 6)))


def _grid(name: str, classes: int, rng: np.random.Generator) -> dict[str, tuple[Any, ...]]:
    """Return for every parameter that makes another fit its ways, the default first."""
    prior = ("robust", "mild", "weak", "empirical", "learned", _plateaus(rng, classes))
    factor = {k: float(rng.choice([0.5, 1.0, 3.0])) for k in range(classes)}
    common: dict[str, tuple[Any, ...]] = {
        "tol": (1e-4, 1e-2, 1e-6, 1e-9), "max_iter": (100, 1, 5, 1000),
        "fit_intercept": (True, False), "class_weight": (None, "balanced", factor),
    }  # fmt: skip
    gammas = {"gamma_min": (1.0, 0.5), "gamma_growth": (2.0, 4.0)}
    leverage = ("auto", None, 1.0, 3.0, 10.0)
    strength = float(np.round(10 ** rng.uniform(-1.5, 2), 4))
    kernels = {
        "kernel": ("rbf", "poly", "linear", "laplacian", "cosine"), "degree": (3, 2),
        "coef0": (0.0, 1.0), "penalty": ("rkhs", "ridge"), "max_centers": ("auto", None, 12),
        "sparsity": (None, "backward", "gauss-laplace"), "max_vectors": (None, 3),
        "random_state": (0,), "cache_size": (1000, 0),
    }  # fmt: skip
    # Searches of many classes take seconds.
    weak, search = (1e-3, ("sla", "search")) if classes < 10 else (0.1, ())
    if name == "BBLRClassifier":
        return {
            "prior": ("auto", *prior), "l2": ("auto", "auto", strength, 1.0, strength, weak),
            **gammas, **common,
            "gamma_max": ("auto", 1.0, 4.0, 30.0), "leverage": leverage,
            "noise_free_proba": (False, True), "random_state": (0,),
            "solver": ("auto", "fisher", "lbfgs", "auto", "auto", "fisher", "lbfgs", *search),
        }  # fmt: skip
    if name == "BBLRClassifierCV":
        return {
            "prior": ("tuned", *prior), "l2s": ("auto", (1.0, 0.1), (strength,)), **common,
            "gamma_limit": (8.0, 1.0, 4.0), "leverage": ("tuned", *leverage[1:]),
            "scoring": SCORINGS,
            "noise_free_proba": (False, True), "solver": ("auto", "fisher", "lbfgs"),
            "random_state": (0,),
        }  # fmt: skip
    if name == "GeneralizedLinearClassifier":
        return {
            "loss": _LOSSES, "penalty": (1.0, strength), "gammas": (None, (1.0, 2.0)), **common,
            "leverage": (None, 1.0, 3.0), "solver": ("auto", "fisher", "lbfgs"),
        }  # fmt: skip
    if name == "SLAClassifier":
        return {
            "gamma_min": (2.0, 1.0), "gamma_max": (200.0, 20.0), "gamma_growth": (10.0, 3.0),
            "radius": (8.0, 2.0), "spacing": (0.2, 0.5), "min_gain": (0.1, 1.0),
            "class_weight": common["class_weight"],
        }  # fmt: skip
    if name == "KernelBBLRClassifier":
        return {
            "prior": ("mild", *prior), "l2": (0.3, strength), **kernels, **gammas, **common,
            "kernel_gamma": ("scale", "auto", 0.5), "gamma_max": (1.0, 4.0),
            "laplace_share": ("validated", 0.5),
        }  # fmt: skip
    if name == "KernelBBLRClassifierCV":
        return {
            "prior": ("tuned", *prior), "l2s": ((1.0, 0.1), (strength,)), **kernels, **common,
            "kernel_gammas": ("auto", (0.3,)), "gamma_limit": (1.0, 2.0),
            "scoring": ("accuracy", "balanced_accuracy", "neg_log_loss"),
        }  # fmt: skip
    if name == "ZeroOneClassifier":
        return {
            "solver": ("mip",), "fit_intercept": (True, False), "time_limit": (2.0,),
            "class_weight": common["class_weight"], "random_state": (0,),
        }  # fmt: skip
    return {
        "inner": ({}, {"l2": 1.0, "prior": "mild"}), "n_rounds": (1, 2), "cv": (3,),
        "method": ("auto",), "random_state": (0,), "noise": ("auto", 0.0, 0.1),
    }  # fmt: skip
