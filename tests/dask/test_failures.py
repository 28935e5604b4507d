"""What is lost, wrong or missing: the fit goes on, or says what happened."""

import os
import pickle
import signal

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import dask
from bblr import BBLRClassifier
from bblr.dask import DaskBBLRClassifier, DaskBBLRClassifierCV
from bblr.designs.dask import Session, actors

# A worker that is killed leaves messages behind, and sockets.
LOUD = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def arrays(X, y, chunk):
    return da.from_array(X, chunks=(chunk, -1)), da.from_array(y, chunks=chunk)


def cluster_of(n_workers, **settings):
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", **settings
    )


@pytest.fixture
def environment():
    """Put the environment back: Dask sets OMP_NUM_THREADS=1 for its workers, and here."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def at_call(monkeypatch):
    """Do something before the n-th call of a name to the workers."""

    def at_call(name, n, action):
        seen = []
        call = Session.call

        def spied(self, called, *args, **options):
            if called.endswith(name):
                seen.append(called)
                if len(seen) == n:
                    action()
            return call(self, called, *args, **options)

        monkeypatch.setattr(Session, "call", spied)

    return at_call


@pytest.mark.parametrize("mark", [pytest.param(0, marks=LOUD)])
def test_a_killed_worker_changes_nothing(rows, at_call, environment, mark):
    from distributed import Client

    local = BBLRClassifier().fit(*rows)
    with cluster_of(2, processes=True) as cluster, Client(cluster) as client:
        pids = client.run(os.getpid)
        X, y = arrays(*rows, 2_000)
        # Persisted on the workers: what was there is computed anew.
        X, y = X.persist(), y.persist()
        killed = []

        def kill():
            # One that holds something of X.
            held = {w for workers in client.who_has(X).values() for w in workers}
            killed.append(sorted(held)[0])
            os.kill(pids[killed[0]], signal.SIGKILL)

        # In the middle of a step: the scores of this point are lost as well.
        at_call("sampled_curvature", 3, kill)
        model = DaskBBLRClassifier(client=client).fit(X, y)
        assert killed
        assert until_released(client), held(client)
    assert_allclose(
        [stage.value for stage in model.path_], [stage.value for stage in local.path_], rtol=1e-8
    )


@pytest.mark.parametrize("mark", [pytest.param(0, marks=LOUD)])
def test_a_lost_scheduler_is_an_error_that_says_so(few, at_call, mark):
    from distributed import Client

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        cluster_of(1, processes=False) as cluster,
        Client(cluster) as client,
    ):
        at_call(".value_gradient", 3, lambda: cluster.sync(cluster.scheduler.close))
        model = DaskBBLRClassifier(client=client)
        with pytest.raises(ConnectionError, match=r"lost the scheduler .* fit again"):
            model.fit(*arrays(*few, 100))
        assert not hasattr(model, "coef_")
        with pytest.raises(ConnectionError, match="not connected"):
            model.fit(*arrays(*few, 100))


def test_no_workers(few, monkeypatch):
    from distributed import Client

    monkeypatch.setattr(actors, "PATIENCE", 0.3)
    with (
        cluster_of(0, processes=False) as cluster,
        Client(cluster) as client,
        pytest.raises(RuntimeError, match=r"no workers for .* cluster.scale"),
    ):
        DaskBBLRClassifier(client=client).fit(*arrays(*few, 100))


def test_a_worker_added_in_the_middle_of_a_fit(few, at_call):
    from distributed import Client

    with cluster_of(1, processes=False) as cluster, Client(cluster) as client:
        at_call(".value_gradient", 3, lambda: (cluster.scale(2), client.wait_for_workers(2)))
        model = DaskBBLRClassifier(client=client).fit(*arrays(*few, 100))
    assert_allclose(model.path_[-1].value, BBLRClassifier().fit(*few).path_[-1].value, rtol=1e-8)


def broken_at(n, X, error):
    """X as an array whose block n cannot be read."""

    def read(block, block_info=None):
        if block_info[0]["chunk-location"][0] == n:
            raise error
        return block

    return da.map_blocks(read, X, dtype=X.dtype, meta=np.empty((0, 0)))


def test_a_partition_that_cannot_be_read_is_named(client, few):
    X, y = arrays(*few, 50)
    X = broken_at(3, X, OSError("disk on fire"))
    with pytest.raises(RuntimeError, match=r"partition 3 .*cannot be read: OSError: disk on fire"):
        DaskBBLRClassifier(client=client).fit(X, y)


def with_value(X, row, value):
    X = X.copy()
    X[row] = value
    return X


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (with_value(X, 170, np.nan), y), "partition 3 .* X contains NaN"),
        (lambda X, y: (X, with_value(y.astype(float), 70, np.nan)), "partition 1 .* y contains"),
        (lambda X, y: (X, np.zeros(300)), "one class only"),
        (lambda X, y: (X, np.array(["a", 1] * 150, dtype=object)), "labels of one kind"),
        (lambda X, y: (X, X[:, 0]), "Unknown label type: continuous"),
        (lambda X, y: (X.astype(complex), y), "must hold real numbers"),
    ],
    ids=["X", "y", "one class", "mixed", "regression", "complex"],
)
def test_bad_values_are_named_with_their_partition(client, few, change, message):
    X, y = change(*few)
    with pytest.raises(ValueError, match=message):
        DaskBBLRClassifier(client=client).fit(*arrays(X, y, 50))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(300), "every weight is zero"),
        (np.full(300, -1.0), "Negative values in sample_weight"),
        (np.full(300, np.inf), "sample_weight contains infinity"),
        (np.ones(299), "sample_weight .* 299"),
    ],
    ids=["zero", "negative", "infinite", "short"],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_bad_weights(client, few, weight, message, lazy):
    X, y = arrays(*few, 50)
    weight = da.from_array(weight, chunks=50) if lazy else weight
    with pytest.raises(ValueError, match=message):
        DaskBBLRClassifier(client=client).fit(X, y, weight)


def test_partitions_that_do_not_match(client, few):
    X, y = arrays(*few, 50)
    unknown = X[X[:, 0] > 0]
    with pytest.raises(ValueError, match="X has 6 partitions, y has 3"):
        DaskBBLRClassifier(client=client).fit(unknown, y.rechunk(100))
    with pytest.raises(ValueError, match=r"partition 0 .*y has 50 rows here, X has"):
        DaskBBLRClassifier(client=client).fit(unknown, y)
    with pytest.raises(ValueError, match="300 rows of X, got 250"):
        DaskBBLRClassifier(client=client).fit(X, y[:250])
    with pytest.raises(ValueError, match="X has 300 rows, y has 250"):
        DaskBBLRClassifier(client=client).fit(X, few[1][:250])


def test_columns_that_are_not_numbers(client, few):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(few[0][:, :2], columns=["a", "b"])
    frame["kind"] = pd.Categorical(["x", "y", "z"] * 100)
    with pytest.raises(ValueError, match=r"kind \(category\)\. Encode"):
        DaskBBLRClassifier(client=client).fit(dd.from_pandas(frame, npartitions=2), few[1])


def test_data_in_memory_are_refused_with_the_remedy(client, few):
    with pytest.raises(TypeError, match=r"use bblr\.BBLRClassifierCV, or dask"):
        DaskBBLRClassifierCV(client=client).fit(*few)
    with pytest.raises(ValueError, match="requires y"):
        DaskBBLRClassifier(client=client).fit(arrays(*few, 100)[0], None)


def test_clients_that_will_not_do(few, monkeypatch):
    with pytest.raises(RuntimeError, match="no Dask client"):
        DaskBBLRClassifier().fit(*arrays(*few, 100))
    with pytest.raises(TypeError, match=r"must be a distributed\.Client"):
        DaskBBLRClassifier(client="tcp://somewhere").fit(*arrays(*few, 100))


def test_an_asynchronous_client_is_refused(few):
    from distributed import Client
    from distributed.utils_test import gen_test

    @gen_test()
    async def attempt():
        async with Client(
            processes=False, asynchronous=True, dashboard_address=":0", set_as_default=False
        ) as client:
            with pytest.raises(TypeError, match="asynchronous"):
                DaskBBLRClassifier(client=client).fit(*arrays(*few, 100))

    attempt()


def test_a_fit_inside_a_task_is_refused(client, few):
    def inside():
        DaskBBLRClassifier().fit(*arrays(*few, 100))

    with pytest.raises(RuntimeError, match="inside a Dask task"):
        client.submit(inside, pure=False).result()


def held(client):
    """What workers hold for anybody: keys and actors."""
    return client.run_on_scheduler(
        lambda dask_scheduler: (
            sum(len(w.actors) for w in dask_scheduler.workers.values()),
            [key for key in dask_scheduler.tasks if "bblr" in str(key)],
        )
    )


def until_released(client):
    """Ask until the scheduler has heard of what was let go."""
    for _ in range(200):
        if held(client) == (0, []):
            return True
        dask.delayed(lambda: None, pure=False)().compute(scheduler=client)
    return False


def test_nothing_is_left_behind(client, few):
    model = DaskBBLRClassifier(client=client)
    for _ in range(2):
        model.fit(*arrays(*few, 100))
    assert until_released(client), held(client)
    with pytest.raises(RuntimeError, match="cannot be read") as unread:
        model.fit(broken_at(1, arrays(*few, 100)[0], OSError("no")), few[1])
    assert until_released(client), held(client)
    assert unread.tb is not None

    class Interrupting:
        def minimise(self, objective, theta0, **_):
            objective.value_gradient(theta0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        DaskBBLRClassifier(solver=Interrupting(), client=client).fit(*arrays(*few, 100))
    assert until_released(client), held(client)
    assert caught.tb is not None  # what it holds on to does not matter


def test_vectors_nobody_holds_are_dropped(client, few):
    from bblr.designs.dask import partition

    kept = []

    class Looking:
        def minimise(self, objective, theta0, **_):
            for _ in range(20):
                objective.value_gradient(theta0)
            name = objective.rows.session.name
            own = [part for (of, _), part in partition._here.items() if of == name]
            kept.extend(len(part.vectors) for part in own)
            return BBLRClassifierDescent.minimise(objective, theta0)

    from bblr.solvers import FisherScoring

    BBLRClassifierDescent = FisherScoring()
    DaskBBLRClassifier(solver=Looking(), client=client).fit(*arrays(*few, 100))
    assert kept and max(kept) <= 6


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
