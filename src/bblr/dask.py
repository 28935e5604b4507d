"""Classifiers for data on a Dask cluster; install with ``pip install "bblr[dask]"``."""

from bblr.linear.dask_classifiers import (
    DaskBBLRClassifier,
    DaskBBLRClassifierCV,
    DaskGeneralizedLinearClassifier,
)

__all__ = [
    "DaskBBLRClassifier",
    "DaskBBLRClassifierCV",
    "DaskGeneralizedLinearClassifier",
]
