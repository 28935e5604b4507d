"""A chunk of a long run, worked on by a process of its own."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from tests.fuzz.everything import EVERYTHING

_SECONDS_A_CASE = 120


class Done(NamedTuple):
    """What came of a chunk."""

    family: str
    counts: Counter[tuple[str, str]]
    number: int
    seconds: float


def run_chunk(number: int, family: str, cases: int, seed: int, folder: str) -> Done:
    """Draw and check so many cases of a family; write what fails into the folder at once."""
    known = EVERYTHING[family]
    counts: Counter[tuple[str, str]] = Counter()
    last = Path(folder, f"{os.getpid()}.txt")
    reports = Path(folder, f"{os.getpid()}.jsonl")
    start = time.perf_counter()
    signal.signal(signal.SIGALRM, _too_long)

    @seeded(seed)
    @settings(
        max_examples=cases, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(known.cases())
    def each(case: Any) -> None:
        last.write_text(repr(case))
        signal.alarm(_SECONDS_A_CASE)
        try:
            outcome = known.check(case)
        except Exception as error:
            outcome = "failed"
            with reports.open("a") as file:
                message = f"{type(error).__name__}: {error}"
                file.write(json.dumps([number, message, repr(case)]) + "\n")
        finally:
            signal.alarm(0)
        counts[case.estimator, outcome] += 1

    each()
    last.unlink(missing_ok=True)
    return Done(family, counts, number, time.perf_counter() - start)


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"a case took longer than {_SECONDS_A_CASE} seconds")
