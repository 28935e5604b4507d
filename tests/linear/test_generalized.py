"""Any loss, penalty and solver fit through one estimator, on every kind of rows."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from bblr import BBLRClassifier, GeneralizedLinearClassifier, Plateaus
from bblr.datasets import load_uci
from bblr.losses import LOSSES, BetaBernoulli, Loss
from bblr.penalties import Gaussian, GaussLaplace
from bblr.solvers import LBFGS, FisherScoring, Solution

SMOOTH = ("logistic", "squared", "generalized-logistic", "sigmoid", "tanh", "squared-tanh")


@dataclass(frozen=True)
class Savage(Loss):
    name = "savage"
    gamma: float = 1.0

    def value_gradient(self, y, raw):
        y = np.asarray(y, dtype=float)
        z = self.gamma * y * np.asarray(raw, dtype=float)
        return expit(-z) ** 2, -2.0 * self.gamma * y * expit(-z) ** 2 * expit(z)


@dataclass(frozen=True)
class Softmax(Loss):
    """Plain cross-entropy of three classes, known to NumPy alone."""

    name = "softmax"

    @property
    def n_scores(self):
        return 3

    def value_gradient(self, y, raw):
        odds = np.exp(raw - raw.max(axis=1, keepdims=True))
        p = odds / odds.sum(axis=1, keepdims=True)
        own = np.eye(3)[np.asarray(y)]
        return -np.log((p * own).sum(axis=1)), p - own


@dataclass(frozen=True)
class Student:
    scale: float = 0.3

    def _each(self, theta):
        return 2.0 * np.log1p(theta**2 / self.scale**2)

    def value(self, theta):
        return float(self._each(theta).sum())

    def gradient(self, theta):
        return theta * self.curvature(theta)

    def curvature(self, theta):
        return 4.0 / (self.scale**2 + theta**2)

    def along(self, theta, j, steps):
        return self.value(theta) - float(self._each(theta[j])) + self._each(theta[j] + steps)


@dataclass(frozen=True)
class Slow:
    """Gradient steps of a fixed length."""

    def minimise(self, objective, theta0, **options):
        theta, n_iter = np.array(theta0), 0
        value, gradient, raw = objective.value_gradient(theta)
        while np.abs(gradient).max() > 1e-4 and n_iter < 2000:
            theta, n_iter = theta - 2e-3 * gradient, n_iter + 1
            value, gradient, raw = objective.value_gradient(theta)
        return Solution(theta, value, float("nan"), "converged", n_iter, raw=raw)


@pytest.fixture(scope="module")
def heart():
    X, y = load_uci("heart", return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def objective_value(model, X, y, penalty):
    """The objective by hand, on the columns as they are: they are standardised already."""
    raw = model.decision_function(X) - model.loss_.shift[0]
    cost = model.loss_.value(np.where(y == model.classes_[1], 1.0, -1.0), raw).sum()
    return cost + penalty.value(model.coef_[0] * X.std(axis=0))


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("penalty", [Gaussian(2.0), Student()], ids=["gaussian", "student"])
def test_no_small_step_lowers_the_objective(heart, loss, penalty):
    X, y = heart
    solver = LBFGS(tol=1e-9, max_iter=2000)
    model = GeneralizedLinearClassifier(loss, penalty=penalty, solver=solver).fit(X, y)
    found = objective_value(model, X, y, penalty)
    for j in range(X.shape[1]):
        for step in (-1e-2, 1e-2):
            moved = clone(model).fit(X, y)
            moved.coef_ = moved.coef_.copy()
            moved.coef_[0, j] += step
            assert objective_value(moved, X, y, penalty) > found - 1e-7


@pytest.mark.parametrize("loss", sorted(set(LOSSES) - {"zero-one"}))
def test_every_registered_loss_fits(heart, loss):
    X, y = heart
    model = GeneralizedLinearClassifier(loss, solver="lbfgs").fit(X, y)
    assert model.score(X, y) > 0.8
    assert hasattr(model, "predict_proba") == LOSSES[loss].has_probability


def test_logistic_regression_is_that_of_scikit_learn(heart):
    X, y = heart
    mine = GeneralizedLinearClassifier("logistic", penalty=2.0, tol=1e-10).fit(X, y)
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_beta_bernoulli_is_the_classifier_of_that_name(heart):
    X, y = heart
    plateaus = Plateaus.binary(0.1, 0.7)
    gammas = (1.0, 2.0, 4.0)
    mine = GeneralizedLinearClassifier(
        BetaBernoulli(plateaus), penalty=3.0, gammas=gammas, tol=1e-9
    ).fit(X, y)
    other = BBLRClassifier(plateaus, l2=3.0, gamma_max=4.0, leverage=None, tol=1e-9).fit(X, y)
    assert mine.path_[-1].value == pytest.approx(other.path_[-1].value, rel=1e-9)
    np.testing.assert_array_equal(mine.predict(X), other.predict(X))
    # The probabilities are those of the loss; the other's come from a link of their own.
    low, high = mine.predict_proba(X)[:, 1].min(), mine.predict_proba(X)[:, 1].max()
    assert 0.1 <= low < high <= 0.8 + 1e-12


def test_three_classes():
    X, y = load_iris(return_X_y=True)
    y = np.array(["a", "b", "c"])[y]
    loss = BetaBernoulli(Plateaus((0.05, 0.02, 0.01)))
    model = GeneralizedLinearClassifier(loss, penalty=0.5).fit(X, y)
    assert model.coef_.shape == (3, 4) and model.score(X, y) > 0.95
    assert np.mean(model.classes_[model.decision_function(X).argmax(1)] == model.predict(X)) == 1
    plain = GeneralizedLinearClassifier(Softmax(), penalty=0.5, tol=1e-8).fit(X, y)
    known = GeneralizedLinearClassifier(
        BetaBernoulli(Plateaus.none(3)), penalty=0.5, tol=1e-8
    ).fit(X, y)
    assert plain.path_[-1].value == pytest.approx(known.path_[-1].value, rel=1e-7)


def rows_of(kind, X, tmp_path):
    if kind == "csr":
        return csr_array(X)
    if kind == "memory map":
        np.save(tmp_path / "rows.npy", X)
        return np.load(tmp_path / "rows.npy", mmap_mode="r")
    if kind == "shards":
        for k in range(3):
            np.save(tmp_path / f"{k}.npy", X[90 * k : 90 * (k + 1)])
        return tmp_path
    if kind == "tensor":
        return pytest.importorskip("torch").as_tensor(X)
    return np.asfortranarray(X)


@pytest.mark.parametrize("kind", ["columns", "csr", "memory map", "shards", "tensor"])
@pytest.mark.parametrize("loss", [Savage(2.0), "sigmoid"], ids=["foreign", "fused"])
def test_all_kinds_of_rows_agree(heart, kind, loss, tmp_path):
    X, y = heart
    model = GeneralizedLinearClassifier(loss, penalty=Student(), tol=1e-10, solver="lbfgs")
    plain = clone(model).fit(X, y)
    rows = rows_of(kind, X, tmp_path)
    other = clone(model).fit(
        rows, pytest.importorskip("torch").as_tensor(y) if kind == "tensor" else y
    )
    np.testing.assert_allclose(np.asarray(other.coef_), plain.coef_, atol=2e-5)


def test_a_solver_of_ones_own(heart):
    X, y = heart
    slow = GeneralizedLinearClassifier("logistic", solver=Slow()).fit(X, y)
    fast = GeneralizedLinearClassifier("logistic", solver=FisherScoring(tol=1e-9)).fit(X, y)
    np.testing.assert_allclose(slow.coef_, fast.coef_, atol=1e-4)
    assert slow.path_[0].reason == "converged"


def test_leverage_and_stages_are_used(heart):
    X, y = heart
    positive = GeneralizedLinearClassifier().fit(X, y).coef_
    far = np.vstack([X, np.repeat(30.0 * positive, 20, axis=0)])
    labels = np.concatenate([y, np.full(20, y.min())])
    free, bounded = (
        GeneralizedLinearClassifier("logistic", leverage=bound).fit(far, labels).score(X, y)
        for bound in (None, 3.0)
    )
    assert bounded > free
    stages = GeneralizedLinearClassifier(Savage(), gammas=(1, 2, 4)).fit(X, y)
    assert [stage.gamma for stage in stages.path_] == [1.0, 2.0, 4.0] and stages.loss_.gamma == 4


def test_the_mixture_is_a_penalty_like_others(heart):
    X, y = heart
    model = GeneralizedLinearClassifier("logistic", penalty=GaussLaplace(0.3, 1.0, 0.02)).fit(X, y)
    plain = GeneralizedLinearClassifier("logistic", penalty=1.0).fit(X, y)
    assert np.median(np.abs(model.coef_)) < np.median(np.abs(plain.coef_))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loss": "huber"}, "loss must be one of .*logistic.*; got 'huber'"),
        ({"loss": 3}, "loss must be the name of a loss or a Loss"),
        ({"penalty": "l1"}, "'penalty' parameter .* must be .* implementing 'value'"),
        ({"penalty": -1.0}, "'penalty' parameter"),
        ({"gammas": (1, 2)}, "gammas must be None: the logistic loss has no gamma"),
        ({"loss": "sigmoid", "gammas": ()}, "gammas must hold at least one number"),
        ({"solver": "newton"}, "'solver' parameter"),
        ({"tol": 0}, "'tol' parameter"),
        ({"loss": BetaBernoulli(Plateaus.weak(3))}, "has 3, y holds 2"),
    ],
)
def test_errors_name_the_parameter_and_the_remedy(heart, changes, message):
    with pytest.raises(ValueError, match=message):
        GeneralizedLinearClassifier(**changes).fit(*heart)


def test_losses_without_a_likelihood_have_no_probabilities(heart):
    model = GeneralizedLinearClassifier("sigmoid").fit(*heart)
    with pytest.raises(AttributeError):
        model.predict_proba(heart[0])
