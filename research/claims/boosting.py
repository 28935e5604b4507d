"""The claims about LightGBM and XGBoost: log-loss without plateaus, saved models, wrong labels."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split

from bblr.comparison.cells import Condition
from bblr.comparison.records import Record
from bblr.comparison.tasks import Task
from bblr.datasets import UCI_NAMES, load_uci
from research.claims import claim
from research.core.cases import Measured, Run, Unavailable
from research.core.thresholds import Threshold
from research.panorama import tables
from research.panorama.cells import spoilt

_STEPS = "largest gap of gradients and curvatures from those of log-loss"
_WRITTEN = "{}: largest gap of raw scores from log-loss written out"
_TWO = "{}: largest gap of raw scores from its own log-loss, two classes"
_TEN = "{}: largest gap of raw scores from its own log-loss, ten classes"
_SAVED = "largest difference of probabilities after saving and loading"
LIBRARIES = ("LightGBM", "XGBoost")
# Fixed before anything was measured, from the panorama's list for choosing.
SETS = {
    "two": ("crx", "german", "mammographic", "vehicle0", "tic-tac-toe", "yeast4", "logistic-6"),
    "many": ("vehicle", "led7digit", "digits"),
}
RATIOS, FLIPS, STOPS = (
    ("0", "1", "3"),
    (0.0, 0.2, 0.4),
    {False: "100 rounds", True: "stopped early"},
)
FOLDS, PATIENCE, MOST_ROUNDS = 2, 10, 500
_RELATIVE = "{}, {}, {} % flips: error with rho = 1 over log-loss's"


def _require() -> None:
    for package in ("lightgbm", "xgboost"):
        if find_spec(package) is None:
            raise Unavailable(f"{package} is not installed; run: pip install 'bblr[{package}]'")


def trees(library: str, **settings: Any) -> Any:
    """Return the classifier of a library, on one thread."""
    if library == "LightGBM":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, verbosity=-1, **settings)
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, **settings)


def ours(library: str, rho: float, **settings: Any) -> Any:
    """Return our classifier around that of a library."""
    from bblr.lightgbm import BetaBernoulliLGBMClassifier
    from bblr.xgboost import BetaBernoulliXGBClassifier

    make: Any = (
        BetaBernoulliLGBMClassifier if library == "LightGBM" else BetaBernoulliXGBClassifier
    )
    return make(trees(library, **settings), rho=rho)


def raw_scores(model: Any, X: Any) -> Any:
    """Return the raw scores of a classifier of either library."""
    keyword = "raw_score" if type(model).__name__.startswith("LGBM") else "output_margin"
    return model.predict(X, **{keyword: True})


def log_loss_step(y: Any, scores: Any, weight: Any, several: float) -> tuple[Any, Any]:
    """Return gradient and curvature of log-loss, written out with 1 - s to full precision."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim == 1:
        up, down = expit(scores), expit(-scores)
        return weight * np.where(y > 0, -down, up), weight * up * down
    s, weight = softmax(scores, axis=1), weight[:, None]
    own = np.eye(scores.shape[1], dtype=bool)[np.asarray(y, dtype=int)]
    rest = np.where(own, 0.0, s).sum(axis=1, keepdims=True)
    gradient = np.where(own, -rest, s)
    return weight * gradient, weight * several * s * np.where(own, rest, 1.0 - s)


def problems(seed: int) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield embedded sets, without weights and with."""
    loaders: dict[str, Any] = {
        name: partial(load_uci, name, return_X_y=True) for name in UCI_NAMES
    }
    loaders["digits"] = partial(load_digits, return_X_y=True)
    for name, load in loaders.items():
        X, y = load()
        codes = np.unique(y, return_inverse=True)[1]
        weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
        yield name, X, codes, None
        yield f"{name}, weighted", X, codes, weight


def _step_gap(y: Any, weight: Any, seed: int) -> float:
    """Return how far both objectives are from log-loss, at scores of all sizes."""
    import lightgbm
    import xgboost

    from bblr import lightgbm as for_lightgbm
    from bblr import xgboost as for_xgboost

    rng, n_classes = np.random.default_rng(seed), int(y.max()) + 1
    shape = (len(y),) if n_classes == 2 else (len(y), n_classes)
    scores = rng.standard_normal(shape) * 10.0 ** rng.uniform(-3, 3, shape)
    X = rng.standard_normal((len(y), 2))
    held = np.ones(len(y)) if weight is None else np.float32(weight).astype(np.float64)
    pairs = (
        (for_lightgbm.objective, lightgbm.Dataset(X, y, weight=weight).construct(),
         n_classes / (n_classes - 1)),
        (for_xgboost.objective, xgboost.DMatrix(X, y, weight=weight), 2.0),
    )  # fmt: skip
    gap = 0.0
    for objective, data, several in pairs:
        found = objective(scores, data, rho=0.0)
        expected = log_loss_step(y, scores, held, several)
        gap = max(gap, *(float(abs(a - b).max()) for a, b in zip(found, expected, strict=True)))
    return gap


def _written_out(library: str, X: Any, y: Any, weight: Any) -> Any:
    """Return the raw scores of a library with a log-loss of textbooks as its objective."""
    from bblr.lightgbm import init_score
    from bblr.xgboost import base_score

    n_classes = int(y.max()) + 1
    several = n_classes / (n_classes - 1) if library == "LightGBM" else 2.0

    def objective(labels: Any, scores: Any, sample_weight: Any = None) -> Any:
        held = np.ones(len(labels)) if sample_weight is None else np.float64(sample_weight)
        return log_loss_step(labels, scores, held, several)

    if library == "XGBoost":
        model = trees(library, objective=objective, base_score=base_score(y, weight))
        return raw_scores(model.fit(X, y, sample_weight=weight), X)
    start, model = init_score(y, weight), trees(library, objective=objective)
    first = np.tile(start, (len(y), 1)) if n_classes > 2 else np.repeat(start, len(y))
    return raw_scores(model.fit(X, y, weight, init_score=first), X) + start


@claim(
    "boosting-log-loss",
    "LightGBM and XGBoost with our objective and no plateaus against log-loss, on embedded sets",
    Threshold(_STEPS, "<=", 1e-10),
    *(Threshold(_WRITTEN.format(library), "<=", 1e-10) for library in LIBRARIES),
    Threshold(_TWO.format(LIBRARIES[0]), "<=", 1e-10),
    # LightGBM's own loss has few digits of 1 - p where p is nearly 1, and XGBoost's is in single
    # precision throughout.
    Threshold(_TEN.format(LIBRARIES[0])),
    Threshold(_TWO.format(LIBRARIES[1])),
    Threshold(_TEN.format(LIBRARIES[1])),
)
def same_as_log_loss(run: Run) -> Measured:
    _require()
    figures: dict[str, float] = {}
    notes = []
    for name, X, y, weight in problems(run.seed):
        gaps = {_STEPS: _step_gap(y, weight, run.seed)}
        for library in LIBRARIES:
            raw = ours(library, 0.0).fit(X, y, weight).decision_function(X)
            own = raw_scores(trees(library).fit(X, y, sample_weight=weight), X)
            other = _TWO if raw.ndim == 1 else _TEN
            gaps[other.format(library)] = float(abs(raw - own).max())
            written = _written_out(library, X, y, weight)
            gaps[_WRITTEN.format(library)] = float(abs(raw - written).max())
        figures |= {figure: max(figures.get(figure, 0.0), gap) for figure, gap in gaps.items()}
        notes.append(run.tell(f"{name:18}" + "  ".join(f"{gap:.1e}" for gap in gaps.values())))
    return Measured(figures, notes)


@claim(
    "boosting-saved",
    "models of LightGBM and XGBoost with our loss, saved and loaded by their own formats",
    Threshold(_SAVED, "<=", 0.0),
)
def saved(run: Run) -> Measured:
    _require()
    import lightgbm
    import xgboost

    gap = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for _, X, y, weight in problems(run.seed):
            model = ours("LightGBM", 1.0, n_estimators=30).fit(X, y, weight)
            path = str(Path(folder) / "model.txt")
            model.estimator_.booster_.save_model(path)
            loaded = lightgbm.Booster(model_file=path).predict(X)
            gap = max(gap, _distance(loaded, model.predict_proba(X)))
            model = ours("XGBoost", 1.0, n_estimators=30).fit(X, y, weight)
            for name in ("model.json", "model.ubj"):
                path = str(Path(folder) / name)
                model.estimator_.save_model(path)
                booster = xgboost.Booster(model_file=path)
                gap = max(
                    gap, _distance(booster.predict(xgboost.DMatrix(X)), model.predict_proba(X))
                )
    return Measured({_SAVED: gap})


def _distance(found: Any, proba: Any) -> float:
    """Return the largest difference; of two classes a model gives the probability of one."""
    return float(abs(found - (proba if found.ndim > 1 else proba[:, 1])).max())


@dataclass(frozen=True, kw_only=True)
class Boosted(Task):
    """A library and a loss (the method: its rho) on one fold of a set with flipped labels."""

    library: str
    flips: float
    fold: int
    stops: bool

    def work(self) -> Record:
        """Fit and count errors."""
        X, y = tables.load(self.data)
        folds = StratifiedKFold(5, shuffle=True, random_state=self.seed)
        train, test = list(folds.split(X, y))[self.fold]
        flipped = Condition(self.flips, "label-flip", "training")
        given = spoilt(flipped, X[train], y[train], self.seed + self.fold)[1]
        model, fitted = self._fitted(X[train], given)
        proba = model.predict_proba(X[test])
        return {
            "error": 100.0 * float(np.mean(model.predict(X[test]) != y[test])),
            "log-loss": float(log_loss(y[test], proba, labels=model.classes_)),
            "rounds": fitted,
        }

    def _fitted(self, X: Any, y: Any) -> tuple[Any, int]:
        """Return the classifier, and of how many rounds."""
        rho = float(self.method)
        if not self.stops:
            return ours(self.library, rho).fit(X, y), 100
        X, held, y, labels = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
        watch: dict[str, Any] = {"eval_set": [(held, labels)]}
        if self.library == "LightGBM":
            from lightgbm import early_stopping

            model = ours(self.library, rho, n_estimators=MOST_ROUNDS)
            model.fit(X, y, **watch, callbacks=[early_stopping(PATIENCE, verbose=False)])
            return model, model.estimator_.best_iteration_
        settings = {"n_estimators": MOST_ROUNDS, "early_stopping_rounds": PATIENCE}
        model = ours(self.library, rho, **settings).fit(X, y, **watch)
        return model, model.estimator_.best_iteration + 1


@claim(
    "boosting-noise",
    "LightGBM and XGBoost with flipped labels: log-loss and our loss, 100 rounds and with early "
    "stopping",
    *(
        Threshold(_RELATIVE.format(library, stop, round(100 * flips)))
        for library in LIBRARIES
        for stop in STOPS.values()
        for flips in FLIPS
    ),
)
def noise(run: Run) -> Measured:
    _require()
    tasks = [
        Boosted(data=name, method=rho, seed=run.seed, library=library, flips=flips, fold=fold,
                stops=stops)
        for name in (*SETS["two"], *SETS["many"])
        for fold in range(FOLDS)
        for flips in FLIPS
        for library in LIBRARIES
        for stops in STOPS
        for rho in RATIOS
    ]  # fmt: skip
    found: Any = run.frame(tasks)
    by = ["library", "stops", "flips"]
    errors = found.groupby([*by, "data", "method"])["error"].mean().unstack("method")
    others = found.groupby([*by, "method"])[["log-loss", "rounds"]].mean().unstack("method")
    figures = {}
    notes = [f"mean error, %, rho = {', '.join(RATIOS)}; sets won and lost by rho = 1; log-loss"]
    for place, own in errors.groupby(by):
        library, stops, flips = place
        name = _RELATIVE.format(library, STOPS[stops], round(100 * flips))
        figures[name] = float(own["1"].mean() / own["0"].mean())
        gain = (own["0"] - own["1"]).round(9)
        means = [
            _listed(own.loc[[set_ in names for set_ in own.index.get_level_values("data")]].mean())
            for names in SETS.values()
        ]
        notes.append(
            f"{library:8} {STOPS[stops]:14} {100 * flips:3.0f} %  all {_listed(own.mean())}   "
            f"two classes {means[0]}   more {means[1]}   {(gain > 0).sum()}, {(gain < 0).sum()}   "
            f"{_listed(others.loc[place, 'log-loss'], 2)}   rounds "
            f"{_listed(others.loc[place, 'rounds'], 0)}"
        )
    for (flips, data), own in errors.groupby(["flips", "data"]):
        values = "   ".join(_listed(row) for _, row in own.iterrows())
        notes.append(f"{data:13} {100 * flips:3.0f} %  {values}")
    keep = ["data", *by, "method", "fold", "error", "log-loss", "rounds"]
    return Measured(figures, notes, {"cells": found[keep].to_dict("records")})


def _listed(values: Any, digits: int = 1) -> str:
    return " ".join(f"{values[rho]:.{digits}f}" for rho in RATIOS)
