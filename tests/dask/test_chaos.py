"""All workers are killed at once and come back under other addresses: the fit goes on."""

import os
import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bblr import BBLRClassifier, BBLRClassifierCV
from bblr.dask import DaskBBLRClassifier, DaskBBLRClassifierCV
from bblr.designs.dask import Session, actors
from tests.dask.parts import arrays

# Workers that are killed leave messages behind, and sockets.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs Unix signals"),
]


@pytest.fixture
def processes():
    """A cluster for each test: a nanny lets a worker that dies right after its start be."""
    from distributed import Client, LocalCluster

    before = dict(os.environ)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def kill_all(processes):
    """Kill all workers, once, and see that none is left before their nannies start others."""
    processes.wait_for_workers(2, timeout=60)
    pids = list(processes.run(os.getpid).values())
    killed = []

    def kill_all():
        if not killed:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            killed.extend(pids)

    yield kill_all
    assert killed


def slowly(block):
    time.sleep(0.1)
    return block


@pytest.mark.parametrize("persisted", [False, True], ids=["read", "persisted"])
def test_while_rows_load(persisted, processes, kill_all, few, monkeypatch):
    wait = actors.Actors._wait

    def killing(self, futures):
        kill_all()
        wait(self, futures)

    monkeypatch.setattr(actors.Actors, "_wait", killing)
    X, y = arrays(*few, 30)
    X = X.map_blocks(slowly, dtype=X.dtype, meta=np.empty((0, 4)))
    if persisted:
        X, y = processes.persist([X, y])
    model = DaskBBLRClassifier(client=processes).fit(X, y)
    local = BBLRClassifier().fit(*few)
    assert_allclose(model.path_[-1].value, local.path_[-1].value, rtol=1e-8)


def test_while_folds_are_fitted(processes, kill_all, few, monkeypatch):
    call, seen = Session.call, []

    def killing(self, name, *args, **options):
        seen.append(name)
        if len(seen) == 40:
            kill_all()
        return call(self, name, *args, **options)

    monkeypatch.setattr(Session, "call", killing)
    model = DaskBBLRClassifierCV(cv=2, random_state=0, client=processes).fit(*arrays(*few, 100))
    local = BBLRClassifierCV(cv=2, random_state=0).fit(*few)
    assert len(seen) > 40
    assert_allclose(model.coef_, local.coef_, rtol=1e-6)


def test_where_none_come_back(client, few, monkeypatch):
    """The promised error, after the promised time."""
    wait = actors.Actors._wait

    def losing(self, futures):
        monkeypatch.setattr(actors.Actors, "_workers", lambda self: {})
        wait(self, [*futures, self.client.submit(time.sleep, 3.0, pure=False)])

    monkeypatch.setattr(actors, "PATIENCE", 0.5)
    monkeypatch.setattr(actors.Actors, "_wait", losing)
    with pytest.raises(RuntimeError, match=r"no workers for .* cluster.scale"):
        DaskBBLRClassifier(client=client).fit(*arrays(*few, 100))
