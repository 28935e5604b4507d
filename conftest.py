"""What holds for all tests and all examples in docstrings and pages."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

# Examples that need a library are left out where it is missing. Those of what both boosters share
# use LightGBM.
NEEDED = {
    "lightgbm": ["src/bblr/lightgbm", "src/bblr/boosting", "docs/other_libraries.md"],
    "torch": ["src/bblr/torch", "docs/other_libraries.md"],
    "xgboost": ["src/bblr/xgboost", "docs/other_libraries.md"],
}
collect_ignore = [
    path for name, paths in NEEDED.items() if find_spec(name) is None for path in paths
]


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Close what pyplot has opened: it keeps all figures, and warns of too many of them."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
