"""A short soak test; python -m tests.fuzz.soak --minutes 5 is the long one."""

import sys
from itertools import islice, repeat

import numpy as np
import pytest

from tests.fuzz.soak import BAR_MIB, KINDS, soak, steps

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


def test_memory_does_not_grow():
    lines = []
    assert soak(steps(most=90), 0.0, 0.0, rounds=2, say=lines.append) <= BAR_MIB, lines


def test_a_leak_is_found():
    kept = []
    leak = repeat(lambda: kept.append(np.ones(2**17)))  # 1 MiB a fit
    assert soak(islice(leak, 10_000), 0.0, 0.0, rounds=2, say=str) > BAR_MIB
    assert len(kept) == 4 * KINDS
