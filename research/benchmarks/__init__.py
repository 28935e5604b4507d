"""Times and memory of bblr against baselines: ``python -m research.benchmarks [NAME ...]``."""

from functools import partial

from research.core.cases import Case, case

__all__ = ["CASES", "benchmark"]

CASES: dict[str, Case] = {}
benchmark = partial(case, CASES)
