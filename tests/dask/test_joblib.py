"""The classifiers that validate in folds run on any joblib backend, with the same result."""

import contextlib
import importlib.util

import distributed
import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import dask
from bblr import BBLRClassifierCV, KernelBBLRClassifierCV

ESTIMATORS = {
    "linear": BBLRClassifierCV("mild", l2s=(1.0, 10.0), cv=2, random_state=0),
    "kernel": KernelBBLRClassifierCV(
        prior="mild", kernel_gammas=(0.1, 0.3), l2s=(1.0,), cv=2, random_state=0
    ),
}


@pytest.fixture
def backend(request):
    """A context of a joblib backend of two jobs."""
    if request.param == "dask":
        client = request.getfixturevalue("client")
        # The workers of this process make clients of their own, which others would find.
        with dask.config.set(scheduler=None):
            with client.as_current(), joblib.parallel_config("dask", n_jobs=2):
                yield
            with contextlib.suppress(ValueError):
                while True:
                    distributed.default_client().close()
    elif request.param == "ray":
        if importlib.util.find_spec("ray") is None:
            pytest.skip("ray is not installed")
        import ray
        from ray.util.joblib import register_ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        register_ray()
        with joblib.parallel_config("ray", n_jobs=2):
            yield
        ray.shutdown()
    else:
        with joblib.parallel_config(request.param, n_jobs=2):
            yield


@pytest.mark.parametrize("backend", ["threading", "loky", "dask", "ray"], indirect=True)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_any_backend_gives_the_same(few, backend, name):
    X, y = few[0][:120], few[1][:120]
    model = clone(ESTIMATORS[name]).fit(X, y)
    with joblib.parallel_config("sequential"):
        alone = clone(ESTIMATORS[name]).fit(X, y)
    assert [trial.path for trial in model.trials_] == [trial.path for trial in alone.trials_]
    assert np.array_equal(model.predict(X), alone.predict(X))
    assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=1e-9)
