"""A design whose rows lie in partitions on the workers of a Dask cluster."""

from bblr.designs.dask.design import DaskDesign
from bblr.designs.dask.session import Session
from bblr.designs.dask.vectors import DaskRows, RemoteVector

__all__ = ["DaskDesign", "DaskRows", "RemoteVector", "Session"]
