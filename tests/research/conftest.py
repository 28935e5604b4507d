"""What experiments share with the comparison of classifiers: small data and fast methods."""

from tests.comparison.conftest import (
    calls,
    failing,
    fast_registry,
    make_comparison,
    make_record,
    tiny_table,
)

__all__ = ["calls", "failing", "fast_registry", "make_comparison", "make_record", "tiny_table"]
