"""Some rows of a design are a design of those rows."""

import numpy as np
import pytest

from bblr.designs import ScaledDesign, make_design
from bblr.designs.base import Design
from bblr.designs.dense import DenseDesign, surely_finite
from bblr.losses import BetaBernoulli

LOSS = BetaBernoulli.binary(0.05, 0.7, 3.0)
SOME = np.array([0, 3, 4, 500, 1099])


def test_some_rows(X, stored, rows):
    few = make_design(stored).taken(SOME)
    y, weight = rows[0][SOME], np.ones(len(SOME))
    plane = np.array([[0.7, -1.1, 0.0, 0.03, -0.4]]), np.array([0.2])
    expected = DenseDesign(X[SOME].astype(np.float64)).value_gradient(*plane, y, weight, LOSS)
    found = few.value_gradient(*plane, y, weight, LOSS)
    assert (few.n_rows, few.n_features) == (len(SOME), X.shape[1])
    np.testing.assert_allclose(found.raw, expected.raw, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-5, atol=1e-4)


def test_coordinates_are_those_of_all_rows(stored, rows):
    whole = ScaledDesign(make_design(stored), rows[1], True)
    theta = np.random.default_rng(0).normal(size=(3, whole.size))
    one = np.ones(whole.design.n_rows)
    whole.leverage(1.0, one), whole.curvature(one, 100)  # which must not be remembered
    few = whole.taken(SOME)
    np.testing.assert_allclose(few.scores(theta), whole.scores(theta)[SOME], rtol=1e-6, atol=1e-6)
    assert len(few.leverage(1.0, np.ones(len(SOME)))) == len(SOME)
    assert np.all(np.isfinite(few.curvature(np.ones(len(SOME)), 3)))


def test_a_design_may_decline():
    assert Design.taken(object(), SOME) is None


def test_tensors(monkeypatch):
    torch = pytest.importorskip("torch")
    from bblr.designs.torch.tensor_design import TorchDesign

    rng = np.random.default_rng(1)
    X = rng.normal(size=(1100, 3))
    design = TorchDesign(torch.from_numpy(X), torch.device("cpu"))
    assert design.taken(SOME) is None
    monkeypatch.setattr("bblr.designs.torch.tensor_design._QUICK", 100)
    np.testing.assert_array_equal(design.taken(SOME).table(), X[SOME])
    raw = rng.normal(size=60)
    picked = design.rows.pick(torch.from_numpy(raw), SOME[:3])
    np.testing.assert_array_equal(picked.numpy(), raw[SOME[:3]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_seen(threaded, dtype, order, odd):
    X = np.asarray(np.random.default_rng(0).normal(size=(50, 7)), dtype=dtype, order=order)
    assert surely_finite(X) and not surely_finite(X[::2]) and not surely_finite(X.tolist())
    X[31, 4] = odd
    assert not surely_finite(X)
