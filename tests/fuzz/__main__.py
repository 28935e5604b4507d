"""A long run of the fuzz: ``python -m tests.fuzz --cases 20000 --seed 0 --json fuzz.json``.

Cases are drawn in chunks, each with a seed of its own, by several processes. What fails is
counted, printed and written to the file at once, and the run goes on. ``--repeat "Case(...)"``
runs one case again, ``--resume`` goes on where a run was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from tests.fuzz.record import BAR, Record

# Small fits side by side: threads of their own would only get in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_CHUNK = 100
_SECONDS_BETWEEN_WRITES = 5.0


def main() -> int:
    """Run what the command line asks for; return 1 where a case failed or the run was stopped."""
    arguments = _arguments()
    if arguments.repeat is not None:
        return _repeat(arguments.repeat)
    chunks = _chunks(arguments)
    what = {"cases": arguments.cases, "seed": arguments.seed, "families": arguments.families}
    record = Record(what, arguments.json)
    if arguments.resume:
        record.resume()
    # A run that is told to end goes the way of one that is interrupted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _run(arguments, chunks, record)
    print(record.table())
    for message, case in list(record.failures)[:20]:
        print(f"  {message[:300]}\n    python -m tests.fuzz --repeat {case!r}")
    print(record.last_line())
    return int(bool(record.failures) or len(record.done) < len(chunks))


def _arguments() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=BAR, help="cases over all families")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--families", nargs="*", help="all when left out")
    parser.add_argument("--json", type=Path, help="keep counts and failures here, as they come")
    parser.add_argument("--resume", action="store_true", help="go on with the run of --json")
    parser.add_argument("--repeat", metavar="CASE", help="run one case, as it was printed")
    return parser.parse_args()


def _chunks(arguments: Any) -> list[tuple[str, int]]:
    """Return the families and sizes of all chunks."""
    from tests.fuzz.everything import EVERYTHING

    names = arguments.families or list(EVERYTHING)
    whole = sum(EVERYTHING[name].share for name in names)
    chunks: list[tuple[float, str, int]] = []
    for name in names:
        wanted = math.ceil(arguments.cases * EVERYTHING[name].share / whole)
        for k in range(0, wanted, _CHUNK):
            chunks.append((k / wanted, name, min(_CHUNK, wanted - k)))
    # Families in turn, so that a run that is stopped early has seen all of them.
    return [(name, count) for _, name, count in sorted(chunks)]


def _run(arguments: Any, chunks: list[tuple[str, int]], record: Record) -> None:
    from tests.fuzz.chunks import run_chunk

    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        pool = ProcessPoolExecutor(arguments.jobs, mp_context=context)
        try:
            futures = {
                pool.submit(run_chunk, k, *chunk, 1_000_000 * arguments.seed + k, folder)
                for k, chunk in enumerate(chunks)
                if k not in record.done
            }
            _follow(futures, record, folder)
        except KeyboardInterrupt:
            print("stopped; chunks that were not finished are not counted", file=sys.stderr)
        except BrokenProcessPool as error:
            for file in Path(folder).glob("*.txt"):
                record.add(f"{error} This case or another:", file.read_text(), -1)
        finally:
            _collect(record, folder)
            record.write()
            for process in multiprocessing.active_children():
                process.terminate()
            pool.shutdown(cancel_futures=True)


def _follow(futures: set[Future[Any]], record: Record, folder: str) -> None:
    """Count what is done, and write down what failed every few seconds."""
    start = time.perf_counter() - record.seconds
    while futures:
        done, futures = wait(futures, _SECONDS_BETWEEN_WRITES, "FIRST_COMPLETED")
        record.seconds = time.perf_counter() - start
        _collect(record, folder)
        for chunk in (future.result() for future in done):
            record.counts += chunk.counts
            record.done.add(chunk.number)
            total = record.counts.total()
            print(
                f"{record.seconds:7.0f} s: {total:6,} cases, {total / record.seconds:5.1f} a "
                f"second, {len(record.failures)} reports ({chunk.family}: "
                f"{chunk.counts.total()} in {chunk.seconds:.0f} s)",
                file=sys.stderr, flush=True,
            )  # fmt: skip
        record.write()


def _collect(record: Record, folder: str) -> None:
    """Take over what the processes have written about failures."""
    for file in Path(folder).glob("*.jsonl"):
        # A line may be half written; it is whole the next time.
        for line in file.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                chunk, message, case = json.loads(line)
                if record.add(message, case, chunk):
                    print(f"FAILED {message[:500]}\n    {case}", file=sys.stderr, flush=True)


def _repeat(text: str) -> int:
    import numpy as np

    from bblr import BBLRClassifier, Plateaus
    from tests.fuzz.cases import Case
    from tests.fuzz.cluster import ClusterCase, close
    from tests.fuzz.everything import check
    from tests.fuzz.files import FileCase
    from tests.fuzz.joint import JointCase

    known = {
        "np": np, "nan": math.nan, "inf": math.inf, "Plateaus": Plateaus, "Case": Case,
        "ClusterCase": ClusterCase, "FileCase": FileCase,
        "JointCase": JointCase, "BBLRClassifier": BBLRClassifier,
    }  # fmt: skip
    try:
        print(check(eval(text, known)))
    finally:
        close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
