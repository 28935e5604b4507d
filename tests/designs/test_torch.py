"""Rows as tensors: every product and every operation is that of NumPy."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from bblr._numeric.tensors import find_device
from bblr.designs import DenseDesign, ScaledDesign
from bblr.losses import BetaBernoulli, Hinge, Logistic, Plateaus, Sigmoid, ZeroOne
from bblr.objective import Objective
from bblr.penalties import Gaussian, GaussLaplace
from bblr.solvers import LBFGS, FisherScoring
from bblr.training.laplace import laplace
from tests.designs.cases import N_FEATURES, N_ROWS, matrix, tensor_design

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
# Tests run side by side; threads that wait for one another would only wait for cores.
torch.set_num_threads(1)

from bblr.designs.torch import placing as place  # noqa: E402
from bblr.designs.torch import tensor_design as designs  # noqa: E402

# Where there is a GPU, it is what is tested.
DEVICE = find_device("cuda" if torch.cuda.is_available() else "cpu")
N, D = N_ROWS, N_FEATURES
LOSSES = [
    BetaBernoulli.binary(0.1, 0.7, 2.0),
    BetaBernoulli.binary(0.0, 0.9, 2.0),
    BetaBernoulli.binary(0.1, 0.9, 4.0),
    BetaBernoulli.binary(0.2, 0.6, 8.0),
    Logistic(),
    Sigmoid(3.0),
    ZeroOne(),
    Hinge(),
]


@pytest.fixture(params=["whole", "parts", "blocks"])
def store(request):
    return partial(tensor_design, request.param)


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    y = np.where(rng.random(N) < 0.4, 1.0, -1.0)
    return y, rng.random(N) * (rng.random(N) < 0.9)


def close(found, expected, **tolerance):
    tolerance = tolerance or {"rtol": 1e-10, "atol": 1e-10}
    found = found.cpu().numpy() if torch.is_tensor(found) else found
    np.testing.assert_allclose(found, expected, **tolerance)


def test_products_in_float32_where_the_columns_allow(rows):
    X = matrix(np.float32)[:, :3]
    narrow = designs.TorchDesign(torch.from_numpy(X), DEVICE).narrowed()
    coef = np.array([[0.3, -0.2, 0.5]])
    close(narrow.scores(coef, np.zeros(1)), X @ coef[0], rtol=1e-4, atol=1e-5)
    close(narrow.rmatvec(narrow.rows.vector(rows[1])), rows[1] @ X, rtol=1e-4, atol=1e-3)


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    """A small table would be fitted by compiled loops, wherever it lies."""
    monkeypatch.setattr("bblr.designs.scaled.is_small_table", lambda *_: False)


def pair(design, loss, y, weight, fit_intercept=True):
    """Objectives on NumPy and on torch, and a point to look at."""
    plain = ScaledDesign(DenseDesign(matrix()), weight, fit_intercept)
    one = Objective(loss, Gaussian(1.0), plain, y, weight)
    vector = design.rows.vector
    scaled = ScaledDesign(design, vector(weight), fit_intercept)
    other = Objective(loss, Gaussian(1.0), scaled, vector(y), vector(weight))
    return one, other, np.random.default_rng(2).normal(size=one.size)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_objectives_agree(store, rows, loss):
    one, other, theta = pair(store(matrix()), loss, *rows)
    value, gradient, raw = one.value_gradient(theta)
    found = other.value_gradient(theta)
    assert found[0] == pytest.approx(value, rel=1e-12)
    close(found[1], gradient)
    close(found[2], raw)
    assert other.value(theta) == pytest.approx(one.value(theta), rel=1e-12)
    assert other.errors(theta) == pytest.approx(one.errors(theta))
    close(other.fisher(found[2]), one.fisher(raw))
    close(other.bounded(1.0).weight, one.bounded(1.0).weight)
    close(other.preconditioner(theta)(gradient), one.preconditioner(theta)(gradient))
    steps = np.linspace(-2, 2, 9)
    for j in range(one.size):
        close(other.probe(theta, j, steps), one.probe(theta, j, steps))
        close(other.shifted(found[2], j, 0.3), one.shifted(raw, j, 0.3))
    np.testing.assert_array_equal(
        other.rows.wrong(loss, other.y, found[2]), one.rows.wrong(loss, one.y, raw)
    )
    np.testing.assert_array_equal(
        other.rows.predicted(loss, found[2], other.weight),
        one.rows.predicted(loss, raw, one.weight),
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("most", [60, N])
def test_newton_steps_are_taken_on_the_device(rows, monkeypatch, fit_intercept, most):
    y, weight = rows
    monkeypatch.setattr("bblr.objective.sample_rows", lambda size: most)
    monkeypatch.setattr("bblr.curvature.sample_rows", lambda size: most)
    design = designs.TorchDesign(torch.from_numpy(matrix()), DEVICE)
    one, other, theta = pair(design, LOSSES[0], y, weight, fit_intercept)
    here = other.on_device().start(theta)
    expected = one.value_gradient(theta)
    close(here.head, [expected[0], 0.0])
    close(here.theta, theta)
    close(here.gradient, expected[1])
    close(here.raw, expected[2])
    step = -one.preconditioner(theta, expected[2])(expected[1])
    close(other.on_device().newton_step(here), step, rtol=1e-8, atol=1e-10)
    found, plain = (FisherScoring(tol=1e-9).minimise(each, theta) for each in (other, one))
    close(found.theta, plain.theta, rtol=1e-6, atol=1e-6)
    close(found.raw, plain.raw, rtol=1e-6, atol=1e-6)
    assert isinstance(found.theta, np.ndarray) and found.reason == plain.reason
    assert found.value == pytest.approx(plain.value, rel=1e-9)


def test_a_walk_knows_the_slopes_along_the_steps_to_a_place_and_from_it(rows):
    design = designs.TorchDesign(torch.from_numpy(matrix()), DEVICE)
    one, other, theta = pair(design, LOSSES[0], *rows)
    walk = other.on_device().walk()
    here = walk.start(theta)
    value, gradient, raw = one.value_gradient(theta)
    step = -one.preconditioner(theta, raw)(gradient)
    close(walk.raw, raw)
    assert (here.value, here.ahead) == (pytest.approx(value, rel=1e-12), 0.0)
    assert here.slope == pytest.approx(gradient @ step, rel=1e-8)
    there = walk.attempt(0.3)
    value, gradient, raw = one.value_gradient(theta + 0.3 * step)
    close(there.theta, theta + 0.3 * step, rtol=1e-8)
    assert there.value == pytest.approx(value, rel=1e-10)
    assert there.ahead == pytest.approx(gradient @ step, rel=1e-6)
    onward = -one.preconditioner(theta + 0.3 * step, raw)(gradient)
    assert there.slope == pytest.approx(gradient @ onward, rel=1e-6)
    close(walk.attempt(0.0).theta, theta, rtol=1e-14)
    walk.attempt(0.3)
    walk.take()
    close(walk.raw, raw, rtol=1e-7, atol=1e-9)
    assert walk.attempt(0.0).value == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("loss", [LOSSES[0], Hinge()], ids=repr)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_descents_on_the_device_are_those_of_numpy(rows, loss, scale):
    """Also where steps are too long or too short at first, and where none is allowed."""
    design = designs.TorchDesign(torch.from_numpy(matrix()), DEVICE)
    one, other, theta = pair(design, loss, *rows)
    for most in (0, 1, 2, 50):
        solver = FisherScoring(tol=1e-8, max_iter=most)
        found, plain = (solver.minimise(each, scale * theta) for each in (other, one))
        assert (found.n_iter, found.reason) == (plain.n_iter, plain.reason)
        assert found.value == pytest.approx(plain.value, rel=1e-9)
        close(found.theta, plain.theta, rtol=1e-5, atol=1e-6)


def with_l2(near, l2):
    """An objective on a device with a penalty that nobody would set."""
    if hasattr(near, "numbers"):
        near.numbers[4] = l2
    return replace(near, l2=l2)


def test_covariances_are_those_of_numpy(rows):
    y, weight = rows
    design = designs.TorchDesign(torch.from_numpy(matrix()), DEVICE)
    one, other, theta = pair(design, LOSSES[0], y, weight)
    here = laplace(one, theta, one.scores(theta))
    there = laplace(other, theta, other.scores(theta))
    assert there.effective == pytest.approx(here.effective, rel=1e-8)
    Z = np.asfortranarray(np.random.default_rng(6).normal(size=(9, one.size)))
    close(there.variance(torch.as_tensor(Z, device=DEVICE)), here.variance(Z), rtol=1e-8)
    close(there.precondition(theta), here.precondition(theta), rtol=1e-8)
    with pytest.raises(FloatingPointError, match="positive definite"):
        _ = with_l2(other.on_device(), -1e9).covariance(other.scores(theta), N).effective


def test_a_matrix_without_a_factor_leaves_its_diagonal(rows):
    y, weight = rows
    design = designs.TorchDesign(torch.from_numpy(matrix()), DEVICE)
    near = pair(design, LOSSES[0], y, weight)[1].on_device()
    near = with_l2(near, -1e9)  # no weight of a row can make up for it
    theta, ones = np.zeros(D), torch.ones(D, dtype=torch.float64, device=DEVICE)  # one is constant
    here = near.start(theta)._replace(gradient=ones)
    found = near.newton_step(here)
    assert torch.isfinite(found).all() and found[-1] < 0
    close(found[:-1], 1e-9, rtol=1e-3)


def test_only_what_a_tensor_objective_knows_goes_to_the_device(rows):
    design = designs.TorchDesign(torch.from_numpy(matrix()), DEVICE)
    other = pair(design, LOSSES[0], *rows)[1]
    assert other.on_device() is not None
    assert other.with_penalty(GaussLaplace()).on_device() is None
    apart = designs.TorchDesign(
        [torch.from_numpy(matrix()[:9]), torch.from_numpy(matrix()[9:])], DEVICE
    )
    assert pair(apart, LOSSES[0], *rows)[1].on_device() is None
    assert pair(design, LOSSES[0], *rows)[0].on_device() is None


def test_extreme_scores_are_finite(rows):
    y, weight = rows
    design = designs.TorchDesign(torch.from_numpy(matrix()), DEVICE)
    vector = design.rows.vector
    raw = np.where(np.arange(N) % 2, 1e9, -1e9)
    for loss in LOSSES:
        cost = design.rows.cost(loss, vector(y), vector(raw), vector(weight))
        assert cost == pytest.approx(float(loss.value(y, raw) @ weight), rel=1e-9)


def test_zero_one_lines_agree(store, rows):
    one, other, _ = pair(store(matrix()), Logistic(), *rows)
    rng = np.random.default_rng(3)
    for _ in range(30):
        theta, direction = rng.normal(size=(2, one.size))
        step, errors = one.line(one.scores(theta), one.scores(direction))
        found = other.line(other.scores(theta), other.scores(direction))
        assert found[1] == pytest.approx(errors)
        assert other.errors(theta + found[0] * direction) == pytest.approx(errors)
        assert found[0] == pytest.approx(step, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("low", [(0.1, 0.1, 0.1), (0.0, 0.0, 0.0), (0.0, 0.1, 0.2)])
def test_objectives_of_many_classes_agree(store, rows, low):
    weight, design = rows[1], store(matrix())
    y = np.random.default_rng(4).integers(0, 3, N)
    vector, loss = design.rows.vector, BetaBernoulli(Plateaus(low), 2.0)
    one = Objective(
        loss, Gaussian(1.0), ScaledDesign(DenseDesign(matrix()), weight, True), y, weight
    )
    scaled = ScaledDesign(design, vector(weight), True)
    other = Objective(loss, Gaussian(1.0), scaled, vector(y), vector(weight))
    rng = np.random.default_rng(5)
    theta, direction = rng.normal(size=(2, one.size))
    value, gradient, raw = one.value_gradient(theta)
    found = other.value_gradient(theta)
    assert found[0] == pytest.approx(value, rel=1e-12)
    close(found[1], gradient)
    close(found[2], raw)
    assert other.errors(theta) == pytest.approx(one.errors(theta))
    close(other.preconditioner(theta)(gradient), one.preconditioner(theta)(gradient))
    steps = np.linspace(-2, 2, 5)
    for j in (0, D, one.size - 1):
        close(other.probe(theta, j, steps), one.probe(theta, j, steps))
        close(other.shifted(found[2], j, 0.3), one.shifted(raw, j, 0.3))
    for k, matrix_of_class in enumerate(other.information(theta)):
        close(matrix_of_class, one.information(theta)[k], rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(
        other.rows.predicted(loss, found[2], other.weight),
        one.rows.predicted(loss, raw, one.weight),
    )
    step, errors = one.line(raw, one.scores(direction))
    there = other.line(found[2], other.scores(direction))
    assert there == (pytest.approx(step, rel=1e-6), pytest.approx(errors))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("scale", [0.0, 3.0])
def test_descents_of_many_classes_are_those_of_numpy(rows, fit_intercept, scale):
    """Also with more steps than are remembered, and where steps are too long at first."""
    X, weight = matrix(), rows[1]
    rng = np.random.default_rng(8)
    labels = np.argmax(X[:, :3] @ rng.normal(size=(3, 4)) + rng.gumbel(size=(N, 4)), axis=1)
    loss = BetaBernoulli(Plateaus.symmetric(0.2, 4), 1.5)
    made = []
    for design in (DenseDesign(X), designs.TorchDesign(torch.from_numpy(X), DEVICE)):
        y, own = (design.rows.vector(v) for v in (labels, weight))
        scaled = ScaledDesign(design, own, fit_intercept)
        made.append(Objective(loss, Gaussian(1.0), scaled, y, own))
    one, other = made
    theta = scale * rng.normal(size=one.size)
    for most in (0, 1, 4, 25):
        solver = LBFGS(tol=1e-9, max_iter=most)
        plain, found = (solver.minimise(each, theta) for each in (one, other))
        assert (found.n_iter, found.reason) == (plain.n_iter, plain.reason)
        assert found.value == pytest.approx(plain.value, rel=1e-9)
        close(found.theta, plain.theta, rtol=1e-5, atol=1e-6)
    assert most == 25 and plain.n_iter > 10


def test_a_full_device_leaves_rows_where_they_are(monkeypatch):
    """Three pieces fit; the last of them makes room for the passes, the rest stays."""
    X = torch.arange(40.0).reshape(20, 2)
    sent = []

    def send(rows, device):
        if len(sent) == 3:
            raise torch.OutOfMemoryError("full")
        sent.append(rows)
        return rows.clone()

    monkeypatch.setattr(place, "_sent", send)
    monkeypatch.setattr(place, "_fitting", lambda rows, device: min(len(rows), 4))
    parts = place.placed(X, torch.device("meta"))
    assert [len(part) for part in parts] == [4, 4, 12]
    assert torch.equal(torch.cat(parts), X)
    assert parts[-1].data_ptr() == X[8:].data_ptr()


def test_what_fits_is_sent_whole(monkeypatch):
    monkeypatch.setattr(place, "_sent", lambda rows, device: rows.clone())
    X = torch.arange(40.0).reshape(20, 2)
    (part,) = place.placed(X, torch.device("meta"))
    assert torch.equal(part, X)


def test_passes_take_smaller_blocks_where_memory_runs_out(monkeypatch, rows):
    class Narrow(designs.TorchDesign):
        def _blocks(self, wide):
            if self._block > 2000 * D:
                raise torch.OutOfMemoryError("full")
            return super()._blocks(wide)

    freed = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: freed.append(1))
    design = Narrow(torch.from_numpy(matrix()), DEVICE)
    close(design.scores(np.ones((1, D)), np.zeros(1)), matrix().sum(axis=1))
    assert freed
    assert design._block <= 2000 * D
    monkeypatch.setattr(designs, "_LEAST_ROWS", 10_000)
    with pytest.raises(torch.OutOfMemoryError):
        Narrow(torch.from_numpy(matrix()), DEVICE).scores(np.ones((1, D)), np.zeros(1))


@pytest.mark.parametrize(
    ("name", "message"),
    [("mps", "float64"), ("gpu", "'cuda:N', got 'gpu'"), (3.5, "device must be")],
)
def test_devices_that_will_not_do_are_named(name, message):
    with pytest.raises(ValueError, match=message):
        find_device(name)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_missing_gpu_is_named():
    with pytest.raises(ValueError, match="finds none here; use device=None"):
        find_device("cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_more_rows_than_the_gpu_has_room_for():
    X = np.random.default_rng(0).normal(size=(400_000, 64))
    whole = designs.TorchDesign(torch.from_numpy(X), DEVICE)
    total = torch.cuda.get_device_properties(DEVICE).total_memory
    expected = whole.scores(np.ones((1, 64)), np.zeros(1)).cpu()
    del whole
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(150e6 / total)
    try:
        design = designs.TorchDesign(torch.from_numpy(X), DEVICE)
        assert design.parts[-1].device.type == "cpu"
        close(design.scores(np.ones((1, 64)), np.zeros(1)), expected)
        close(design.rmatvec(design.rows.vector(np.ones(len(X)))), X.sum(axis=0))
        close(design.moments(design.rows.vector(np.ones(len(X)))).mean, X.mean(axis=0))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
