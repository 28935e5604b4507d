"""Claims about quality: cases whose figures are held against thresholds by ``bblr claims``."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from joblib import cpu_count
from rich.console import Console

from bblr.comparison.session import DONE, check_least, check_records
from research.core.cases import Case, Run, case, pick, run_cases, show_cases

__all__ = ["CLAIMS", "claim", "run_claims"]

CLAIMS: dict[str, Case] = {}
claim = partial(case, CLAIMS)


def run_claims(
    names: Sequence[str],
    list_only: bool,
    jobs: int | None,
    repeats: int,
    seed: int,
    records: Path | None,
    out: Path | None,
    strict: bool,
) -> int:
    """Carry out ``bblr claims``; see its help."""
    check_least(jobs=(jobs, 1), repeats=(repeats, 1), seed=(seed, 0))
    picked = pick(names, CLAIMS)
    if list_only:
        show_cases(picked)
        return DONE
    if records is not None:
        check_records(records)
    run = Run(seed, False, jobs or cpu_count(), repeats, records, Console(stderr=True))
    return run_cases(picked, run, cases=CLAIMS, out=out, strict=strict)


# isort: split
# After the above, which they register with.
from research.claims import (  # noqa: E402, F401
    audit,
    boosting,
    embedded,
    encoding,
    held_out,
    interchange,
    kernel,
    networks,
    structured,
    verdicts,
    zero_one,
)
