"""What every estimator has: its version in pickles and skops files, and where it is documented."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from bblr._numeric.arrays import leads_out
from bblr._version import __version__

__all__ = ["VERSION", "Versioned", "check_csr"]

# Where the version stands in the state of an estimator.
VERSION = "_bblr_version"


class Versioned(BaseEstimator):
    """An estimator whose state names the version of bblr, and is checked when it comes back.

    Its representation in a notebook points to its page of the documentation, if the address of
    that is known.
    """

    _doc_link_module = "bblr"

    @property
    def _doc_link_template(self) -> str:
        site = documentation()
        return f"{site}/api/{{page}}.html" if site else ""

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        name, room = type(self).__name__, type(self).__module__.split(".")[1]
        home = "dask" if name.startswith("Dask") else room if room == "structured" else ""
        return {"page": ".".join(filter(None, ("bblr", home, name)))}

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), VERSION: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.get(VERSION)
        # A minor version may change what an estimator holds.
        if str(saved).split(".")[:2] != __version__.split(".")[:2]:
            by = "a bblr without a version" if saved is None else f"bblr {saved}"
            raise ValueError(
                f"the model was saved by {by}, which bblr {__version__} here cannot read; install "
                "the version that saved it, or fit the model again"
            )
        for value in state.values():
            if issparse(value):
                check_csr(value)
        check_shapes(state)
        super().__setstate__({key: state[key] for key in state if key != VERSION})


def documentation() -> str:
    """Return the address of the site: ``BBLR_DOCS``, or what the installed package names."""
    named = os.environ.get("BBLR_DOCS", "")
    if not named:
        try:
            urls = metadata("bblr").get_all("Project-URL") or []
        except PackageNotFoundError:
            urls = []
        named = next((u.partition(",")[2] for u in urls if u.startswith("Documentation,")), "")
    return named.strip().rstrip("/")


def check_shapes(state: dict[str, Any]) -> None:
    """Raise a ValueError for weights of other features, classes or vectors than the model has.

    Compiled code does not look; it would read whatever lies behind them.
    """
    if not {"n_features_in_", "classes_", "intercept_"} <= state.keys():
        return  # not fitted, or around a model that is checked by itself
    features, scores = state["n_features_in_"], len(state["intercept_"])
    support = len(state.get("support_", ()))
    vectors = {(support, features), (0, 0)}  # of a precomputed kernel there are none
    for name, shapes in (
        ("intercept_", {(scores,)}),
        ("classes_", {(max(scores, 2),)}),
        ("coef_", {(scores, features)}),
        ("dual_coef_", {(scores, support)}),
        ("support_vectors_", vectors),
    ):
        if name in state and tuple(state[name].shape) not in shapes:
            raise ValueError(
                f"{name} has shape {tuple(state[name].shape)}, which does not fit {features} "
                f"features, {scores} intercepts and {support} support vectors; do not trust the "
                "file, or fit the model again"
            )


def check_csr(rows: Any) -> None:
    """Raise a ValueError for sparse rows other than CSR, or whose indices lead out of them."""
    if rows.format != "csr" or rows.data.dtype.kind not in "fiu" or leads_out(rows):
        raise ValueError("a sparse matrix holds no numbers, or its indices lead out of it")
