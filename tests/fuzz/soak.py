"""Fits of all kinds in a loop, whose memory must not grow: ``python -m tests.fuzz.soak``."""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    SLAClassifier,
    ZeroOneClassifier,
)
from bblr.structured import Group, JointModel

# Memory that may come after the warm-up: pools of allocators, not what fits leave behind.
BAR_MIB = 24.0
# Kinds of fits in turn.
KINDS = 13


def resident_mib() -> float:
    """Return the memory of this process that is in use."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)  # what the allocator keeps for later is no leak
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _data(rng: np.random.Generator, most: int) -> tuple[Any, Any]:
    n, d = int(rng.integers(most // 3, most)), int(rng.integers(2, 12))
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)
    return (sparse.csr_matrix(X) if rng.random() < 0.3 else X), y


def _refused(rng: np.random.Generator) -> None:
    """Fit what must fail: an error must not keep the data alive."""
    X = rng.normal(size=(2000, 20))
    X[-1, -1] = np.nan
    try:
        BBLRClassifier().fit(X, np.arange(2000) % 2)
    except ValueError:
        return
    raise AssertionError("NaN was taken")


def _joint(rng: np.random.Generator) -> None:
    groups = []
    for _ in range(20):
        labels = np.eye(3, dtype=int)[rng.integers(3)]
        groups.append(Group(labels[:, None] + rng.normal(size=(3, 1)), labels=labels))
    JointModel(random_state=0).fit(groups).predict_proba(groups)


def steps(seed: int = 0, most: int = 200) -> Iterator[Callable[[], Any]]:
    """Yield one fit after the other, of all kinds in turn, to that many rows at most."""
    rng = np.random.default_rng(seed)
    models = (
        lambda: BBLRClassifier(),
        lambda: BBLRClassifier(solver="lbfgs", prior="learned"),
        lambda: BBLRClassifier(l2=0.0, random_state=0),
        lambda: BBLRClassifierCV(cv=2, l2s=(1.0,), gamma_limit=2.0, random_state=0),
        lambda: KernelBBLRClassifier(random_state=0),
        lambda: KernelBBLRClassifier(sparsity="backward", random_state=0),
        lambda: KernelBBLRClassifier(sparsity="gauss-laplace", laplace_share=0.5, random_state=0),
        lambda: KernelBBLRClassifierCV(
            cv=2, l2s=(1.0,), kernel_gammas=(0.3,), gamma_limit=1.0, prior="mild", random_state=0
        ),
        lambda: SLAClassifier(),
        lambda: ZeroOneClassifier("csa", time_limit=0.5, random_state=0),
        lambda: ZeroOneClassifier("mip", time_limit=0.2, random_state=0),
    )
    while True:
        for make in models:
            X, y = _data(rng, most)

            def fit(make: Any = make, X: Any = X, y: Any = y) -> None:
                make().fit(X, y).predict(X)

            yield fit
        yield lambda: _refused(rng)
        yield lambda: _joint(rng)


def soak(
    fits: Iterator[Callable[[], Any]],
    seconds: float,
    warm_up: float,
    rounds: int = 3,
    *,
    say: Callable[[str], None] = print,
) -> float:
    """Fit for some time; return by how many MiB the memory grew after the warm-up.

    However slow the machine, every kind of fit comes in so many rounds before the memory is
    first looked at, and in as many after it.
    """
    say(f"start: {resident_mib():.0f} MiB")
    start, count, warm, warm_at, next_word = time.monotonic(), 0, 0.0, 0, 60.0
    for step in fits:
        step()
        count += 1
        passed = time.monotonic() - start
        if not warm and passed > warm_up and count >= rounds * KINDS and count % KINDS == 0:
            warm, warm_at = resident_mib(), count
            say(f"after a warm-up of {passed:.0f} s and {count} fits: {warm:.0f} MiB")
        if passed > next_word:
            say(f"{passed:.0f} s, {count} fits: {resident_mib():.0f} MiB")
            next_word += 60.0
        if warm and passed > seconds and count >= warm_at + rounds * KINDS:
            break
    end = resident_mib()
    say(f"after {passed:.0f} s and {count} fits: {end:.0f} MiB")
    return end - warm


def main() -> int:
    """Run the soak test; return 1 where memory grew beyond the bar."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    minutes = parser.parse_args().minutes
    grown = soak(steps(), 60.0 * minutes, min(60.0, 15.0 * minutes))
    print(f"grew by {grown:.1f} MiB after the warm-up, bar {BAR_MIB:g} MiB: "
          f"{'met' if grown <= BAR_MIB else 'not met'}")  # fmt: skip
    return int(grown > BAR_MIB)


if __name__ == "__main__":
    sys.exit(main())
