"""Ctrl-C: the best so far or the state before, nothing in between, and nothing left over."""

import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import make_moons
from threadpoolctl import ThreadpoolController

import bblr
from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    SLAClassifier,
    ZeroOneClassifier,
)
from bblr._numeric import threads
from bblr._numeric.threads import map_ranges, one_blas_thread
from bblr.solvers import FisherScoring
from bblr.solvers.zero_one import Progress

PACKAGE = str(Path(bblr.__file__).parent)
CASES = {
    "linear": BBLRClassifier(),
    "learned": BBLRClassifier(prior="learned"),
    "search": BBLRClassifier(l2=1e-3, random_state=0),
    "cv": BBLRClassifierCV(cv=2, l2s=(1.0,), random_state=0),
    "kernel": KernelBBLRClassifier(gamma_max=4),
    "backward": KernelBBLRClassifier(sparsity="backward", max_vectors=8, random_state=0),
    "kernel-cv": KernelBBLRClassifierCV(
        cv=2, kernel_gammas=(1.0,), l2s=(0.3,), prior="mild", random_state=0
    ),
    "sla": SLAClassifier(),
    "zero-one": ZeroOneClassifier(random_state=0),
    "zero-one-sla": ZeroOneClassifier("sla", random_state=0),
    "mip": ZeroOneClassifier("mip", max_steps=5, random_state=0),
}


@pytest.fixture(scope="module")
def moons():
    return make_moons(100, noise=0.25, random_state=0)


def _world():
    """What a fit must leave as it was, whatever happens to it."""
    blas = tuple(library["num_threads"] for library in ThreadpoolController().info())
    return tuple(warnings.filters), sklearn.get_config(), blas, dict(threads._limit.users)


def _check(model, before, error, X):
    """A model is what it was, or it keeps a best so far and says so."""
    if getattr(error, "kept_by", None) is model:
        note = error.__notes__[0]
        assert np.isfinite(model.decision_function(X)).all()
        assert set(model.predict(X)) <= set(model.classes_)
        reason = model.path_[-1].reason if hasattr(model, "path_") else model.reason_
        assert note.endswith("keeps the finished fit.") or (
            note.endswith("keeps the best so far.") and "interrupted" in reason
        )
        return True
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    return False


class Pressed:
    """Presses Ctrl-C at the end of one task of a fit."""

    def __init__(self, at):
        self.at, self.count = at, 0

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        self.count += 1
        if self.count == self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_at_each_task(case, moons, monkeypatch):
    pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")
    # No steps by the clock, which would be more while code is compiled.
    monkeypatch.setattr("bblr.solvers.zero_one.progress._QUIET", np.inf)
    X, y = moons
    calm = clone(CASES[case]).set_callbacks(counter := Pressed(0)).fit(X, y)
    expected, world = calm.decision_function(X), _world()
    # Every task of a short fit, some of a long one, the last ones among them.
    places = {*np.linspace(1, counter.count, 9).astype(int), counter.count - 1}
    kept = []
    for at in sorted(places):
        model = clone(CASES[case])
        if at % 2:
            model.fit(X[::2], y[::2])
        model.set_callbacks(Pressed(at))
        before = dict(vars(model))
        with pytest.raises(KeyboardInterrupt) as caught:
            model.fit(X, y)
        kept.append(_check(model, before, caught.value, X))
        assert _world() == world
        again = model.set_callbacks().fit(X, y)
        np.testing.assert_array_equal(again.decision_function(X), expected)
    assert kept == sorted(kept)  # from some task on there is something to keep
    assert kept[-1]


class Impatient:
    """Fisher scoring, until the user has had enough of it."""

    def __init__(self, stages, compiled=False):
        self.stages, self.compiled = stages, compiled

    def minimise(self, objective, theta0, **_):
        if self.stages == 0 and self.compiled:
            # What compiled code makes of it while it returns an array.
            try:
                raise SystemError("inner") from KeyboardInterrupt()
            except SystemError as error:
                raise SystemError("returned a result with an exception set") from error
        if self.stages == 0:
            signal.raise_signal(signal.SIGINT)
        self.stages -= 1
        return FisherScoring().minimise(objective, theta0)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("stages", [0, 1, 2, 3])
def test_stages_that_are_complete_are_kept(stages, compiled, moons):
    X, y = moons
    model = BBLRClassifier("robust", l2=3.0, solver=Impatient(stages, compiled))
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert _check(model, before, caught.value, X) is (stages > 0)
    if stages:
        assert [stage.gamma for stage in model.path_] == [1.0, 2.0, 4.0][:stages]
        assert model.path_[-1].reason.endswith("then interrupted")
        gammas = {"gamma_max": model.gamma_}
        whole = BBLRClassifier("robust", l2=3.0, solver=Impatient(-1), **gammas).fit(X, y)
        np.testing.assert_array_equal(model.coef_, whole.coef_)


def test_a_second_ctrl_c_brings_back_what_was_before(monkeypatch, moons):
    X, y = moons
    model = BBLRClassifier("robust", l2=3.0, solver=Impatient(2))

    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(BBLRClassifier, "_unpack", press)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert not _check(model, {**model.get_params()}, caught.value, X)


def test_an_estimator_inside_another_keeps_only_its_own(moons):
    from bblr._checks import all_or_nothing

    class Outer:
        def __init__(self, inner):
            self.inner = inner

        @all_or_nothing
        def fit(self, X, y):
            self.half = True
            self.inner.fit(X, y)

    outer = Outer(BBLRClassifier("robust", l2=3.0, solver=Impatient(2)))
    with pytest.raises(KeyboardInterrupt):
        outer.fit(*moons)
    assert set(vars(outer)) == {"inner"}
    assert outer.inner.gamma_ == 2.0


class Lines:
    """Counts the lines of the package that a fit runs, and presses Ctrl-C before one of them.

    A timer would also press in the middle of others' code, some of which swallows what it does not
    expect, and at other moments on each machine.
    """

    def __init__(self, at=0):
        self.at, self.count = at, 0

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_):
        sys.settrace(self.before)

    def _call(self, frame, event, arg):
        return self._line if frame.f_code.co_filename.startswith(PACKAGE) else None

    def _line(self, frame, event, arg):
        if event == "line":
            self.count += 1
            if self.count == self.at:
                raise KeyboardInterrupt
        return self._line


@pytest.mark.parametrize("case", ["linear", "learned", "kernel", "backward"])
def test_ctrl_c_before_any_line(case, moons):
    X, y = moons
    expected = clone(CASES[case]).fit(X, y).decision_function(X)
    calm = clone(CASES[case])
    with Lines() as lines:
        calm.fit(X, y)
    world = _world()
    ends = np.arange(lines.count - 3, lines.count + 1)
    for at in [1, *np.random.default_rng(0).integers(2, lines.count, 12), *ends]:
        model = clone(CASES[case])
        before = dict(vars(model))
        with pytest.raises(KeyboardInterrupt) as caught, Lines(at):
            model.fit(X, y)
        _check(model, before, caught.value, X)
        assert _world() == world, at
        again = model.fit(X, y)
        np.testing.assert_array_equal(again.decision_function(X), expected)


def test_ranges_of_a_call_that_failed_are_done_or_never_begun(monkeypatch):
    monkeypatch.setattr(threads, "num_threads", lambda: 3)
    monkeypatch.setattr(threads, "_pools", {})
    begun, ended, go = [], [], threading.Event()

    def part(k, start, stop):
        if threading.current_thread() is threading.main_thread():
            go.wait(5)
            raise KeyboardInterrupt
        begun.append(k)
        go.set()
        time.sleep(0.2)
        ended.append(k)

    with pytest.raises(KeyboardInterrupt):
        map_ranges(part, 1000, 10**9)
    assert sorted(begun) == sorted(ended)
    time.sleep(0.3)
    assert sorted(begun) == sorted(ended)
    assert map_ranges(lambda k, *_: k, 1000, 10**9) == [0, 1, 2]
    for workers in threads._pools.values():
        workers.stop()


@pytest.mark.parametrize("where", ["num_threads", "users", "exit"])
def test_blas_gets_its_threads_back(where, monkeypatch):
    libraries = threads._blas().lib_controllers
    if not libraries:
        pytest.skip("no BLAS whose threads can be counted")
    before = [library.num_threads for library in libraries]

    def press(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        if where == "num_threads":
            patch.setattr(type(libraries[0]), "set_num_threads", press)
        if where == "users":
            with one_blas_thread(100):
                raise KeyboardInterrupt
        if where == "exit":  # as if it came before the first step of leaving
            patch.setattr(threads._Alone, "__exit__", press)
        with one_blas_thread(100):
            pass
    threads.lift_limits()
    assert threads._limit.users == {}
    assert [library.num_threads for library in libraries] == before


def test_walks_in_threads_end_before_long(moons):
    X, y = moons
    running = threading.active_count()
    seen = []

    class Pressing(Progress):
        @property
        def expired(self):
            seen.append(threading.current_thread())
            if threading.current_thread() is not threading.main_thread() and len(seen) >= 40:
                raise KeyboardInterrupt  # as a walk would hand it on
            return super().expired

    from bblr.zero_one import zero_one_classifier as zero_one

    model = ZeroOneClassifier(random_state=0, time_limit=None)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt) as caught:
        patch.setattr(zero_one, "Progress", Pressing)
        model.fit(X, y)
    assert _check(model, {}, caught.value, X)
    assert threading.active_count() <= running
    assert model.zero_one_loss_ == np.sum(model.predict(X) != y)


LONG = """
    import sys, numpy as np
    from bblr import {names}
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6)); y = (X[:, 0] + rng.standard_normal(400) > 0).astype(int)
    model = {model}
    print("ready", flush=True)
    try:
        while True:
            model.fit(X, y)
    except KeyboardInterrupt:
        if hasattr(model, "classes_"):
            assert np.isfinite(model.decision_function(X)).all()
        raise
"""


@pytest.mark.parametrize(
    ("names", "model"),
    [
        ("BBLRClassifier", "BBLRClassifier()"),
        ("BBLRClassifierCV", "BBLRClassifierCV(cv=2, n_jobs=2)"),
        ("ZeroOneClassifier", "ZeroOneClassifier('mip', time_limit=None)"),
    ],
)
def test_a_script_ends_as_python_does_after_ctrl_c(names, model):
    code = textwrap.dedent(LONG.format(names=names, model=model))
    with subprocess.Popen([sys.executable, "-c", code], stdout=-1, stderr=-1, text=True) as run:
        assert run.stdout.readline() == "ready\n"
        time.sleep(2.0)
        run.send_signal(signal.SIGINT)
        _, error = run.communicate(timeout=60)
    assert "KeyboardInterrupt" in error and "AssertionError" not in error
    assert run.returncode == -signal.SIGINT
