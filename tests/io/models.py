"""One fitted model of every kind, on small data, for whatever carries models elsewhere."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    Plateaus,
    SLAClassifier,
    ZeroOneClassifier,
)
from bblr.structured import Group

KERNELS = ("rbf", "poly", "linear", "laplacian", "cosine")

TWO: dict[str, Any] = {
    "linear": BBLRClassifier(),
    "linear, no intercept": BBLRClassifier("learned", fit_intercept=False),
    "linear, uneven": BBLRClassifier(Plateaus.binary(0.3, 0.6), leverage=3.0),
    "linear, sharp": BBLRClassifier("weak", gamma_max=1e6, gamma_growth=100.0),
    "linear, cv": BBLRClassifierCV(l2s=(1.0, 3.0), cv=3, random_state=0),
    **{f"kernel, {name}": KernelBBLRClassifier(name, random_state=0) for name in KERNELS},
    "kernel, poly of degree 2": KernelBBLRClassifier("poly", degree=2, coef0=1.5),
    "kernel, backward": KernelBBLRClassifier(sparsity="backward", max_vectors=6, random_state=0),
    "kernel, gauss-laplace": KernelBBLRClassifier(
        sparsity="gauss-laplace", laplace_share=0.5, random_state=0
    ),
    "kernel, cv": KernelBBLRClassifierCV(
        sparsity="backward", l2s=(0.3, 1.0), kernel_gammas=(0.1, 0.3), cv=3, random_state=0
    ),
    "zero-one": ZeroOneClassifier(random_state=0),
    "zero-one, mip": ZeroOneClassifier("mip", max_steps=20, time_limit=None, random_state=0),
    "sla": SLAClassifier(),
}
MANY: dict[str, Any] = {
    "many": BBLRClassifier(),
    "many, learned": BBLRClassifier("learned"),
    "many, uneven": BBLRClassifier(Plateaus((0.2, 0.1, 0.05)), fit_intercept=False),
    "many, cv": BBLRClassifierCV(l2s=(1.0, 3.0), cv=3, random_state=0),
    **{f"many, kernel, {name}": KernelBBLRClassifier(name, random_state=0) for name in KERNELS},
    "many, backward": KernelBBLRClassifier(sparsity="backward", max_vectors=8, random_state=0),
    "many, kernel, cv": KernelBBLRClassifierCV(
        l2s=(0.3, 1.0), kernel_gammas=(0.1, 0.3), cv=3, random_state=0
    ),
}
MODELS = {**TWO, **MANY}


@cache
def data(classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows of noisy classes about centres on a circle; a third of the entries are zero."""
    rng = np.random.default_rng(classes)
    y = rng.integers(classes, size=90)
    angle = 2 * np.pi * y / classes
    X = rng.normal(size=(90, 5)) + 2.0 * np.column_stack(
        [np.cos(angle), np.sin(angle), *np.zeros((3, 90))]
    )
    X[rng.random(X.shape) < 0.3] = 0.0
    return X, y


def rows(name: str) -> NDArray[np.float64]:
    return data(3 if name in MANY else 2)[0]


@cache
def fitted(name: str, *, text: bool = False, sparse: bool = False) -> Any:
    """Return a fitted model of a name in MODELS; do not change it."""
    from sklearn.base import clone

    X, y = data(3 if name in MANY else 2)
    labels = np.array(["no", "ja", "peut-être"])[y] if text else y
    return clone(MODELS[name]).fit(sp.csr_array(X) if sparse else X, labels)


def outputs(model: Any, X: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return labels, and the probabilities or scores beside them."""
    if hasattr(model, "predict_proba"):
        return model.predict(X), model.predict_proba(X)
    score = model.decision_function(X)
    return model.predict(X), np.column_stack([-score, score])


def groups(count: int = 60) -> list[Group]:
    """Groups of four candidates, one of them right; those of a right one are alike."""
    rng = np.random.default_rng(0)
    pairs = np.array([[0, 1], [1, 2], [2, 3]])
    made = []
    for _ in range(count):
        labels = (rng.random(4) < 0.4).astype(int)
        both = labels[pairs].all(axis=1)
        made.append(
            Group(
                labels[:, None] + rng.normal(size=(4, 1)),
                pairs=pairs,
                similarities=np.clip(0.5 * both + 0.5 * rng.random(3), 0, 1),
                labels=labels,
            )
        )
    return made


def on_cluster(kind: type, local: Any) -> Any:
    """Return the cluster's classifier as it is after a fit, without a cluster."""
    model = kind()
    vars(model).update({name: value for name, value in vars(local).items() if name[-1] == "_"})
    return model
