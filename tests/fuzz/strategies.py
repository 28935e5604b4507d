"""Hypothesis strategies for cases, one a family of estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bblr import Plateaus
from bblr.losses import BetaBernoulli
from bblr.penalties import Gaussian, GaussLaplace
from tests.fuzz import cases, layouts
from tests.fuzz.cases import Case

NAN, INF = float("nan"), float("inf")

_GAMMA = (1.0, 1e-12, 1e12, 1e300, 1e-300, 0, -1, NAN, INF, "auto", None, "x", True)
_L2 = (0.0, 1e-12, 1e-3, 1.0, 100, 1e12, 1e300, 1e-300, -1, NAN, INF, "3", None)
_TOL = (1e-12, 1e-2, 1.0, 1e300, 1e-300, 0, -1, NAN, None)
_ITER = (1, 2, 5, 1000, np.int64(3), 0, 1.5, "many", None, True)
_WEIGHT = (
    None, "balanced", {}, {0: 2.0}, {0: 1e12, 1: 1e-12}, {9: 1}, {0: -1}, {0: NAN}, {0: "x"},
    {"no": 2.0}, {0: 0.0}, {0: 1, 1: 2, 9: 1}, "x",
)  # fmt: skip
_FLAG = (True, False, 1, 0, None)
_PRIOR = (
    "robust", "mild", "weak", "empirical", "learned", Plateaus.binary(0.01, 0.5),
    Plateaus.binary(0.0, 1.0), Plateaus.binary(0.49, 0.02), Plateaus.binary(0.9, 0.05),
    Plateaus.weak(3), "strong", None, 3,
)  # fmt: skip

LINEAR = {
    "prior": _PRIOR, "l2": _L2, "gamma_min": _GAMMA, "gamma_max": _GAMMA,
    "gamma_growth": (2.0, 10.0, 1.5, 1e300, 1.0, 0.5, NAN, None),
    "leverage": (None, 3.0, 1e-12, 1e12, 1e300, 0, -1, "tuned"),
    "solver": ("auto", "fisher", "lbfgs", "sla", "search", "newton", 3, None),
    "tol": _TOL, "max_iter": _ITER, "fit_intercept": _FLAG, "class_weight": _WEIGHT,
    "warm_start": _FLAG,
}  # fmt: skip
LINEAR_CV = {
    "prior": ("tuned", *_PRIOR),
    "l2s": ((1.0,), (0.0,), (1e-12, 1e12), (3.0, 3.0), (1e300,), (), "x", 3.0, (NAN,), None),
    "gamma_limit": (1.0, 2.0, 1e12, 1e300, 0.5, NAN, "x"),
    "leverage": ("tuned", None, 3.0, 1e-12, 1e300, 0, "x"),
    "cv": (2, 3, np.int64(2), 100, 1, 0, "x", None, 2.5, ()),
    "solver": ("auto", "fisher", "lbfgs", "sla"), "tol": _TOL, "max_iter": _ITER,
    "fit_intercept": _FLAG, "class_weight": _WEIGHT, "n_jobs": (None, 1, 0, "x"),
}  # fmt: skip
KERNEL = {
    "kernel": ("rbf", "poly", "linear", "laplacian", "cosine", "precomputed", "gauss", None),
    "kernel_gamma": ("scale", "auto", 0.5, 1e-12, 1e12, 1e300, 1e-300, 0, -1, NAN, "x", None),
    "degree": (1, 2, 3, 50, 1000, 0, 2.5, None), "coef0": (0.0, 1.0, -1.0, 1e12, 1e300, NAN, "x"),
    "prior": _PRIOR, "l2": _L2, "penalty": ("rkhs", "ridge", "lasso", None),
    "sparsity": (None, "backward", "gauss-laplace", "forward", 1),
    "max_vectors": (None, 1, 2, 5, 1000, 0, 1.5, "x"),
    "max_centers": ("auto", None, 1, 2, 5, 1000, 0, "x", 2.5),
    "laplace_share": ("validated", 0.5, 1e-12, 0.999, 0, 1, NAN, "x"),
    "gamma_min": _GAMMA, "gamma_max": _GAMMA, "gamma_growth": (2.0, 10.0, 1e300, 1.0, NAN),
    "tol": _TOL, "max_iter": _ITER, "fit_intercept": _FLAG, "class_weight": _WEIGHT,
    "cache_size": (1000, 0, 1e-6, 1e300, -1, NAN, None),
}  # fmt: skip
KERNEL_CV = {
    **{key: KERNEL[key] for key in (
        "kernel", "degree", "coef0", "penalty", "sparsity", "max_vectors", "max_centers", "tol",
        "max_iter", "fit_intercept", "class_weight", "cache_size",
    )},
    "prior": ("tuned", *_PRIOR),
    "kernel_gammas": ((1.0,), (1e-12, 1e12), (1e300,), (0.0,), (), "x", 3.0, None),
    "l2s": ((1.0, 0.1), (0.0,), (1e-12, 1e12), (1e300,), (), "x", None),
    "gamma_limit": (1.0, 2.0, 1e12, 0.5, NAN), "cv": (2, 3, 100, 1, "x", None, ()),
    "n_jobs": (None, 1, 0, "x"),
}  # fmt: skip
GENERAL = {
    "loss": ("logistic", "sigmoid", "hinge", "ramp", BetaBernoulli.binary(0.1, 0.8),
             BetaBernoulli(Plateaus.weak(3)), "huber", None, 3),
    "penalty": (1.0, 0.0, 1e-12, 1e12, Gaussian(3.0), GaussLaplace(), -1.0, NAN, "l2", None),
    "gammas": (None, (1.0,), (1.0, 4.0), (), "x", 3.0, (NAN,)),
    "leverage": (None, 3.0, 1e-12, 0, NAN, "x"), "solver": ("auto", "fisher", "lbfgs", "x", None),
    "tol": (1e-4, 1e-12, 1.0, 0, NAN), "max_iter": _ITER, "fit_intercept": _FLAG,
    "class_weight": _WEIGHT,
}  # fmt: skip
SLA = {
    "gamma_min": (2.0, 1e-12, 1e12, 0, NAN), "gamma_max": (200.0, 2.0, 1e-12, 1e12, 1e300, "x"),
    "gamma_growth": (10.0, 100.0, 1e300, 1.0, NAN), "radius": (8.0, 1.0, 1e-12, 1e12, 0, NAN),
    "spacing": (0.2, 0.5, 1e12, 1e-12, 0, NAN), "min_gain": (0.1, 1e-12, 1e300, 0, NAN),
    "class_weight": _WEIGHT,
}  # fmt: skip
ZERO_ONE = {
    "max_steps": (3, 20, 1, 0, 1.5, "x"), "fit_intercept": _FLAG, "class_weight": _WEIGHT,
    "time_limit": (0.05, 0.2, 1e-12, 1e300, 0, NAN, "x"), "n_jobs": (None, 1, 2, -1, 0, 1.5, "x"),
}  # fmt: skip

BASE: dict[str, dict[str, Any]] = {
    "BBLRClassifier": {},
    "BBLRClassifierCV": {"cv": 2, "l2s": (1.0, 10.0), "gamma_limit": 2.0},
    "KernelBBLRClassifier": {},
    "KernelBBLRClassifier backward": {"sparsity": "backward"},
    "KernelBBLRClassifier gauss-laplace": {"sparsity": "gauss-laplace"},
    "KernelBBLRClassifierCV": {
        "cv": 2, "l2s": (1.0,), "kernel_gammas": (0.3,), "gamma_limit": 1.0, "prior": "mild",
    },
    "SLAClassifier": {},
    "GeneralizedLinearClassifier": {},
    "DaskGeneralizedLinearClassifier": {},
    **{f"{name} device=cpu": {"device": "cpu"}
       for name in ("BBLRClassifier", "KernelBBLRClassifier")},
    "ZeroOneClassifier device=cpu": {"device": "cpu", "time_limit": 2.0},
    "BBLRClassifierCV device=cpu": {
        "device": "cpu", "cv": 2, "l2s": (1.0,), "gamma_limit": 1.0, "prior": "mild",
    },
    "KernelBBLRClassifierCV device=cpu": {
        "device": "cpu", "cv": 2, "l2s": (1.0,), "kernel_gammas": (0.3,), "gamma_limit": 1.0,
        "prior": "mild",
    },
    "DaskBBLRClassifier": {},
    "DaskBBLRClassifierCV": {"cv": 2, "l2s": (1.0,), "gamma_limit": 1.0, "prior": "mild"},
    **{f"ZeroOneClassifier {name}": {"solver": name, "max_steps": 20, "time_limit": 2.0}
       for name in ("search", "sla", "pcs", "csa", "bnb", "mip", "exact")},
}  # fmt: skip

FAMILIES: dict[str, tuple[tuple[str, ...], dict[str, Sequence[Any]]]] = {
    "linear": (("BBLRClassifier",), LINEAR),
    "linear_cv": (("BBLRClassifierCV",), LINEAR_CV),
    "kernel": (tuple(name for name in BASE if name.startswith("KernelBBLRClassifier")
                     and not name.endswith(("CV", "cpu"))), KERNEL),
    "kernel_cv": (("KernelBBLRClassifierCV",), KERNEL_CV),
    "sla": (("SLAClassifier",), SLA),
    "general": (("GeneralizedLinearClassifier",), GENERAL),
    "zero_one": (tuple(name for name in BASE if name.startswith("Zero")
                       and not name.endswith("cpu")), ZERO_ONE),
    # Without a device a tensor is an array like any other.
    "torch": ((*(name for name in BASE if name.endswith("cpu")), "BBLRClassifier",
               "KernelBBLRClassifier", "SLAClassifier", "ZeroOneClassifier search"), {
        "class_weight": _WEIGHT
    }),
}  # fmt: skip

# Families whose estimators are not called by `fit`, or not with rows in memory.
AUDIT = (tuple(f"find_label_errors {name}" for name in (
    "linear", "linear", "kernel", "cv", "sla", "csa", "logistic", "tree", "neighbours",
)), {
    "cv": (2, 3, np.int64(4), 100, 1, 0, "x", None, 2.5, ()), "in_sample": (True, False, None),
    "n_jobs": (None, 1, 0, "x"), "random_state": (1, None, "x", -1),
})  # fmt: skip
DASK = (("DaskBBLRClassifier",) * 4 + (
    "DaskBBLRClassifierCV", "DaskGeneralizedLinearClassifier",
), {
    key: LINEAR[key] for key in ("tol", "max_iter", "fit_intercept", "class_weight", "solver")
})  # fmt: skip

# Twists that a family promises to stand: what is fitted twice, and compared.
TWISTS = {
    "linear": ("none", "repeat", "refit", "layout", "pickle", "onnx", "rows", "duplicate",
               "power", "order"),
    "linear_cv": ("none", "repeat", "layout", "pickle", "onnx", "n_jobs"),
    "kernel": ("none", "repeat", "refit", "layout", "pickle", "onnx", "rows", "duplicate",
               "order"),
    "kernel_cv": ("none", "repeat", "layout", "pickle", "onnx", "n_jobs"),
    "sla": ("none", "repeat", "refit", "layout", "pickle", "onnx", "rows"),
    "general": ("none", "repeat", "refit", "layout", "pickle", "rows"),
    "zero_one": ("none", "repeat", "refit", "layout", "pickle", "onnx", "rows", "duplicate",
                 "order", "n_jobs"),
    "torch": ("none", "repeat", "refit", "pickle", "layout", "rows"),
    "audit": ("none", "repeat", "n_jobs", "given"),
    "dask": ("none", "local", "local", "pickle"),
}  # fmt: skip


def _mostly(plain: Sequence[str], odd: Sequence[str], wrong: Sequence[str]) -> Any:
    """Half of all draws are plain ones, and most others odd ones."""
    ways = [st.sampled_from(plain)] * 4 + [st.sampled_from(odd)] * 3 + [st.sampled_from(wrong)]
    return st.integers(0, 7).flatmap(lambda k: ways[k])


def _layouts(odd: bool, *, tensors: bool) -> Any:
    numpy_like = st.sampled_from(layouts.SAME)
    if odd:
        numpy_like = _mostly(layouts.SAME, layouts.ROUNDED + layouts.ODD, layouts.WRONG)
    if not tensors:
        return numpy_like
    of_torch = st.sampled_from(layouts.TENSORS)
    if odd:
        of_torch = _mostly(layouts.TENSORS, layouts.ODD_TENSORS, layouts.WRONG_TENSORS)
    return of_torch | numpy_like


@st.composite
def fits(draw: Any, family: str) -> Case:
    """Draw a case: most of it plain, with one or a few things out of the ordinary."""
    names, grid = {**FAMILIES, "audit": AUDIT, "dask": DASK}[family]
    # What is odd: nothing, or some of columns, layout, labels, weights and parameters.
    odd = draw(st.sets(st.sampled_from("clywp"), max_size=3))
    columns: Any = st.sampled_from(cases.PLAIN_COLUMNS)
    if "c" in odd:
        columns = _mostly(cases.PLAIN_COLUMNS, cases.ODD_COLUMNS, cases.WRONG_COLUMNS)
    least = 0 if "c" in odd else 1
    chosen = draw(st.lists(columns, min_size=least, max_size=6))
    layout = "rows"
    if family != "dask":  # whose rows have forms of their own
        layout = draw(_layouts("l" in odd, tensors=family == "torch"))
    labels = draw(
        _mostly(cases.PLAIN_LABELS, cases.ODD_LABELS, cases.WRONG_LABELS)
        if "y" in odd
        else st.sampled_from(cases.PLAIN_LABELS)
    )
    weights = draw(
        _mostly(cases.PLAIN_WEIGHTS, cases.ODD_WEIGHTS, cases.WRONG_WEIGHTS)
        if "w" in odd
        else st.sampled_from(cases.PLAIN_WEIGHTS)
    )
    params = []
    if "p" in odd:
        for key in draw(st.sets(st.sampled_from(sorted(grid)), min_size=1, max_size=3)):
            params.append((key, draw(st.sampled_from(grid[key]))))
    many = family in ("linear", "linear_cv", "kernel", "kernel_cv", "dask", "audit")
    return Case(
        estimator=draw(st.sampled_from(names)),
        params=tuple(sorted(params, key=lambda pair: pair[0])),
        n=draw(st.integers(1, 40) if "y" in odd else st.integers(12, 40)),
        columns=tuple(chosen),
        layout=layout,
        labels=labels,
        classes=draw(st.sampled_from((2, 2, 2, 3, 5) if many else (2, 2, 2, 2, 3))),
        weights=weights,
        twist=draw(st.sampled_from(TWISTS[family])),
        seed=draw(st.integers(0, 2**20)),
    )
