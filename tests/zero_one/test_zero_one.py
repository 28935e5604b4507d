"""ZeroOneClassifier: what it counts, what it claims, and that storage does not matter."""

import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from bblr import SLAClassifier, ZeroOneClassifier
from bblr.datasets import load_uci
from bblr.inputs import adapter_of
from bblr.zero_one import zero_one_classifier as zero_one
from bblr.zero_one.run import Run

SOLVERS = ("search", "sla", "pcs", "csa", "bnb", "mip", "exact")
AMPLE = 300  # seconds: these fits end by themselves, however slow the machine


@pytest.fixture(scope="module")
def flat_data():
    """Return two features and noisy labels: little enough for every solver to finish."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 2)) * [1.0, 50.0] + [3.0, -7.0]
    y = np.where(X[:, 0] - 3 + (X[:, 1] + 7) / 50 + rng.normal(size=24) > 0, "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def fitted(flat_data):
    return {
        solver: ZeroOneClassifier(solver, time_limit=AMPLE, random_state=0).fit(*flat_data)
        for solver in SOLVERS
    }


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_is_claimed_is_so(solver, fitted, flat_data):
    X, y = flat_data
    model = fitted[solver]
    assert model.zero_one_loss_ == np.sum(model.predict(X) != y)
    assert model.lower_bound_ <= fitted["exact"].zero_one_loss_ <= model.zero_one_loss_
    assert model.optimal_ == (model.lower_bound_ == model.zero_one_loss_)
    assert model.gap_ == pytest.approx(1 - model.lower_bound_ / model.zero_one_loss_)
    assert isinstance(model.reason_, str)
    assert model.trace_[-1].loss == model.zero_one_loss_


@pytest.mark.parametrize("solver", ["mip", "bnb", "exact"])
def test_proofs(solver, fitted):
    assert fitted[solver].optimal_
    assert fitted[solver].zero_one_loss_ == fitted["exact"].zero_one_loss_


def test_search_finds_what_enumeration_proves(fitted):
    assert fitted["search"].zero_one_loss_ == fitted["exact"].zero_one_loss_
    assert not fitted["search"].optimal_


@pytest.mark.parametrize("solver", SOLVERS)
def test_scores_are_distances(solver, fitted, flat_data):
    model, X = fitted[solver], flat_data[0]
    assert np.linalg.norm(model.coef_) == pytest.approx(1.0)
    foot = X - model.decision_function(X)[:, None] * model.coef_
    np.testing.assert_allclose(model.decision_function(foot), 0.0, atol=1e-9)


def test_probabilities_are_the_observed_rates(fitted, flat_data):
    X, y = flat_data
    model = fitted["mip"]
    positive = model.predict_proba(X)[:, 1]
    assert set(positive) == {model.prior_.a, model.prior_.a + model.prior_.b}
    np.testing.assert_array_equal(positive > 0.5, model.decision_function(X) > 0)
    missed = np.mean(model.predict(X[y == "yes"]) == "no")
    assert 1 - model.prior_.a - model.prior_.b == pytest.approx(missed, abs=0.1)


@pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_array, np.asfortranarray])
@pytest.mark.parametrize("solver", ["search", "mip"])
def test_storage_does_not_matter(solver, convert, fitted, flat_data):
    X, y = flat_data
    other = ZeroOneClassifier(solver, time_limit=AMPLE, random_state=0).fit(convert(X), y)
    np.testing.assert_array_equal(other.coef_, fitted[solver].coef_)


def test_weights_are_copies(flat_data):
    X, y = flat_data
    weight = np.arange(len(y)) % 3
    copies = np.repeat(np.arange(len(y)), weight)
    for solver in ("search", "mip", "exact"):
        model = ZeroOneClassifier(solver, time_limit=AMPLE, random_state=0)
        weighted = model.fit(X, y, sample_weight=weight).coef_
        np.testing.assert_array_equal(model.fit(X[copies], y[copies]).coef_, weighted)


def test_class_weight_is_a_cost(flat_data):
    X, y = flat_data
    model = ZeroOneClassifier("mip", class_weight={"yes": 5.0}, time_limit=AMPLE, random_state=0)
    said = model.fit(X, y).predict(X)
    costs = 5 * np.sum((y == "yes") & (said == "no")) + np.sum((y == "no") & (said == "yes"))
    assert model.zero_one_loss_ == costs
    assert model.optimal_


def test_only_contradictions():
    X = np.repeat([[1.0, 2.0], [3.0, 4.0]], 2, axis=0)
    model = ZeroOneClassifier("mip").fit(X, [0, 1, 0, 1])
    assert (model.zero_one_loss_, model.lower_bound_, model.optimal_) == (2.0, 2.0, True)


def test_separable_data_have_no_loss():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X @ rng.normal(size=5) > 0.3
    assert ZeroOneClassifier(random_state=0).fit(X, y).zero_one_loss_ == 0
    assert ZeroOneClassifier("mip", random_state=0).fit(X, y).optimal_


def test_sla_is_slaclassifier():
    X, y = load_uci("liver", return_X_y=True)
    # Equal rows are merged, which moves the start by a little.
    mine = ZeroOneClassifier("sla").fit(X, y).zero_one_loss_
    theirs = np.sum(SLAClassifier().fit(X, y).predict(X) != y)
    assert theirs - 5 <= mine <= theirs + 1


def test_search_beats_the_published_losses_within_seconds():
    """Breast: 10 were published, with the patient's number as a feature; without, 11 is least."""
    X, y = load_uci("breast", return_X_y=True)
    assert ZeroOneClassifier(random_state=0).fit(X, y).zero_one_loss_ == 11


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_large_data_take_lines(convert, monkeypatch):
    monkeypatch.setattr(zero_one, "MAX_TABLE", 100)
    rng = np.random.default_rng(0)
    X = np.where(rng.random((500, 12)) < 0.3, rng.normal(size=(500, 12)), 0.0)
    y = X @ rng.normal(size=12) + 0.5 * rng.standard_t(1, size=500) > 0
    model = ZeroOneClassifier(time_limit=None, random_state=0).fit(convert(X), y)
    assert model.zero_one_loss_ == np.sum(model.predict(convert(X)) != y)
    baseline = LogisticRegression(max_iter=1000).fit(X, y)
    assert model.zero_one_loss_ < np.sum(baseline.predict(X) != y)
    again = ZeroOneClassifier(time_limit=None, random_state=0).fit(convert(X), y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    with pytest.raises(ValueError, match=r"solver='mip' is for at most.*use solver='search'"):
        ZeroOneClassifier("mip").fit(convert(X), y)


@pytest.mark.parametrize("solver", ["pcs", "bnb", "mip"])
def test_a_step_limit_ends_a_run_at_the_same_place_every_time(solver):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 6)), rng.random(80) < 0.5
    runs = [
        ZeroOneClassifier(solver, time_limit=None, max_steps=3, random_state=0).fit(X, y)
        for _ in range(2)
    ]
    assert [run.reason_ for run in runs] == ["step limit"] * 2
    np.testing.assert_array_equal(runs[0].coef_, runs[1].coef_)


def test_a_step_limit_of_nothing_is_refused():
    with pytest.raises(ValueError, match="'max_steps' parameter"):
        ZeroOneClassifier("pcs", max_steps=0).fit([[0.0], [1.0]], [0, 1])


def test_time_limit_and_progress(capsys):
    X, y = load_uci("heart", return_X_y=True)
    for solver in ("mip", "sla", "search"):
        model = ZeroOneClassifier(solver, time_limit=0.05, random_state=0, verbose=1).fit(X, y)
        assert model.reason_ in ("time limit", "annealing ended")
        assert model.zero_one_loss_ <= len(y) / 2
    assert "[ZeroOneClassifier]" in capsys.readouterr().out


def test_without_an_intercept(flat_data):
    X, y = flat_data
    free = ZeroOneClassifier("exact", time_limit=AMPLE).fit(X, y)
    tied = ZeroOneClassifier("exact", fit_intercept=False, time_limit=AMPLE).fit(X, y)
    assert tied.intercept_ == 0
    assert tied.optimal_
    assert tied.zero_one_loss_ >= free.zero_one_loss_
    proof = ZeroOneClassifier("mip", fit_intercept=False, time_limit=AMPLE).fit(X, y)
    assert proof.zero_one_loss_ == tied.zero_one_loss_


@pytest.mark.parametrize("seed", range(16))
def test_solvers_agree_on_awkward_data(seed):
    """Ties that cancel, weights that are not whole, and no intercept."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 13)), int(rng.integers(1, 3))
    X = rng.integers(-2, 3, (n, d)).astype(float)
    y = rng.permutation(np.arange(n) % 2)
    weight = rng.uniform(0.5, 2.0, n) if seed % 2 else None
    options = {"fit_intercept": seed % 4 < 2, "time_limit": AMPLE, "random_state": 0}
    exact = ZeroOneClassifier("exact", **options).fit(X, y, weight)
    assert exact.optimal_
    for solver in SOLVERS[:-1]:
        model = ZeroOneClassifier(solver, **options).fit(X, y, weight)
        assert model.zero_one_loss_ >= exact.zero_one_loss_ - 1e-9
        assert model.zero_one_loss_ == pytest.approx(model.trace_[-1].loss)
        assert model.lower_bound_ <= exact.zero_one_loss_ + 1e-9
        if solver in ("search", "bnb", "mip"):
            assert model.zero_one_loss_ == pytest.approx(exact.zero_one_loss_)
        assert model.optimal_ or solver not in ("bnb", "mip")


@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("solver", ["search", "sla", "mip", "exact"])
def test_numbers_too_large_or_small_to_be_squared(solver, factor):
    X = np.array([[0.0], [1.0], [2.0], [3.0]]) * factor
    model = ZeroOneClassifier(solver, time_limit=AMPLE, random_state=0).fit(X, [0, 1, 0, 1])
    assert model.zero_one_loss_ == 1
    assert np.isfinite(model.coef_).all()


def test_columns_of_very_different_size():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(9, 3)), np.arange(9) % 2
    plain = ZeroOneClassifier("exact", fit_intercept=False).fit(X, y)
    other = ZeroOneClassifier("exact", fit_intercept=False)
    other.fit(X * np.array([2.0**-530, 2.0**-530, 2.0**500]), y)
    assert other.zero_one_loss_ == other.lower_bound_ == plain.zero_one_loss_


@pytest.mark.parametrize("solver", ["search", "mip", "csa"])
def test_columns_that_are_nearly_copies(solver):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    X = np.c_[x, x.astype(np.float32), (3 * x).astype(np.float32)]
    y = rng.random(40) < 0.5
    model = ZeroOneClassifier(solver, time_limit=5, random_state=0).fit(X, y)
    assert model.zero_one_loss_ <= ZeroOneClassifier("exact").fit(X[:, :1], y).zero_one_loss_


@pytest.mark.parametrize("factor", [1e-12, 1e-7, 0.37, 1e9])
def test_proofs_do_not_depend_on_the_unit_of_the_weights(factor):
    X = np.array([[7, 7], [11, 5], [7, 9], [10, 9], [9, 11], [10, 10], [12, 11], [6, 12.0]])
    y = [0, 1, 0, 1, 0, 1, 1, 1]
    model = ZeroOneClassifier("mip", fit_intercept=False, random_state=0, time_limit=AMPLE)
    model.fit(X, y, np.full(8, factor))
    assert model.zero_one_loss_ == pytest.approx(2 * factor)
    assert model.optimal_


def test_one_heavy_row_does_not_hide_the_others():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    losses = []
    for heavy in (1e3, 1e8):
        weight = np.ones(30)
        weight[3] = heavy
        losses.append(ZeroOneClassifier(random_state=0).fit(X, y, weight).zero_one_loss_)
    assert losses[0] == losses[1] < 30


@pytest.mark.parametrize("solver", ["search", "mip"])
def test_a_first_sweep_comes_before_all_that_takes_longer(solver, monkeypatch):
    class Asked(Exception):
        pass

    def ask(run, problem):
        raise Asked(run.progress.loss)

    monkeypatch.setattr(Run, "_separate_table", ask)
    X, y = load_uci("heart", return_X_y=True)
    with pytest.raises(Asked) as caught:
        ZeroOneClassifier(solver).fit(X, y)
    assert caught.value.args[0] <= 30


def test_the_clock_runs_from_the_call_on(monkeypatch):
    def slow(*args):
        time.sleep(0.05)
        return adapter_of(*args)

    monkeypatch.setattr(zero_one, "adapter_of", slow)
    model = ZeroOneClassifier(random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert model.trace_[0].seconds >= 0.05


@pytest.mark.parametrize("labels", [[0, 0, 1], [0, 1, 0]])
def test_a_seed_that_is_none_is_refused(labels):
    with pytest.raises(ValueError, match="random_state"):
        ZeroOneClassifier(random_state="now").fit([[0.0], [1.0], [2.0]], labels)


def test_search_looks_at_the_opposite_side():
    X = np.array([[8, 9], [11, 12], [9, 10], [9, 10], [10, 10], [12, 10], [11, 12.0]])
    model = ZeroOneClassifier(fit_intercept=False, random_state=0).fit(X, [0, 1, 0, 0, 1, 0, 1])
    assert model.zero_one_loss_ == 1


def test_only_ties_without_an_intercept():
    X = [[1, 0], [1, 0], [0, 1], [0, 1]]
    model = ZeroOneClassifier(fit_intercept=False).fit(X, [0, 1, 0, 1])
    assert (model.zero_one_loss_, model.optimal_) == (2.0, True)


def test_lines_end_where_rounding_eats_the_gains(monkeypatch):
    monkeypatch.setattr(zero_one, "MAX_TABLE", 50)
    rng = np.random.default_rng(2)
    X = np.exp(20 * rng.normal(size=(200, 3)))
    model = ZeroOneClassifier(time_limit=None, random_state=0).fit(X, rng.random(200) < 0.5)
    assert model.reason_ == "rounds spent"
