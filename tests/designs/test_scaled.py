"""Coordinates without units."""

import numpy as np
import pytest
from scipy import sparse

from bblr.designs import ScaledDesign, make_design
from bblr.losses import BetaBernoulli, Logistic, Plateaus

LOSSES = {
    1: BetaBernoulli.binary(0.05, 0.7, 2.0),
    3: BetaBernoulli(Plateaus((0.1, 0.05, 0.0)), 2.0),
}


@pytest.fixture(params=[True, False], ids=["intercept", "no-intercept"])
def fit_intercept(request):
    return request.param


@pytest.fixture(params=[1, 3], ids=["one score", "three scores"])
def loss(request):
    return LOSSES[request.param]


@pytest.fixture
def theta(X, weight, fit_intercept, loss):
    varying = np.any(X[weight > 0] != X[weight > 0][0], axis=0) | (not fit_intercept)
    size = np.count_nonzero(varying & X.any(axis=0)) + fit_intercept
    return np.random.default_rng(2).normal(size=(loss.n_scores, size))


@pytest.fixture
def y(rows, loss):
    return rows[0] if loss.n_scores == 1 else np.random.default_rng(8).integers(0, 3, len(rows[0]))


@pytest.fixture
def weight(rows):
    return rows[1]


def scaled_matrix(design, X):
    """What the parameters multiply, written out."""
    Z = ((X.astype(np.float64) - design.centre) / design.scale)[:, design.varying]
    return np.column_stack([Z, np.ones(len(X))]) if design.fit_intercept else Z


def moved(raw, k, change):
    raw = raw.copy()
    (raw[:, None] if raw.ndim == 1 else raw)[:, k] += change
    return raw


def test_unpack_and_pack_are_inverse(X, stored, weight, theta, fit_intercept):
    design = ScaledDesign(make_design(stored), weight, fit_intercept)
    coef, intercepts = design.unpack(theta)
    assert (coef.shape, intercepts.shape) == ((len(theta), X.shape[1]), (len(theta),))
    np.testing.assert_allclose(design.pack(coef, intercepts), theta, rtol=1e-12, atol=1e-13)
    again = design.unpack(design.pack(coef, intercepts))
    np.testing.assert_allclose(again[0], coef, rtol=1e-13)
    np.testing.assert_allclose(again[1], intercepts, rtol=1e-12, atol=1e-12)
    plane = design.plane(theta[-1])
    np.testing.assert_array_equal(plane[0], coef[-1])
    # Products of one row and of three are summed in different orders.
    assert plane[1] == pytest.approx(intercepts[-1], rel=1e-12, abs=1e-12)


def test_products_are_those_of_the_scaled_matrix(X, stored, weight, theta, fit_intercept):
    design = ScaledDesign(make_design(stored), weight, fit_intercept)
    Z, half = scaled_matrix(design, X), X.dtype == np.float32 and not sparse.issparse(stored)
    raw = Z @ theta.T
    found = design.scores(theta)
    np.testing.assert_allclose(
        found, raw[:, 0] if len(theta) == 1 else raw, atol=1e-4 if half else 1e-9
    )
    cross = Z.T @ (weight[:, None] * Z)
    np.testing.assert_allclose(design.curvature(weight, len(X)), cross, rtol=1e-8, atol=1e-7)
    diagonal = design.column_squares(weight)
    np.testing.assert_allclose(diagonal, np.diag(cross), rtol=1e-6 if half else 1e-8, atol=1e-7)
    pulled = design.rmatvec(weight * Z[:, 0])
    atol = 1e-2 if half else 1e-8
    np.testing.assert_allclose(pulled, (weight * Z[:, 0]) @ Z, rtol=1e-6, atol=atol)
    lengths = 1.0 + (Z[:, : design.n_features] ** 2).sum(axis=1)
    found = design.rows.local(design.square_lengths)
    np.testing.assert_allclose(found, lengths, rtol=1e-6)


def test_steps_along_a_parameter(X, stored, y, weight, theta, fit_intercept, loss):
    design = ScaledDesign(make_design(stored), weight, fit_intercept)
    Z, raw = scaled_matrix(design, X), design.scores(theta)
    before, steps = raw.copy(), np.linspace(-1, 1, 5)
    decision = loss.decision(raw)
    here = weight @ loss.wrong(y, raw)
    places = [(k, p) for k in range(len(theta)) for p in range(design.size)]
    probes = design.probes(raw, places, steps, y, weight, loss)
    for (k, p), probe in zip(places, probes, strict=True):
        found = design.shifted(raw, k, p, 0.3)
        np.testing.assert_allclose(found, moved(raw, k, 0.3 * Z[:, p]), rtol=1e-12, atol=1e-12)
        direct = [loss.value(y, moved(raw, k, s * Z[:, p])) @ weight for s in steps]
        np.testing.assert_allclose(probe, direct, rtol=1e-10)
        step, errors, at_zero = design.axis_line(decision, k, p, y, weight)
        change = moved(np.zeros_like(raw), k, Z[:, p])
        best = design.rows.line(decision, change, y, weight)
        assert best[2] == pytest.approx(here, abs=1e-9)
        assert here - best[1] == pytest.approx(at_zero - errors, abs=1e-9)
        there = weight @ loss.wrong(y, design.shifted(raw, k, p, step)) if step != 0 else here
        assert here - there == pytest.approx(at_zero - errors, abs=1e-9)
    np.testing.assert_array_equal(raw, before)


def test_gradient_against_differences(stored, y, weight, theta, fit_intercept, loss):
    design = ScaledDesign(make_design(stored), weight, fit_intercept)
    value, gradient, raw = design.value_gradient(theta, y, weight, loss)
    assert value == pytest.approx(float(loss.value(y, raw) @ weight), rel=1e-12)
    assert gradient.shape == theta.shape
    half = stored.dtype == np.float32
    step = 1e-2 if half else 1e-5
    for place in np.ndindex(*theta.shape):
        axis = np.zeros_like(theta)
        axis[place] = step
        up, down = (design.value_gradient(theta + s * axis, y, weight, loss)[0] for s in (1, -1))
        assert gradient[place] == pytest.approx(
            (up - down) / (2 * step), rel=1e-6, abs=3e-2 if half else 1e-5
        )


def quantities(X, y, weight, fit_intercept, theta):
    loss, theta = LOSSES[1], theta[None]
    design = ScaledDesign(make_design(X), weight, fit_intercept)
    value, gradient, raw = design.value_gradient(theta, y, weight, loss)
    probe = design.probes(raw, [(0, 0)], np.linspace(-1, 1, 9), y, weight, loss)[0]
    return value, gradient[0], raw, probe, design.curvature(weight, 400)


@pytest.mark.parametrize("factor", [1000.0, 1e-6, -3.0, 1e30])
@pytest.mark.parametrize("column", [0, 1, 2, 3])
@pytest.mark.parametrize("wrap", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_units_do_not_matter(rows, fit_intercept, factor, column, wrap):
    X = np.random.default_rng(3).normal(loc=[0, 0, 0, 20], size=(1100, 4))
    X[:, 1] *= np.random.default_rng(4).random(1100) < 0.2
    theta = np.array([1.0, -0.5, 0.25, 2.0, 0.3])[: 4 + fit_intercept]
    other, mirrored = X.copy(), theta.copy()
    other[:, column] *= factor
    mirrored[column] *= np.sign(factor)
    sign = np.ones(len(theta))
    sign[column] = np.sign(factor)
    value, gradient, raw, probe, curvature = quantities(wrap(X), *rows, fit_intercept, theta)
    found = quantities(wrap(other), *rows, fit_intercept, mirrored)
    assert found[0] == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(found[1] * sign, gradient, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(found[2], raw, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found[3], probe if column or factor > 0 else probe[::-1], rtol=1e-9)
    np.testing.assert_allclose(
        found[4] * np.outer(sign, sign), curvature, rtol=1e-6, atol=1e-6 * np.abs(curvature).max()
    )


@pytest.mark.parametrize("shift", [5.0, -1e3, 1e6])
@pytest.mark.parametrize("wrap", [np.asarray, np.asfortranarray])
def test_the_origin_of_a_dense_column_does_not_matter(rows, shift, wrap):
    X = np.random.default_rng(3).normal(size=(1100, 3))
    theta = np.array([1.0, -0.5, 0.25, 0.3])
    plain, moved = (
        quantities(wrap(X + np.array([0, s, 0])), *rows, True, theta) for s in (0.0, shift)
    )
    tolerance = 1e-13 * (1 + shift**2)
    for found, expected in zip(moved, plain, strict=True):
        reach = max(tolerance, 1e-9) * np.max(np.abs(expected))
        np.testing.assert_allclose(found, expected, rtol=0, atol=reach)


def test_dense_and_sparse_storage_scale_alike(X, stored, rows, fit_intercept):
    found = ScaledDesign(make_design(stored), rows[1], fit_intercept)
    dense = ScaledDesign(make_design(X.astype(np.float64)), rows[1], fit_intercept)
    np.testing.assert_allclose(found.centre, dense.centre, rtol=1e-12)
    np.testing.assert_allclose(found.scale, dense.scale, rtol=1e-9)


def test_columns_that_are_mostly_zero_are_not_centred():
    X = np.zeros((100, 2))
    X[:20, 0], X[:80, 1] = 3.0, 3.0
    design = ScaledDesign(make_design(X), np.ones(100), True)
    assert design.centre == pytest.approx([0.0, 2.4])
    assert design.scale == pytest.approx([3.0 * 0.2**0.25, 3.0 * np.sqrt(0.8 * 0.2)])


def test_a_rare_column_is_louder_where_it_occurs_and_quieter_over_all_rows():
    X = np.zeros((10_000, 2))
    X[:4000, 0], X[:25, 1] = 1.0, 5.0
    design = ScaledDesign(make_design(sparse.csr_array(X)), np.ones(len(X)), True)
    scaled = X / design.scale
    occurring = [np.sqrt(np.mean(column[column != 0] ** 2)) for column in scaled.T]
    overall = np.sqrt(np.mean(scaled**2, axis=0))
    # The geometric mean of the two scales leaves one over to each.
    assert np.multiply(occurring, overall) == pytest.approx([1.0, 1.0])
    assert occurring[1] / occurring[0] == pytest.approx(160**0.25)


@pytest.mark.parametrize("weight", [1.0, 0.1, 1 / 3, 0.7, 1e-3])
def test_a_column_half_zero_is_the_same_for_every_weight_and_storage(weight):
    """A balanced indicator lies on the border; rounding must not push it over."""
    for n in (10, 100, 1000, 2660, 2820):
        x = np.tile([[0.0, 0.0], [1.0, 1.0]], (n // 2, 1))
        reference = ScaledDesign(make_design(x), np.ones(n), True)
        for wrap in (np.asarray, np.asfortranarray, sparse.csr_array):
            design = ScaledDesign(make_design(wrap(x)), np.full(n, weight), True)
            assert design.centre == pytest.approx(reference.centre, abs=1e-9)
            assert design.scale == pytest.approx(reference.scale, abs=1e-9)


@pytest.mark.parametrize("wrap", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("constant", [0.0, 1.0, -7.3, 1e6 + 0.1])
def test_constant_columns_are_harmless(wrap, constant, fit_intercept):
    rng = np.random.default_rng(0)
    y, weight = rng.choice([-1.0, 1.0], 80), np.ones(80)
    X = np.column_stack([rng.normal(size=80), np.full(80, constant)])
    design = ScaledDesign(make_design(wrap(X)), weight, fit_intercept)
    assert np.all(np.isfinite(design.centre))
    assert np.all(design.scale > 0)
    theta = np.ones((1, design.size))
    _, gradient, raw = design.value_gradient(theta, y, weight, Logistic())
    assert np.all(np.isfinite(gradient))
    assert np.all(np.abs(raw) < 20)
    free = not (fit_intercept or constant == 0)  # without an intercept it is one
    assert design.size == 1 + free + fit_intercept


def sampled_error(X, max_rows):
    n = X.shape[0]
    design = ScaledDesign(make_design(X), np.ones(n), True)
    weight = np.random.default_rng(5).uniform(0.1, 1.0, n)
    exact = design.curvature(weight, n)
    sample = design.curvature(weight, max_rows)
    # In the units of the exact matrix: eigenvalues of its inverse times the sample's.
    factor = np.linalg.cholesky(exact)
    whitened = np.linalg.solve(factor, np.linalg.solve(factor, sample).T)
    return np.abs(np.linalg.eigvalsh(whitened) - 1).max()


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
def test_sampled_curvature_is_close(wrap):
    X = wrap(np.random.default_rng(6).normal(size=(20_000, 8)))
    assert sampled_error(X, 2000) < 0.25
    assert sampled_error(X, 500) < 0.6


def test_sampled_curvature_survives_heavy_tails():
    X = np.random.default_rng(6).standard_t(1.5, size=(20_000, 4))
    assert sampled_error(X, 2000) < 0.3


def test_curvature_is_exact_when_all_rows_that_count_fit(rows):
    X = np.random.default_rng(6).normal(size=(1100, 3))
    weight = rows[1].copy()
    weight[100:] = 0.0
    design = ScaledDesign(make_design(X), rows[1], True)
    few = int(np.count_nonzero(weight))
    np.testing.assert_array_equal(design.curvature(weight, few), design.curvature(weight, 10**6))
    assert not np.array_equal(design.curvature(weight, few // 2), design.curvature(weight, few))


def test_the_sample_is_the_same_every_time():
    X = np.random.default_rng(6).normal(size=(5000, 3))
    found = [
        ScaledDesign(make_design(X), np.ones(5000), True).curvature(np.ones(5000), 100)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*found)


def test_sample_of_vanishing_weights():
    X = np.random.default_rng(0).standard_normal((500, 2))
    design = ScaledDesign(make_design(X), np.ones(500), True)
    sampled = design.curvature(np.full(500, 1e-310), 100)
    assert np.isfinite(sampled).all()
    assert sampled[2, 2] == pytest.approx(500e-310, rel=0.2)
