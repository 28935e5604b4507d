"""A small table, and how a file that cannot be read is refused."""

import pytest

from bblr.io import read_table

BASIC = "a,b,label\n1,2.5,yes\n3,4,no\n5,-6e-1,yes\n"


def fails(path, *needles, target=None, error=ValueError):
    """The message names the path and everything in `needles`."""
    with pytest.raises(error) as caught:
        read_table(path, target=target)
    for needle in (str(path), *needles):
        assert needle in str(caught.value)
