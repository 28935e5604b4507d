"""A file such as a user would write: fast methods and small data, to stand in for the paper's."""

from pathlib import Path

import pytest

from research.paper.exhibit import Given
from research.paper.fits import Protocol
from research.paper.library import Library
from research.paper.table import Column, Reading, Table

ADDED = """
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from bblr.comparison.methods import Method
from research.paper.library import own

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, "yes", "no")
DATA = [
    own("small", "Small", X, y, test=range(40, 60)),
    own("large", "Large", np.vstack([X, X]), np.concatenate([y, y])),
]

def linear(random_state, *, sparse=False):
    return LogisticRegression(C=0.1)

def tree(random_state, *, sparse=False):
    return DecisionTreeClassifier(max_depth=1, random_state=random_state)

def broken(random_state, *, sparse=False):
    raise RuntimeError("it never works")

METHODS = [
    Method("linear", "Linear", "A line.", linear),
    Method("tree", "Tree", "A step.", tree),
]
FAILING = Method("broken", "Broken", "Fails.", broken)
"""


@pytest.fixture
def added(tmp_path: Path) -> Path:
    path = tmp_path / "added.py"
    path.write_text(ADDED, encoding="utf-8")
    return path


@pytest.fixture
def library(added: Path) -> Library:
    return Library((str(added),))


@pytest.fixture
def given(library: Library) -> Given:
    prints = {name: library.table(name).fingerprint for name in ("small", "large")}
    return Given("full", 0, prints, {}, frozenset({"large"}), library)


def make_table(**changes) -> Table:
    """A table without rows or columns of its own: those of the user's file are added."""
    settings = {
        "name": "table-test",
        "place": 1,
        "title": "A test",
        "about": "What it shows.",
        "reading": "How it is read.",
        "data": (),
        "columns": (),
        "readings": (
            Reading(Protocol(3, 4), Protocol(1, 4, only=2), "First"),
            Reading(Protocol(1, 2), None, "Second"),
        ),
        "digits": 2,
    }
    return Table(**{**settings, **changes})


LINEAR, TREE = Column("linear"), Column("tree")
