"""Fits from several threads, and on any number of jobs: the same bits as one after the other."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    SLAClassifier,
    ZeroOneClassifier,
)
from bblr._numeric import threads


def data(seed, n=150, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


MODELS = [
    lambda: BBLRClassifier(),
    lambda: BBLRClassifier(solver="lbfgs", prior="learned"),
    lambda: BBLRClassifierCV("mild", cv=2, l2s=(1.0, 10.0), gamma_limit=1.0, random_state=0),
    lambda: KernelBBLRClassifier(random_state=0),
    lambda: KernelBBLRClassifier(sparsity="backward", random_state=0),
    lambda: KernelBBLRClassifierCV(
        cv=2, l2s=(1.0,), kernel_gammas=(0.1, 0.3), gamma_limit=1.0, prior="mild", random_state=0
    ),
    lambda: SLAClassifier(),
    lambda: ZeroOneClassifier("csa", random_state=0),
]


def scores(k):
    X, y = data(k, 80)
    return MODELS[k % len(MODELS)]().fit(X, y).decision_function(X)


def test_eight_fits_at_once_are_those_of_one_after_the_other():
    alone = [scores(k) for k in range(16)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(scores, range(16)))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


def test_one_model_predicts_from_many_threads():
    X, y = data(0, 4000, 20)
    model = BBLRClassifier().fit(X, y)
    expected = model.predict_proba(X)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: model.predict_proba(X), range(16)):
            np.testing.assert_array_equal(found, expected)


def test_kernel_models_say_the_same_in_any_thread():
    """A limit that another thread sets to BLAS changed the last bits of predictions."""
    X, y = data(4, 700, 5)
    model = KernelBBLRClassifier(random_state=0).fit(X, y)
    expected = model.decision_function(X)
    with threadpool_limits(2, user_api="blas"):
        np.testing.assert_array_equal(model.decision_function(X), expected)
    with threadpool_limits(1, user_api="blas"):
        np.testing.assert_array_equal(model.decision_function(X), expected)


def test_fits_on_threads_of_their_own_run_side_by_side():
    # Large enough for passes on several threads, which all fits share.
    X, y = data(1, 60_000, 12)
    alone = [BBLRClassifier(l2=l2).fit(X, y).coef_ for l2 in (1.0, 3.0)]
    with ThreadPoolExecutor(8) as pool:
        together = list(
            pool.map(lambda k: BBLRClassifier(l2=(1.0, 3.0)[k % 2]).fit(X, y).coef_, range(8))
        )
    for k, coef in enumerate(together):
        np.testing.assert_array_equal(coef, alone[k % 2])


@pytest.mark.parametrize(
    "make",
    [
        lambda n: BBLRClassifierCV("mild", cv=2, l2s=(1.0, 10.0), n_jobs=n, random_state=0),
        lambda n: KernelBBLRClassifierCV(
            cv=2,
            l2s=(1.0,),
            kernel_gammas=(0.1, 0.3),
            gamma_limit=1.0,
            prior="mild",
            n_jobs=n,
            random_state=0,
        ),
        lambda n: ZeroOneClassifier("search", n_jobs=n, random_state=0),
    ],
    ids=["linear", "kernel", "zero-one"],
)
def test_the_number_of_jobs_changes_no_bit(make):
    X, y = data(2, 60, 3)
    alone = make(1).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(make(2).fit(X, y).decision_function(X), alone)


def test_the_number_of_threads_changes_digits_only(monkeypatch):
    # Sums of ranges are added in their order: the same bits for as many threads.
    X, y = data(3, 60_000, 12)
    found = {}
    for count in (1, 2, 3, 2):
        monkeypatch.setattr(threads, "num_threads", lambda count=count: count)
        coef = BBLRClassifier().fit(X, y).coef_
        np.testing.assert_array_equal(found.setdefault(count, coef), coef)
    np.testing.assert_allclose(found[2], found[1], rtol=1e-6)
    np.testing.assert_allclose(found[3], found[1], rtol=1e-6)
