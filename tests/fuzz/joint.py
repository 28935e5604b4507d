"""Cases for the joint model: groups of candidates in every state."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from bblr import BBLRClassifier
from bblr.structured import Group, JointModel, match_groups
from bblr.structured.joint import ApproximationWarning
from tests.fuzz.refusals import FITTED, REFUSED, Wrong, no_warnings, refusal

NAN, INF = float("nan"), float("inf")
PARAMS: dict[str, tuple[Any, ...]] = {
    "at_most_one": ("soft", "hard", None, "firm"), "one_to_one": (False, True, 1),
    "similarity": ("gaussian", "beta", "kde", None, "cosine"), "recalibrate": (True, False, None),
    "penalty": ("fit", 0.0, 5, 100.0, 1e300, -1, NAN, "x"),
    "weight": ("fit", 0.0, 1.0, 1e300, NAN, "x"), "cv": (2, 3, 100, 1, 0, 2.5, "x"),
    "max_states": (2**14, 2, 8, 1, 0.5, "x"), "n_jobs": (None, 1, 0, "x"),
    "local": (None, BBLRClassifier(gamma_max=1.0), "x"),
}  # fmt: skip
FEATURES = (
    "plain", "plain", "constant", "big", "huge", "tiny", "nan", "text", "none", "csr", "float32",
    "ints", "mixed_width", "one_column",
)  # fmt: skip
PAIRS = (
    "plain", "plain", "none", "all", "few", "equal", "unknown", "wide", "huge", "infinite",
    "twice", "itself", "outside", "short",
)  # fmt: skip
TARGETS = (
    "one", "one", "some", "none", "all", "two", "in_one_group", "missing", "text", "floats",
    "minus", "bools",
)  # fmt: skip
CONTAINERS = ("none", "none", "two", "own", "text", "mixed", "nan", "short")


@dataclass(frozen=True)
class JointCase:
    """Groups, and how they are to be decided."""

    params: tuple[tuple[str, Any], ...] = ()
    groups: int = 8
    features: str = "plain"
    pairs: str = "none"
    targets: str = "one"
    containers: str = "none"
    empty: bool = False
    seed: int = 0

    @property
    def estimator(self) -> str:
        """The name under which outcomes are counted."""
        return "JointModel"


@st.composite
def joint_cases(draw: Any) -> JointCase:
    """Draw groups, most of them plain."""
    odd = draw(st.sets(st.sampled_from("fptck"), max_size=2))
    params = []
    if "k" in odd:
        for key in draw(st.sets(st.sampled_from(sorted(PARAMS)), min_size=1, max_size=3)):
            params.append((key, draw(st.sampled_from(PARAMS[key]))))
    return JointCase(
        params=tuple(sorted(params, key=lambda pair: pair[0])),
        groups=draw(st.integers(0, 12) if "t" in odd else st.integers(5, 12)),
        features=draw(st.sampled_from(FEATURES)) if "f" in odd else "plain",
        pairs=draw(st.sampled_from(PAIRS if "p" in odd else PAIRS[:4])),
        targets=draw(st.sampled_from(TARGETS)) if "t" in odd else "one",
        containers=draw(st.sampled_from(CONTAINERS)) if "c" in odd else "none",
        empty=draw(st.booleans()),
        seed=draw(st.integers(0, 2**20)),
    )


def make_groups(case: JointCase, shift: int = 0) -> list[Group]:
    rng = np.random.default_rng(case.seed + shift)
    groups = []
    for g in range(case.groups):
        n = 0 if case.empty and g == case.groups // 2 else int(rng.integers(1, 6))
        labels = _labels(case.targets, n, g, rng)
        hot = np.zeros(n)
        if n:
            hot[int(rng.integers(n))] = 1.0
        if case.targets == "one":
            labels = hot.astype(int)
        pairs, similarities = _pairs(case.pairs, n, rng)
        groups.append(Group(
            _features(case.features, hot, g, rng), containers=_containers(case.containers, n, rng),
            pairs=pairs, similarities=similarities, labels=labels, candidates=np.arange(n),
        ))  # fmt: skip
    return groups


def _features(kind: str, hot: Any, group: int, rng: np.random.Generator) -> Any:
    n = len(hot)
    X = np.column_stack([2.0 * hot, hot]) + rng.normal(size=(n, 2))
    made: dict[str, Callable[[], Any]] = {
        "plain": lambda: X, "constant": lambda: np.ones((n, 2)), "big": lambda: 1e100 * X,
        "huge": lambda: 1e300 * X, "tiny": lambda: 1e-300 * X, "float32": lambda: X.astype("f4"),
        "nan": lambda: np.where(rng.random((n, 2)) < 0.1, np.nan, X),
        "text": lambda: np.full((n, 2), "x"), "none": lambda: np.empty((n, 0)),
        "csr": lambda: sparse.csr_matrix(X), "ints": lambda: np.round(X).astype(int),
        "mixed_width": lambda: X[:, : 1 + group % 2], "one_column": lambda: X[:, :1],
    }  # fmt: skip
    return made[kind]()


def _labels(kind: str, n: int, group: int, rng: np.random.Generator) -> Any:
    some = rng.integers(0, 2, n)
    made: dict[str, Any] = {
        "one": some, "some": some, "none": np.zeros(n, int), "all": np.ones(n, int),
        "two": (np.arange(n) < 2).astype(int), "in_one_group": (np.arange(n) == 0) * (group == 0),
        "missing": None if group == 1 else some, "text": ["yes"] * n, "floats": some / 1.0,
        "minus": 2 * some - 1, "bools": some > 0,
    }  # fmt: skip
    return made[kind]


def _pairs(kind: str, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    if kind == "none":
        return None, None
    first, second = np.triu_indices(n, 1)
    pairs = np.column_stack([first, second])
    if kind == "few":
        pairs = pairs[:1]
    values = rng.random(len(pairs))
    if kind == "equal":
        values[:] = 0.5
    if kind == "unknown":
        values[:] = np.nan
    if kind == "wide":
        values *= 10.0 ** rng.uniform(-12, 12, len(values))
    if kind == "huge":
        values *= 1e300
    if kind == "infinite":
        values[:1] = np.inf
    if kind == "twice":
        pairs, values = np.vstack([pairs, pairs[:, ::-1]]), np.concatenate([values, values])
    if kind == "itself" and n:
        pairs, values = np.vstack([pairs, [[0, 0]]]), np.append(values, 0.5)
    if kind == "outside":
        pairs = pairs + 100
    if kind == "short":
        values = values[:-1]
    return pairs, values


def _containers(kind: str, n: int, rng: np.random.Generator) -> Any:
    made: dict[str, Any] = {
        "none": None, "two": rng.integers(0, 2, n), "own": np.arange(n),
        "text": np.array(["left", "right"])[rng.integers(0, 2, n)],
        "mixed": [("a", 1)[k % 2] for k in range(n)], "nan": np.full(n, np.nan),
        "short": np.arange(n)[1:],
    }  # fmt: skip
    return made[kind]


def run_joint(case: JointCase) -> str:
    """Fit and predict; return "fitted" or "refused", or raise Wrong."""
    model = JointModel(**{"random_state": 0, **dict(case.params)})
    with no_warnings(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        # The local classifier is scikit-learn's, and so are its worries.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(make_groups(case))
            _check_joint(model, case)
        except Exception as error:
            if isinstance(error, Wrong):
                raise
            outcome = refusal(error, model.get_params(deep=False))
            if _plain(case):
                raise Wrong(f"plain groups were refused: {error}") from error
            return outcome
    return FITTED


def _plain(case: JointCase) -> bool:
    return (
        not case.params and case.features in ("plain", "csr", "float32")
        and case.pairs in ("plain", "none", "all", "few") and case.targets == "one"
        and case.containers in ("none", "own") and case.groups >= 5
        # Each of two groups at least must hold a candidate that is no target.
        and sum(len(group) > 1 for group in make_groups(case)) >= 2
    )  # fmt: skip


def _check_joint(model: JointModel, case: JointCase) -> None:
    groups = [group.with_labels(None) for group in make_groups(case, 1)]
    labels, found = model.predict(groups), model.predict_proba(groups)
    hard = model.at_most_one == "hard"
    for group, y, p in zip(groups, labels, found, strict=True):
        if y.shape != (len(group),) or not set(y.tolist()) <= {0, 1}:
            raise Wrong(f"labels are none: {y}")
        if p.shape != y.shape or not np.isfinite(p).all() or (p < 0).any() or (p > 1).any():
            raise Wrong(f"probabilities are none: {p}")
        held = np.bincount(group.numbers, weights=y, minlength=1)
        if hard and held.max(initial=0) > 1:
            raise Wrong("two targets in one container, which is impossible")
    _check_matching(model, groups)
    again = JointModel(**model.get_params(deep=False)).fit(make_groups(case))
    for a, b in zip(found, again.predict_proba(groups), strict=True):
        if not np.array_equal(a, b):
            raise Wrong("probabilities differ from fit to fit")


def _check_matching(model: JointModel, groups: list[Group]) -> None:
    """Check that a matching uses each container and each candidate once, and no bad odds."""
    odds = model.decision_function(groups)
    found = match_groups(groups, odds)
    taken: list[Any] = []
    for group, own, labels in zip(groups, odds, found, strict=True):
        if labels.shape != own.shape or (own[labels == 1] <= 0).any():
            raise Wrong(f"a matching takes what is unlikely: {labels} of odds {own}")
        if np.bincount(group.numbers, weights=labels, minlength=1).max() > 1:
            raise Wrong("a matching uses a container twice")
        if group.candidates is not None:
            taken += np.asarray(group.candidates)[labels == 1].tolist()
    if len(set(taken)) != len(taken):
        raise Wrong(f"a matching uses a candidate twice: {taken}")


__all__ = ["REFUSED", "JointCase", "joint_cases", "run_joint"]
