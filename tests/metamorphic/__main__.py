"""Thousands of pairs of fits: ``python -m tests.metamorphic --pairs 20000 --seed 0``.

Each problem is drawn from a seed of its own and put differently by some of the relations. Printed
are, for each relation, the pairs tried, the largest difference of scores and what is beyond its
tolerance; then how to repeat what is. ``--seconds`` ends a run early, and says where to go on.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import warnings
from typing import Any

# Small fits: threads of their own would only get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_RELATIONS_A_PROBLEM = 12


def main() -> int:
    """Compare as many pairs as asked for; return 1 where a difference is beyond tolerance."""
    arguments = _arguments()
    warnings.simplefilter("ignore")
    from tests.fuzz.cluster import close
    from tests.metamorphic.pairs import Pairs

    start, pairs = time.perf_counter(), Pairs(arguments.relations)
    number = arguments.start
    # A run that is told to end says what it has found, as one that is interrupted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while pairs.tried < arguments.pairs and time.perf_counter() - start < arguments.seconds:
            seed = 1_000_000 * arguments.seed + number
            for line in pairs.add(seed, tuple(arguments.estimators), _RELATIONS_A_PROBLEM):
                print(line, file=sys.stderr, flush=True)
            number += 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    finally:
        close()
    print(pairs.report())
    print(
        f"{pairs.tried:,} pairs of {number - arguments.start:,} problems from seed "
        f"{arguments.seed}, problem {arguments.start}, in {time.perf_counter() - start:.0f} s; "
        f"go on with --start {number}"
    )
    return int(bool(pairs.beyond))


def _arguments() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.metamorphic", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first problem")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="when to stop")
    parser.add_argument("--relations", nargs="*", default=[], help="all when left out")
    parser.add_argument("--estimators", nargs="*", default=[], help="all when left out")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
