"""The search over settings gives up paths that cannot be chosen any more, and only those."""

import numpy as np
import pytest
from scipy import sparse

from bblr import BBLRClassifierCV
from bblr.designs import ScaledDesign, make_design
from bblr.losses import Plateaus
from bblr.solvers import LBFGS, FisherScoring
from bblr.training.cross_validation import FoldRows, Path
from bblr.training.folds import Fold
from bblr.training.search import Slam, _error


class Told:
    """Errors that were made up: a table for each path, a row of it for each gamma."""

    def __init__(self, tables, n_rounds):
        self.tables = tables
        n = next(iter(tables.values())).shape[1]
        self.weight = self.variance = np.ones(n)
        self.held_out_rows = np.arange(n)
        self.rounds = np.array_split(np.arange(n), n_rounds)
        self.asked = []

    def wrong(self, what, paths, rows):
        self.asked.append(list(paths))
        return [self.tables[path][:, rows] for path in paths]


class Silent:
    stopped = False


def path(l2, gammas=(1.0,)):
    return Path(Plateaus.none(2), l2, gammas, None)


def slam(tables, default, n_rounds=3):
    return Slam(Told(tables, n_rounds), default, (1.0,), 8.0, True, 1.0, Silent())


def errors(rate, n=300, gammas=1, seed=0):
    return np.random.default_rng(seed).random((gammas, n)) < rate


def test_a_path_that_is_behind_sees_one_part_of_the_folds():
    default, good, bad = path(1.0), path(2.0), path(3.0)
    tables = {default: errors(0.3), good: errors(0.2, seed=1), bad: errors(0.6, seed=2)}
    race = slam(tables, default)
    trials = {trial.path: trial.error for trial in race._race("", list(tables))}
    assert [bad in asked for asked in race.validation.asked] == [True, False, False]
    assert all(default in asked and good in asked for asked in race.validation.asked)
    for complete in (default, good):
        assert trials[complete] == pytest.approx(tables[complete].mean())
    assert min(trials, key=trials.get) == good


def test_what_is_not_ahead_of_the_default_is_given_up():
    default, same = path(1.0), path(2.0)
    tables = {default: errors(0.3), same: errors(0.3)}
    race = slam(tables, default)
    race._race("", list(tables))
    assert race.validation.asked == [[default, same], [default], [default]]


def test_one_good_gamma_keeps_a_path_running():
    default, mixed = path(1.0), path(2.0, (1.0, 2.0))
    table = np.vstack([errors(0.7, seed=1), errors(0.1, seed=2)])
    race = slam({default: errors(0.3), mixed: table}, default)
    trials = race._race("", [default, mixed])
    assert all(mixed in asked for asked in race.validation.asked)
    assert min(trials, key=lambda trial: trial.error).path == mixed


def test_later_paths_race_against_earlier_ones():
    default, late = path(1.0), path(5.0)
    tables = {default: errors(0.1), late: errors(0.5, seed=3)}
    race = slam(tables, default)
    race._race("", [default])
    race.validation.asked.clear()
    race._race("", [late])
    assert race.validation.asked == [[late]]


def test_the_error_of_a_path_that_was_given_up_is_relative_to_the_leader():
    leader, weight = np.array([1, 0, 0, 0], dtype=bool), np.ones(4)
    assert _error(np.array([1, 1], dtype=bool), leader, weight) == pytest.approx(0.25 + 0.5)
    assert _error(leader, leader, weight) == 0.25


def test_trials_of_one_seed_are_the_same_on_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + rng.normal(size=150) > 0
    several = BBLRClassifierCV(random_state=0).fit(X, y)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    one = BBLRClassifierCV(random_state=0).fit(X, y)
    assert one.trials_ == several.trials_
    assert np.array_equal(one.coef_, several.coef_)


def test_rounding_does_not_choose_among_equal_paths():
    """Bounds on leverage make errors sums of fractions, which storage rounds its own way."""
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=90)
    X = rng.normal(size=(90, 4)) + 1.5 * np.eye(4)[y]
    X[:5] *= 8.0
    y[:9] = rng.integers(2, size=9)
    dense, stored = (
        BBLRClassifierCV(cv=2, l2s=[0.1, 1.0], random_state=0).fit(each, y)
        for each in (X, sparse.csr_matrix(X))
    )
    assert [trial.path for trial in stored.trials_] == [trial.path for trial in dense.trials_]
    errors = [trial.error for trial in dense.trials_]
    np.testing.assert_allclose([trial.error for trial in stored.trials_], errors, rtol=1e-12)


def test_newton_steps_serve_several_scores_in_a_search():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 3)) + 2.0 * np.eye(3)[y]
    model = BBLRClassifierCV(solver="fisher", cv=2, l2s=[1.0], random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("seed", [0, 6, 7])
def test_a_heavy_row_races_as_its_copies(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 2
    X, weight = rng.normal(size=(40, 3)) + 0.5 * y[:, None], rng.choice([1, 1, 30], 40)
    part, times = rng.permutation(40) % 4, np.repeat(np.arange(40), weight)
    folds = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(4)]
    copies = [tuple(np.flatnonzero(np.isin(times, rows)) for rows in fold) for fold in folds]
    one = BBLRClassifierCV(cv=folds, l2s=[3.0, 0.3]).fit(X, y, weight)
    other = BBLRClassifierCV(cv=copies, l2s=[3.0, 0.3]).fit(X[times], y[times])
    found = [trial.error for trial in other.trials_]
    np.testing.assert_allclose(found, [trial.error for trial in one.trials_], rtol=1e-9)


@pytest.mark.parametrize(("classes", "descent"), [(2, FisherScoring(1e-10)), (3, LBFGS(1e-10))])
@pytest.mark.parametrize("leverage", [None, 3.0])
def test_a_fold_without_the_rows_held_out_is_that_in_which_they_weigh_nothing(
    classes, descent, leverage
):
    rng = np.random.default_rng(classes)
    X, codes = rng.normal(size=(260, 4)), np.arange(260) % classes
    X[:, 0] += codes
    y = 2.0 * codes - 1.0 if classes == 2 else codes
    order, weight = rng.permutation(260), rng.integers(0, 3, 260).astype(np.float64)
    fold = Fold(np.sort(order[60:]), np.sort(order[:60]))
    plateaus = Plateaus.symmetric(0.1, classes)
    paths = [Path(plateaus, l2, (1.0, 2.0, 4.0), leverage) for l2 in (0.3, 3.0)]
    small, general = (ScaledDesign(make_design(X), weight, True) for _ in range(2))
    vars(general)["columns"] = None

    def scores(own, paths, descent):
        stages = [stage for path in own.walks(descent, paths) for stage in path]
        return np.array([own.held(raw) for _, raw in stages])

    copied, whole = (FoldRows(design, y, weight, fold) for design in (small, general))
    found = scores(copied, paths, descent)
    assert found.shape[:2] == (6, 60)
    np.testing.assert_allclose(found, scores(whole, paths, descent), rtol=1e-4, atol=1e-4)
    # The beginning of a path that has been walked is known.
    np.testing.assert_array_equal(scores(copied, [paths[1].until(1)], None), found[3:5])
