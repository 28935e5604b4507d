"""What is lost, wrong or missing: the fit goes on, or says what happened."""

import os
import signal

import pytest
from numpy.testing import assert_allclose

import dask
from bblr import BBLRClassifier
from bblr.dask import DaskBBLRClassifier
from bblr.designs.dask import Session, actors
from tests.dask.parts import arrays, broken_at

# A worker that is killed leaves messages behind, and sockets.
LOUD = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


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
