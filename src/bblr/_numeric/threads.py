"""Row ranges over threads.

The kernels release the GIL, so plain Python threads run them side by side. Compared with numba's
own parallel loops this compiles faster, caches without conditions, may be entered from several
threads at once and survives a fork.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, TypeVar

import numba
from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")

# Handing a range to another thread costs some 50 microseconds, the time of 200,000 multiply-adds.
MIN_WORK = 400_000

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()


def num_threads() -> int:
    """Return how many threads a pass over the data may use.

    The count follows ``NUMBA_NUM_THREADS`` and ``OMP_NUM_THREADS``. joblib sets both in its
    process workers, so that nested parallelism does not oversubscribe the machine.
    """
    limit = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    openmp = os.environ.get("OMP_NUM_THREADS", "")
    if openmp.isdigit() and int(openmp) > 0:
        limit = min(limit, int(openmp))
    return max(1, limit)


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread(size: int) -> Any:
    """Return a context in which BLAS and LAPACK run on the calling thread alone.

    Matrices of a few hundred columns gain little from more threads, and lose a thousandfold when
    those threads wait for cores that other processes hold. Small ones get no more anyhow.

    Parameters
    ----------
    size : int
        Order of the matrices at hand.
    """
    return nullcontext() if size < 64 else _blas().limit(limits=1)


def _renew_lock() -> None:
    # A child forked while another thread held the lock would wait for it for ever.
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def _pool() -> ThreadPoolExecutor:
    # A forked child inherits the object but not its threads, hence one pool a process.
    pid = os.getpid()
    with _lock:
        pool = _pools.get(pid)
        if pool is None:
            pool = ThreadPoolExecutor(max(1, num_threads() - 1), thread_name_prefix="bblr")
            _pools.clear()
            _pools[pid] = pool
        return pool


def map_ranges(
    function: Callable[[int, int, int], Result], n: int, work: int
) -> list[Result]:
    """Call ``function(k, start, stop)`` on contiguous ranges that cover ``range(n)``.

    Parameters
    ----------
    function : callable
        Gets the number of the range and its bounds. Must release the GIL to gain anything.
    n : int
        Length of the whole range.
    work : int
        Rough number of operations of the whole call; small calls stay on the calling thread.

    Returns
    -------
    list
        The results in the order of the ranges: the same for the same number of threads.
    """
    parts = min(num_threads(), max(1, work // MIN_WORK), max(1, n))
    if parts == 1:
        return [function(0, 0, n)]
    bounds = [n * k // parts for k in range(parts + 1)]
    pool = _pool()
    futures = [pool.submit(function, k, bounds[k], bounds[k + 1]) for k in range(1, parts)]
    first = function(0, bounds[0], bounds[1])
    return [first, *(future.result() for future in futures)]
