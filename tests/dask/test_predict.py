"""What a fitted classifier keeps when it is cloned or pickled, and lazy predictions."""

import pickle

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from bblr import BBLRClassifier
from bblr.dask import DaskBBLRClassifier
from tests.dask.parts import arrays


def test_parameters_clone_and_pickle(client, few):
    import inspect

    for kind, local in ((DaskBBLRClassifier, BBLRClassifier),):
        own = inspect.signature(kind).parameters
        theirs = inspect.signature(local).parameters
        assert set(own) == set(theirs) - {"device"} | {"client"}
        assert all(own[name].default == theirs[name].default for name in set(own) - {"client"})
    model = DaskBBLRClassifier(l2=1.0, client=client)
    twin = clone(model)
    assert twin.client is client and twin.l2 == 1.0
    assert twin.get_params()["client"] is client
    model.fit(*arrays(*few, 100))
    back = pickle.loads(pickle.dumps(model))
    assert back.client is None
    assert_allclose(back.predict_proba(few[0]), model.predict_proba(few[0]))
    assert not hasattr(clone(back), "coef_")


@pytest.mark.parametrize("data", ["few", "three"])
def test_predictions_are_lazy_and_those_of_the_local_model(client, request, data):
    X, y = request.getfixturevalue(data)
    names = np.array(["a", "bb", "ccc"])[y]
    dX, dy = arrays(X, names, 100)
    model = DaskBBLRClassifier(client=client).fit(dX, dy)
    local = model.to_local()
    assert type(local) is BBLRClassifier
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        found = getattr(model, method)(dX)
        wanted = getattr(local, method)(X)
        assert isinstance(found, da.Array)
        assert found.shape == wanted.shape and found.dtype == wanted.dtype
        assert np.array_equal(client.compute(found).result(), wanted)
        assert np.array_equal(getattr(model, method)(X), wanted)
    with client.as_current():
        assert model.score(dX, dy) == local.score(X, names)
    empty = da.from_array(X, chunks=((0, len(y)), (X.shape[1],)))
    assert client.compute(model.predict(empty)).result().tolist() == local.predict(X).tolist()
    with pytest.raises(ValueError, match="features"):
        model.predict(dX[:, :2])
