"""What holds for all tests and all examples in docstrings and pages."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Close what pyplot has opened: it keeps all figures, and warns of too many of them."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
