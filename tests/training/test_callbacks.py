"""scikit-learn's callbacks: nested tasks, fitted estimators on the way, an early end."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    SLAClassifier,
    ZeroOneClassifier,
)
from bblr.training import sampled as _sampled
from bblr.training.callbacks import FitTask

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")


class Recorder:
    """Notes what it hears, and asks for an end after some task."""

    def __init__(self, stop=None):
        self.stop = stop
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append(("setup", (), None))

    def teardown(self, estimator, context):
        self.heard.append(("teardown", (), None))

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(("begin", _path(context), context.max_subtasks))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        known = fitted_estimator is not None and X is not None
        score = fitted_estimator.score(X, y) if known else None
        self.heard.append(("end", _path(context), score))
        return context.task_name == self.stop

    def names(self, depth=1):
        ended = [path for what, path, _ in self.heard if what == "end"]
        return [path[-1][0] for path in ended if len(path) == depth + 1]


def _path(context):
    own = ((context.task_name, context.task_id),)
    return own if context.parent is None else _path(context.parent) + own


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.25, random_state=0)


CASES = {
    "linear": BBLRClassifier("robust", l2=3.0),
    "default": BBLRClassifier(),
    "learned": BBLRClassifier(prior="learned"),
    "search": BBLRClassifier(l2=1e-3, random_state=0),
    "cv": BBLRClassifierCV(cv=2, l2s=(1.0, 10.0), random_state=0),
    "cv-learned": BBLRClassifierCV(cv=2, l2s=(1.0,), prior="learned", random_state=0),
    "kernel": KernelBBLRClassifier(gamma_max=4),
    "kernel-learned": KernelBBLRClassifier(prior="learned", random_state=0),
    "backward": KernelBBLRClassifier(sparsity="backward", max_vectors=8, random_state=0),
    "rise": KernelBBLRClassifier(sparsity="backward", random_state=0),
    "mixture": KernelBBLRClassifier(sparsity="gauss-laplace", random_state=0),
    "kernel-cv": KernelBBLRClassifierCV(
        cv=2, kernel_gammas=(1.0,), l2s=(0.3,), sparsity="backward", random_state=0
    ),
    "sla": SLAClassifier(),
    "zero-one": ZeroOneClassifier(random_state=0),
    "zero-one-sla": ZeroOneClassifier("sla", random_state=0),
    "bnb": ZeroOneClassifier("bnb", max_steps=300, random_state=0),
    "mip": ZeroOneClassifier("mip", max_steps=20, random_state=0),
}
every_case = pytest.mark.parametrize("case", CASES)


@every_case
def test_tasks_nest_and_what_is_heard_changes_nothing(case, moons):
    X, y = moons
    alone = clone(CASES[case]).fit(X, y)
    heard = Recorder()
    model = clone(CASES[case]).set_callbacks(heard).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    assert set(vars(model)) == {*vars(alone), "_skl_callbacks"}
    assert [heard.heard[0][0], heard.heard[-1][0]] == ["setup", "teardown"]
    open_tasks, parts = [], {}
    for what, path, total in heard.heard[1:-1]:
        if what == "begin":
            assert path[:-1] == (open_tasks[-1][0] if open_tasks else ())
            parts[path] = total
            open_tasks.append((path, total))
            outer = parts.get(path[:-1])
            assert outer is None or path[-1][1] < outer  # no more parts than were announced
        else:
            assert open_tasks.pop()[0] == path
    assert open_tasks == []
    *_, (what, path, score) = heard.heard[:-1]
    assert (what, path) == ("end", (("fit", 0),))
    assert score == model.score(X, y)


def test_stages_are_tasks_with_a_classifier_each(moons):
    X, y = moons
    heard = Recorder()
    fixed = {"prior": "robust", "l2": 3.0}
    BBLRClassifier(**fixed).set_callbacks(heard).fit(X, y)
    assert heard.names() == ["gamma 1", "gamma 2", "gamma 4", "gamma 8", "calibrate"]
    scores = [score for what, path, score in heard.heard if what == "end" and len(path) == 2][:4]
    by_hand = [BBLRClassifier(**fixed, gamma_max=g).fit(X, y).score(X, y) for g in (1, 2, 4, 8)]
    # Stages before the last are fitted less closely than a last one.
    np.testing.assert_allclose(scores, by_hand, atol=0.03)
    assert scores[-1] == by_hand[-1]


@pytest.mark.parametrize(
    ("case", "last", "gamma"),
    [("linear", "gamma 2", 2), ("kernel", "gamma 2", 2), ("sla", "gamma 2", 2)],
)
def test_a_callback_ends_a_fit_at_a_stage(case, last, gamma, moons):
    X, y = moons
    heard = Recorder(stop=last)
    model = clone(CASES[case]).set_callbacks(heard).fit(X, y)
    assert model.path_[-1].reason.endswith("stopped by a callback")
    assert model.path_[-1].gamma == model.gamma_ == gamma
    assert heard.names()[-1] == last
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(
    ("case", "last"),
    [("cv", "fold"), ("kernel-cv", "width"), ("cv", "choose penalty"), ("cv-learned", "search")],
)
def test_a_callback_ends_a_search_and_the_best_so_far_is_fitted(case, last, moons):
    X, y = moons
    full = clone(CASES[case]).fit(X, y)
    heard = Recorder(stop=last)
    model = clone(CASES[case]).set_callbacks(heard).fit(X, y)
    assert "search stopped by a callback" in model.path_[-1].reason or case == "kernel-cv"
    assert len(model.trials_) < len(full.trials_) or last == "search"
    assert model.score(X, y) > 0.8
    assert model.predict_proba(X).shape == (len(X), 2)


@pytest.mark.parametrize("case", ["zero-one", "bnb", "mip"])
def test_a_callback_ends_a_zero_one_solver(case, moons):
    X, y = moons
    model = clone(CASES[case]).set_callbacks(Recorder(stop="step")).fit(X, y)
    assert model.reason_ == "stopped by a callback"
    assert model.zero_one_loss_ == np.sum(model.predict(X) != y)


def test_a_solver_that_finds_nothing_is_heard_all_the_same(monkeypatch, moons):
    # Without a word for long, a callback would have no chance to end a proof.
    monkeypatch.setattr("bblr.solvers.zero_one.progress._QUIET", 0.0)
    X, y = moons
    heard = Recorder()
    ZeroOneClassifier("bnb", max_steps=50, random_state=0).set_callbacks(heard).fit(X, y)
    assert heard.names(2).count("step") >= 50


def test_separable_data_end_before_a_solver_begins():
    heard = Recorder()
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = ZeroOneClassifier("mip").set_callbacks(heard).fit(X, y)
    assert heard.names() == ["first sweep", "separation"]
    assert model.reason_ == "linearly separable"


def test_a_callback_ends_an_elimination(moons):
    X, y = moons
    model = clone(CASES["backward"]).set_callbacks(Recorder(stop="refit")).fit(X, y)
    assert 8 < len(model.support_) < len(X)
    assert model.path_[-1].reason.endswith("stopped by a callback")


@pytest.fixture
def rare():
    """Rows so many that stages run on a sample, which then misses the rare class."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80_000, 2))
    y = (X[:, 0] > 1.0).astype(int)
    return X, y


def test_sampled_stages_are_told_once(rare):
    X, y = rare
    heard = Recorder()
    model = BBLRClassifier("robust", l2=3.0).set_callbacks(heard).fit(X, y)
    assert "on 16,384 rows" in model.path_[0].reason
    assert heard.names() == ["gamma 1", "gamma 2", "gamma 4", "gamma 8", "calibrate"]


def test_what_is_chosen_and_what_is_calibrated_are_tasks(moons):
    heard = Recorder()
    BBLRClassifier().set_callbacks(heard).fit(*moons)
    assert heard.names() == ["choose penalty and plateaus", "gamma 1", "calibrate"]


def test_a_repeated_walk_is_a_task_of_its_own(monkeypatch, rare):
    X, y = rare
    monkeypatch.setattr(_sampled, "predicts_all", lambda *_: False)
    heard = Recorder()
    model = BBLRClassifier("robust", l2=3.0).set_callbacks(heard).fit(X, y)
    gammas = ["gamma 1", "gamma 2", "gamma 4", "gamma 8"]
    assert heard.names() == [*gammas, "again on all rows", "calibrate"]
    assert heard.names(2) == gammas
    assert len(model.path_) == 4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scikit_learns_own_callbacks(n_jobs, moons, capsys):
    X, y = moons
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = BBLRClassifierCV(cv=2, l2s=(1.0,), n_jobs=n_jobs, random_state=0)
    model.set_callbacks(callback.ProgressBar(), monitor).fit(X, y)
    rows = monitor.get_logs().data
    stages = [row for row in rows if row["task_name"].startswith("gamma")]
    assert len(stages) == len(model.path_)
    assert rows[0]["accuracy"] == model.score(X, y)
    assert "BBLRClassifierCV - choose penalty" in capsys.readouterr().out


def test_bars_nest_in_a_pipeline_and_a_grid(moons, capsys):
    X, y = moons
    bar = callback.ProgressBar(max_propagation_depth=None)
    pipeline = make_pipeline(StandardScaler(), BBLRClassifier())
    grid = GridSearchCV(pipeline, {"bblrclassifier__l2": [1.0, 10.0]}, cv=2)
    grid.set_callbacks(bar).fit(X, y)
    shown = capsys.readouterr().out
    assert "Pipeline - fit-final-estimator | BBLRClassifier - fit" in shown
    assert "GridSearchCV - fit" in shown


def test_weights_reach_the_scorer(moons):
    X, y = moons
    weight = np.where(y == 1, 3.0, 1.0)
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = BBLRClassifier().set_callbacks(monitor).fit(X, y, sample_weight=weight)
    assert monitor.get_logs().data[0]["accuracy"] == model.score(X, y, sample_weight=weight)


@pytest.mark.parametrize("hook", ["setup", "on_fit_task_begin", "on_fit_task_end", "teardown"])
def test_a_callback_that_fails_leaves_the_estimator_as_it_was(hook, moons):
    X, y = moons
    model = BBLRClassifier().fit(X, y)
    before = model.coef_
    heard = Recorder()

    def fail(*_, **__):
        raise ZeroDivisionError(hook)

    setattr(heard, hook, fail)
    with pytest.raises(ZeroDivisionError, match=hook):
        model.set_callbacks(heard).fit(-X, y)
    assert model.coef_ is before
    assert hook == "teardown" or heard.heard[-1][0] == "teardown"
    assert not {name for name in vars(model) if "callback_ctx" in name or "fit_ctx" in name}


def test_nothing_is_made_where_nobody_listens(monkeypatch, moons):
    monkeypatch.setattr(callback.CallbackContext, "_from_estimator", None)
    monkeypatch.setattr(
        FitTask, "begin", lambda self, **_: pytest.fail() if self.context else None
    )
    for case in CASES.values():
        clone(case).fit(*moons)


def test_where_scikit_learn_has_no_callbacks_all_is_as_before():
    code = """
import sklearn.model_selection, sklearn.callback
del sklearn.callback.with_callbacks  # an older scikit-learn, as far as bblr can see
import numpy as np
from bblr import BBLRClassifier, BBLRClassifierCV
X = np.random.default_rng(0).standard_normal((60, 2)); y = (X[:, 0] > 0).astype(int)
for model in (BBLRClassifier(), BBLRClassifierCV(cv=2, l2s=(1.0,))):
    assert not hasattr(model, "set_callbacks")
    assert model.fit(X, y).score(X, y) > 0.9
"""
    subprocess.run([sys.executable, "-c", code], check=True)
