"""Row ranges over threads: every index once, in order, from anywhere."""

import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from bblr import KernelBBLRClassifier
from bblr._numeric import threads
from bblr._numeric.threads import MIN_WORK, map_each, map_ranges, num_threads

PLENTY = 10**9


@pytest.fixture(params=[1, 2, 3, 7])
def count(request, monkeypatch):
    monkeypatch.setattr(threads, "num_threads", lambda: request.param)
    monkeypatch.setattr(threads, "_pools", {})
    yield request.param
    for workers in threads._pools.values():
        workers.stop()


@pytest.mark.parametrize("n", [0, 1, 2, 5, 6, 7, 100, 1001])
def test_every_index_once_and_in_order(count, n):
    calls = map_ranges(lambda k, start, stop: (k, start, stop), n, PLENTY)
    assert [k for k, _, _ in calls] == list(range(len(calls)))
    assert [i for _, start, stop in calls for i in range(start, stop)] == list(range(n))
    assert len(calls) == min(count, max(n, 1))


def test_small_work_stays_on_the_calling_thread(count):
    where = map_ranges(lambda *_: threading.get_ident(), 1000, MIN_WORK - 1)
    assert where == [threading.get_ident()]


def test_large_work_uses_other_threads(count):
    # All ranges meet at a barrier: they could not if two of them shared a thread.
    barrier = threading.Barrier(count, timeout=20)
    where = map_ranges(lambda *_: (barrier.wait(), threading.get_ident())[1], 1000, PLENTY)
    assert len(set(where)) == count


def test_long_calls_share_out_work_of_their_own(count):
    def call(k):
        parts = map_ranges(lambda _, start, stop: list(range(start, stop)), 100, PLENTY)
        return k, [i for part in parts for i in part]

    assert map_each(call, 5) == [(k, list(range(100))) for k in range(5)]


def test_exceptions_of_long_calls_reach_the_caller(count):
    def call(k):
        if k == 2:
            raise ZeroDivisionError(f"call {k}")

    with pytest.raises(ZeroDivisionError, match="call 2"):
        map_each(call, 3)


@pytest.mark.parametrize("which", ["first", "last"])
def test_exceptions_reach_the_caller(count, which):
    def part(k, start, stop):
        if k == (0 if which == "first" else count - 1):
            raise ZeroDivisionError(f"range {k}")

    with pytest.raises(ZeroDivisionError, match="range"):
        map_ranges(part, 1000, PLENTY)
    assert len(map_ranges(lambda *_: 1, 1000, PLENTY)) == count


def test_several_threads_at_once(count):
    def caller(seed):
        for n in range(seed, seed + 20):
            parts = map_ranges(lambda _, start, stop: sum(range(start, stop)), n, PLENTY)
            assert sum(parts) == n * (n - 1) // 2
        return True

    with ThreadPoolExecutor(6) as callers:
        assert all(callers.map(caller, range(1, 200, 20), timeout=60))


def test_a_range_that_nobody_has_begun_is_done_by_the_caller(monkeypatch):
    """Threads that others keep waiting must not hold up a pass; nor may a range inside a range."""
    monkeypatch.setattr(threads, "num_threads", lambda: 2)
    monkeypatch.setattr(threads, "_pools", {})
    busy = threading.Event()
    threads._workers().ranges.put(threads._Range(lambda *_: busy.wait(20), (0, 0, 0)))
    try:
        nested = map_ranges(lambda *_: map_ranges(lambda *_: 1, 9, PLENTY), 9, PLENTY)
        assert nested == [[1, 1], [1, 1]]
    finally:
        busy.set()
        threads._workers().stop()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "while-locked"])
def test_after_a_fork(count, busy):
    """The child inherits the pool without its threads, and perhaps a lock nobody will release."""
    if busy and count != 2:
        pytest.skip("one count suffices")
    map_ranges(lambda *_: None, 1000, PLENTY)
    if busy:
        threads._lock.acquire()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            worker = threading.Thread(
                target=lambda: os._exit(
                    map_ranges(lambda _, a, b: b - a, 1000, PLENTY)
                    != [1000 * (k + 1) // count - 1000 * k // count for k in range(count)]
                ),
                daemon=True,
            )
            worker.start()
            worker.join(5)
            os._exit(2)
    finally:
        if busy:
            threads._lock.release()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    ("openmp", "expected"), [(None, 3), ("2", 2), ("9", 3), ("0", 3), ("", 3), ("lots", 3)]
)
def test_the_count_follows_the_environment(monkeypatch, openmp, expected):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 3)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if openmp is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", openmp)
    assert num_threads() == expected


def test_there_is_at_least_one_thread():
    assert num_threads() >= 1


def counts():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def two_blas_threads():
    libraries = threads._blas().lib_controllers
    before = [library.num_threads for library in libraries]
    for library in libraries:
        threads._keep_to(library, 2)
    yield
    for library, count in zip(libraries, before, strict=True):
        threads._keep_to(library, count)


def test_blas_keeps_to_one_thread_whichever_thread_asks(two_blas_threads):
    def asked():
        with threads.one_blas_thread(100):
            return counts()

    before = counts()
    with ThreadPoolExecutor(1) as pool:
        assert set(asked()) == {1} and counts() == before
        assert set(pool.submit(asked).result()) == {1} and counts() == before
        # The first sets the limit and the last lifts it; they need not be the same.
        first, last = threads.one_blas_thread(100), threads.one_blas_thread(100)
        first.__enter__()
        pool.submit(last.__enter__).result()
        first.__exit__(None, None, None)
        assert set(counts()) == {1}
        pool.submit(last.__exit__, None, None, None).result()
    assert counts() == before


def test_a_kernel_fit_has_the_same_bits_in_any_thread(two_blas_threads):
    X = np.random.default_rng(0).standard_normal((320, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)

    def fitted():
        return KernelBBLRClassifier(random_state=0).fit(X, y).decision_function(X)

    here = fitted()
    with ThreadPoolExecutor(1) as pool:
        np.testing.assert_array_equal(pool.submit(fitted).result(), here)


def test_blas_gets_its_threads_back_from_several_users():
    before = counts()
    first, second = threads.one_blas_thread(100), threads.one_blas_thread(100)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(counts()) == {1}
    second.__exit__(None, None, None)
    assert counts() == before
