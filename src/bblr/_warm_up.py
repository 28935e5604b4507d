"""Compile what fits need before the first of them, for images and services that start often."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from scipy.sparse import csr_array

from bblr.kernel import KernelBBLRClassifier
from bblr.linear import BBLRClassifier, BBLRClassifierCV
from bblr.zero_one import ZeroOneClassifier

__all__ = ["warm_up"]


def warm_up(tell: Callable[[str], None]) -> None:
    """Fit each kind of model to a few rows, so that its compiled code is in the cache.

    Parameters
    ----------
    tell : callable
        Called with a line for each kind of model: what it is, and the seconds it took.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    two, three = X[:, 0] + rng.normal(size=60) > 0, np.arange(60) % 3
    many_rows = rng.normal(size=(20_000, 60))
    fits = {
        "two classes": lambda: BBLRClassifier().fit(X, two).predict_proba(X),
        "three classes": lambda: BBLRClassifier().fit(X, three).predict_proba(X),
        "cross-validation": lambda: BBLRClassifierCV(random_state=0).fit(X, two),
        "many rows": lambda: BBLRClassifier().fit(many_rows, many_rows[:, 0] > 0),
        "sparse rows": lambda: BBLRClassifier().fit(csr_array(X), two).predict(csr_array(X)),
        "kernels": lambda: KernelBBLRClassifier().fit(X, two).predict(X),
        "zero-one loss": lambda: ZeroOneClassifier(random_state=0).fit(X, two).predict(X),
    }
    for what, fit in fits.items():
        start = perf_counter()
        fit()
        tell(f"{what}: {perf_counter() - start:.1f} s")
