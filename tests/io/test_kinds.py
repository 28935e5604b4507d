"""What a value must be, by the type hints of the class that holds it."""

import numpy as np
import pytest
from numpy.typing import NDArray

from bblr.io.kinds import fits


# An alias of its own kind from NumPy 2.5 on.
@pytest.mark.parametrize("kind", [NDArray[np.float64], NDArray[np.float64] | None])
def test_arrays_are_of_the_hinted_numbers(kind):
    assert fits(np.zeros(2), kind, {})
    assert not fits(np.zeros(2, dtype=int), kind, {})
    assert not fits([0.0, 0.0], kind, {})
