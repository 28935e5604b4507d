"""Thousands of forged model files: ``python -m tests.fuzz.forgeries --each 1000 --seed 1``.

Each is refused in one line or is a model that predicts, in a process whose crash ends the run
with what it said last. The seed of a forgery is its number; those of the test suite are 0 to 99.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.io.test_random_forgeries import ATTACKED, attacked

_AT_ONCE = 250


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.forgeries", description=__doc__)
    parser.add_argument("--each", type=int, default=1000, help="forgeries of each kind of model")
    parser.add_argument("--seed", type=int, default=1, help="where to begin, in millions")
    chosen = parser.parse_args()
    begin, taken, refused = 1_000_000 * chosen.seed, 0, 0
    for first in range(begin, begin + chosen.each, _AT_ONCE):
        with tempfile.TemporaryDirectory() as folder:
            seeds = min(_AT_ONCE, begin + chosen.each - first)
            counts = attacked(Path(folder), seeds, first)
        taken, refused = taken + counts[0], refused + counts[1]
        print(f"{taken + refused:,} forgeries: {refused:,} refused, {taken:,} predict", flush=True)
    assert taken + refused == chosen.each * len(ATTACKED)


if __name__ == "__main__":
    main()
