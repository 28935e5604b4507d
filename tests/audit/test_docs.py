"""The examples of docs/audit.md and of its section in the README run."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/audit.md", "README.md"])
def test_examples_run(page):
    found = doctest.testfile(str(ROOT / page), module_relative=False)
    assert found.attempted > 0 and found.failed == 0
