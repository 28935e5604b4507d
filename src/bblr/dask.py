"""Classifiers for data on a Dask cluster; install with ``pip install "bblr[dask]"``."""

from bblr.estimators.dask import DaskBBLRClassifier, DaskBBLRClassifierCV

__all__ = ["DaskBBLRClassifier", "DaskBBLRClassifierCV"]
