"""Views of arrays as the kernels like them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class _Memory:
    """The memory of an array under an interface that says it may be written.

    numba compiles a second version of every kernel for read-only arrays, which is what memory
    maps and joblib's workers hand out. The kernels never write to their input, so one version
    serves.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self.owner = array
        self.__array_interface__ = {
            **array.__array_interface__,
            "data": (array.__array_interface__["data"][0], False),
        }


def plain_view(array: NDArray[Any]) -> NDArray[Any]:
    """Return a plain, formally writeable view of the array's own memory."""
    if type(array) is np.ndarray and array.flags.writeable:
        return array
    return np.asarray(_Memory(array))
