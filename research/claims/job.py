"""``bblr claims`` from end to end: check the settings, measure, show, write the record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from joblib import cpu_count
from rich.console import Console

from bblr._settings import SettingError
from bblr.comparison.records import RecordsError, read_records
from bblr.comparison.tasks import versions
from research import claims
from research.claims.base import Claim, ClaimRun
from research.core.targets import Outcome, figure_width, tally

__all__ = ["ClaimsJob", "run_claims"]

DONE, MISSED, MISUSED, INTERRUPTED = 0, 1, 2, 130


@dataclass(frozen=True)
class ClaimsJob:
    """The settings of ``bblr claims``, as they were typed.

    See ``bblr claims --help`` for what each of them means.
    """

    names: tuple[str, ...]
    list_only: bool
    jobs: int | None
    repeats: int
    seed: int
    records: Path | None
    out: Path | None
    strict: bool

    def chosen(self, known: Mapping[str, Claim]) -> list[Claim]:
        """Check every setting and look the claims up; nothing is written."""
        for name in self.names:
            if name not in known:
                raise SettingError("NAME", f"{name!r} is no claim; choose from {', '.join(known)}")
        smallest = {"jobs": 1, "repeats": 1, "seed": 0}
        for setting, least in smallest.items():
            value = getattr(self, setting)
            if value is not None and value < least:
                raise SettingError(f"--{setting}", f"must be at least {least}, got {value}")
        for setting, path in {"--json": self.out, "--records": self.records}.items():
            if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
                raise SettingError(
                    setting, f"must name a file in a folder that exists, got {str(path)!r}"
                )
        if self.records is not None:
            read_records(self.records)  # a file that holds something else is refused here
        return [known[name] for name in dict.fromkeys(self.names or known)]

    def run(self, console: Console) -> ClaimRun:
        """Return what each claim is given."""
        jobs = cpu_count() if self.jobs is None else self.jobs
        return ClaimRun(jobs, self.repeats, self.seed, self.records, console)


def run_claims(job: ClaimsJob) -> int:
    """Carry out ``bblr claims``.

    Returns
    -------
    int
        Exit status: 0 done, 1 a claim failed to run, or with ``strict`` missed its bar, 2 a
        setting cannot be used, 130 interrupted.
    """
    messages = Console(stderr=True)
    try:
        chosen = job.chosen(claims.CLAIMS)
    except (SettingError, RecordsError) as error:
        _say(messages, f"Error: {error}")
        return MISUSED
    if job.list_only:
        for claim in chosen:
            print(f"{claim.name}\n  {claim.description}")
            for bar in claim.bars:
                print(f"    {bar.figure} {bar.label}")
        return DONE
    outcomes: list[Outcome] = []
    width = figure_width(bar for claim in chosen for bar in claim.bars)
    try:
        for number, claim in enumerate(chosen, 1):
            _say(messages, f"{claim.name} ({number} of {len(chosen)}) ...")
            outcomes.append(claim.run(job.run(messages)))
            print(*outcomes[-1].lines(width), sep="\n", flush=True)
            if job.out is not None:
                _write(job, job.out, outcomes)  # at once: some claims take long
    except KeyboardInterrupt:
        _say(messages, f"Stopped after {len(outcomes)} of {len(chosen)} claims.")
        return INTERRUPTED
    print(tally(outcomes))
    failed = any(outcome.failure for outcome in outcomes)
    return MISSED if failed or (job.strict and any(o.missed for o in outcomes)) else DONE


def _write(job: ClaimsJob, path: Path, outcomes: list[Outcome]) -> None:
    record = {
        "versions": versions(),
        "settings": {"seed": job.seed, "repeats": job.repeats},
        "claims": [outcome.as_record() for outcome in outcomes],
    }
    path.write_text(json.dumps(record, indent=2, default=float) + "\n", encoding="utf-8")


def _say(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)
