"""Data in partitions, whole and broken."""

import dask.array as da
import numpy as np


def arrays(X, y, chunk):
    return da.from_array(X, chunks=(chunk, -1)), da.from_array(y, chunks=chunk)


def broken_at(n, X, error):
    """X as an array whose block n cannot be read."""

    def read(block, block_info=None):
        if block_info[0]["chunk-location"][0] == n:
            raise error
        return block

    return da.map_blocks(read, X, dtype=X.dtype, meta=np.empty((0, 0)))
