"""A design whose rows lie in partitions on the workers of a Dask cluster."""

from bblr.designs.dask.calls import Session
from bblr.designs.dask.cluster_design import DaskDesign
from bblr.designs.dask.vectors import DaskRows, RemoteVector

__all__ = ["DaskDesign", "DaskRows", "RemoteVector", "Session"]
