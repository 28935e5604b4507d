"""Claims about quality: cases whose figures are held against thresholds by ``bblr claims``."""

from functools import partial

from research.core.cases import Case, case

__all__ = ["CLAIMS", "claim"]

CLAIMS: dict[str, Case] = {}
claim = partial(case, CLAIMS)

# isort: split
# After the above, which they register with.
from research.claims import (  # noqa: E402, F401
    audit,
    embedded,
    held_out,
    interchange,
    kernel,
    structured,
    zero_one,
)
