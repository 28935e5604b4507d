"""Passes over rows on a GPU, compiled when rows of their width are first fitted.

That takes less than a second for each width and process. Where it cannot be done, tensor
operations serve.
"""

from __future__ import annotations

from functools import lru_cache

import torch

from bblr._numeric.device_code import DeviceKernels, device_code
from bblr.designs.torch.device_source import NAMES, source
from bblr.losses.torch_fused import CODE

Tensor = torch.Tensor

# Widest rows, and most columns that a lane of a warp holds.
_WIDEST, _LANES = 1024, (1, 2, 4, 8, 16, 32)
# Numbers that a lane reads at once: enough to hide that memory is far away.
_AHEAD, _MOST_ROWS = 96, 12


def kernels_for(X: Tensor, narrow: bool) -> DeviceKernels | None:
    """Return the kernels for rows; None where tensor operations have to serve.

    Parameters
    ----------
    X : tensor of shape (n_rows, n_features)
        The rows.
    narrow : bool
        Whether products have the precision of X, instead of float64.
    """
    rows, width = X.shape
    if not (X.is_cuda and X.is_contiguous() and 0 < width <= _WIDEST and 0 < rows < 2**31):
        return None
    stored = "float" if X.dtype == torch.float32 else "double"
    lane = next(lane for lane in _LANES if width <= 32 * lane)
    return _compiled(X.device, stored, stored if narrow else "double", lane)


@lru_cache(maxsize=32)
def _compiled(device: torch.device, stored: str, number: str, lane: int) -> DeviceKernels | None:
    ahead = _AHEAD if stored == "float" else _AHEAD // 4
    at_once = max(1, min(_MOST_ROWS, ahead // lane))
    return device_code(source(CODE, stored, number, lane, at_once), NAMES, device)
