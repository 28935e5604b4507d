"""Row ranges over threads.

The kernels release the GIL, so plain Python threads run them side by side. Compared with numba's
own parallel loops this compiles faster, caches without conditions, may be entered from several
threads at once and survives a fork.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import cache, lru_cache
from multiprocessing import current_process
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import numba
from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")

# Handing a range to another thread costs some 30 microseconds, the time of 100,000 multiply-adds.
MIN_WORK = 200_000
# Seconds to wait for ranges of a call that failed; they take milliseconds.
_PATIENCE = 5.0

_pools: dict[int, _Workers] = {}
_lock = threading.RLock()


class _Limit:
    """Who keeps BLAS to one thread at the moment, and what the limits were before."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users: dict[int, int] = {}
        self.before: list[tuple[Any, int]] = []


_limit = _Limit()


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
        Order of the matrices involved.
    """
    return nullcontext() if size < 64 else _Alone()


# Rows up to which matrices of all pairs of them gain less by more threads than these may cost.
_FEW_ROWS = 3000


def one_blas_thread_for_rows(n: int) -> Any:
    """Return the same context for work on matrices of n rows and columns, if these are few."""
    return _Alone() if n <= _FEW_ROWS else nullcontext()


class _Alone:
    """Keeps BLAS to one thread.

    The limit is the process's own. Of several threads the first sets it and the last lifts it:
    each for itself would put back what it found, and that may be the limit of another. Ctrl-C
    may come between any two steps, so each of them leaves enough behind to undo it.
    """

    def __enter__(self) -> None:
        me = threading.get_ident()
        try:
            with _limit.lock:
                if not _limit.users:
                    libraries = _blas().lib_controllers
                    _limit.before = [(library, library.num_threads) for library in libraries]
                _limit.users[me] = _limit.users.get(me, 0) + 1
                if _limit.users == {me: 1}:
                    for library, _ in _limit.before:
                        _keep_to(library, 1)
        except BaseException:
            _leave(me)
            raise

    def __exit__(self, *_: object) -> None:
        _leave(threading.get_ident())


def _keep_to(library: Any, count: int) -> None:
    library.set_num_threads(count)
    # Later versions of threadpoolctl listen to no other thread before this one says it is done.
    done = getattr(library, "clear_controlling_thread", None)
    if done is not None:
        done()


def _leave(me: int, *, altogether: bool = False) -> None:
    with _limit.lock:
        count = _limit.users.get(me, 0)
        if count > 1 and not altogether:
            _limit.users[me] = count - 1
        elif count:
            if len(_limit.users) == 1:
                for library, before in _limit.before:
                    _keep_to(library, before)
            del _limit.users[me]


def lift_limits() -> None:
    """Give BLAS its threads back where an interruption came before the calling thread could."""
    # It may even come between the end of a with statement and the release of its lock.
    for lock in (_lock, _limit.lock):
        _release(lock)
    if threading.get_ident() in _limit.users:
        _leave(threading.get_ident(), altogether=True)


def _release(lock: Any) -> None:
    """Let go of a lock as often as the calling thread holds it."""
    with suppress(RuntimeError):  # it does not, any more
        while True:
            lock.release()


def _renew_lock() -> None:
    # A child forked while another thread held the lock would wait for it for ever.
    global _lock, _limit
    _lock, _limit = threading.RLock(), _Limit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class _Range(Generic[Result]):
    """One range of a call: whoever claims it first works on it."""

    __slots__ = ("_claim", "_done", "_error", "_function", "_result", "bounds")

    def __init__(
        self, function: Callable[[int, int, int], Result], bounds: tuple[int, int, int]
    ) -> None:
        self.bounds = bounds
        self._function = function
        self._claim, self._done = threading.Lock(), threading.Lock()
        self._done.acquire()
        self._error: BaseException | None = None

    def work(self) -> None:
        """Do the work unless another thread has claimed it."""
        if not self._claim.acquire(blocking=False):
            return
        try:
            self._result = self._function(*self.bounds)
        except BaseException as error:  # handed to the thread that waits for it
            self._error = error
        finally:
            del self._function  # with it go the data that it holds, wherever this piece lies
            self._done.release()

    def result(self) -> Result:
        """Return what the work gave, done here where no thread has begun it yet."""
        self.work()
        with self._done:
            if self._error is not None:
                raise self._error
            return self._result

    def abandon(self) -> None:
        """Let nobody begin it, and wait for whoever has: it writes into arrays of the caller."""
        if self._claim.acquire(blocking=False):
            del self._function
        elif self._done.acquire(timeout=_PATIENCE):
            self._done.release()


class _Workers:
    """Threads that wait for ranges; a bare queue hands over in half the time of an executor."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.ranges: SimpleQueue[_Range[Any] | None] = SimpleQueue()
        for k in range(count):
            threading.Thread(target=self._serve, name=f"bblr_{k}", daemon=True).start()

    def _serve(self) -> None:
        while (piece := self.ranges.get()) is not None:
            piece.work()

    def stop(self) -> None:
        """End the threads once they are idle."""
        for _ in range(self.count):
            self.ranges.put(None)


def _workers() -> _Workers:
    # A forked child inherits the object but not its threads, hence one set a process.
    pid = os.getpid()
    with _lock:
        workers = _pools.get(pid)
        if workers is None:
            workers = _Workers(max(1, num_threads() - 1))
            _pools.clear()
            _pools[pid] = workers
        return workers


def map_ranges(function: Callable[[int, int, int], Result], n: int, work: int) -> list[Result]:
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
    # Little work does not even ask how many threads there are.
    enough = min(work // MIN_WORK, n)
    parts = min(num_threads(), enough) if enough > 1 else 1
    if parts == 1:
        return [function(0, 0, n)]
    bounds = [n * k // parts for k in range(parts + 1)]
    return _shared([_Range(function, (k, bounds[k], bounds[k + 1])) for k in range(parts)])


def map_each(function: Callable[[int], Result], n: int) -> list[Result]:
    """Return ``function(k)`` of each k below n, long calls that share out work of their own."""
    if num_threads() == 1:
        return [function(k) for k in range(n)]
    return _shared([_Range(lambda k, *_: function(k), (k, k, k + 1)) for k in range(n)])


def _shared(pieces: list[_Range[Result]]) -> list[Result]:
    """Work on ranges with the threads that wait for some, and return the results in order."""
    workers = _workers()
    try:
        for piece in pieces[1:]:
            workers.ranges.put(piece)
        pieces[0].work()
        # Ranges that nobody has begun are done here: where other programs hold the cores, waiting
        # for a thread to wake up would cost more. Later ranges are the likelier to be left.
        for piece in reversed(pieces):
            piece.work()
        return [piece.result() for piece in pieces]
    except BaseException:
        for piece in pieces:
            piece.abandon()
        raise


# What joblib calls processes that it starts. Those of a cluster have other parents.
_OF_JOBLIB = "LokyProcess"
# Seconds between two looks at whether a parent is still there.
_LOOK = 0.5


@cache
def end_with(parent: int) -> None:
    """End this process when another, which started it, is gone; once said, once watched.

    A process that is killed cannot tell its children, and they would wait for work for minutes.
    Windows keeps the number of a parent, and there nothing happens.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK)
        os._exit(1)

    threading.Thread(target=watch, name="bblr_parent", daemon=True).start()


def jobs_for(n_tasks: int, n_jobs: int | None) -> int | None:
    """Return `n_jobs` for as many tasks: joblib starts all workers that it is allowed."""
    return n_jobs if n_jobs is None or n_jobs < 0 else max(1, min(n_jobs, n_tasks))


def as_child(parent: int, work: Callable[..., Result], *arguments: Any) -> Result:
    """Do work that another process handed out; a child of that process then ends with it."""
    if os.getppid() == parent:
        end_with(parent)
    elif os.getpid() != parent and current_process().name.startswith(_OF_JOBLIB):
        os._exit(1)  # the parent was killed before this process had begun
    return work(*arguments)
