"""What boosting asks of the loss: the gradient, and a curvature that is never negative."""

import numpy as np
import pytest

from bblr.losses import BetaBernoulli, Plateaus

RATIOS = [0.0, 1e-6, 0.1, 1.0, "each"]
EACH = (0.05, 0.4, 1.5, 0.0)


def problem(n_classes, rho, seed=0, rows=60):
    """A loss with labels and scores; one score a row with two classes."""
    rng = np.random.default_rng(seed)
    plateaus = Plateaus.from_ratio(EACH[:n_classes] if rho == "each" else rho, n_classes)
    y = rng.integers(n_classes, size=rows)
    scores = 4.0 * rng.standard_normal((rows, n_classes) if n_classes > 2 else rows)
    return BetaBernoulli(plateaus, gamma=1.5), (2 * y - 1 if n_classes == 2 else y), scores


def second_derivative(loss, y, scores, step=1e-4):
    """The diagonal of the second derivative, by differences of the gradient."""
    found = np.empty_like(scores)
    for column in [...] if scores.ndim == 1 else [(..., k) for k in range(scores.shape[1])]:
        change = np.zeros_like(scores)
        change[column] = step
        up, down = (loss.value_gradient(y, scores + sign * change)[1] for sign in (1, -1))
        found[column] = (up - down)[column] / (2 * step)
    return found


@pytest.mark.parametrize("rho", RATIOS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_gradient_is_that_of_the_loss(n_classes, rho):
    loss, y, scores = problem(n_classes, rho)
    gradient, _ = loss.gradient_curvature(y, scores)
    np.testing.assert_array_equal(gradient, loss.value_gradient(y, scores)[1])


@pytest.mark.parametrize("rho", RATIOS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_curvature_is_at_least_that_of_the_loss_and_never_negative(n_classes, rho):
    loss, y, scores = problem(n_classes, rho)
    _, curvature = loss.gradient_curvature(y, scores)
    second = second_derivative(loss, y, scores)
    assert (curvature >= 0).all() and (curvature >= second - 1e-6).all()
    assert rho == 0.0 or (second < -1e-3).any() or rho == 1e-6  # where the bound is needed


@pytest.mark.parametrize("n_classes", [2, 4])
def test_without_plateaus_it_is_the_second_derivative(n_classes):
    loss, y, scores = problem(n_classes, 0.0)
    _, curvature = loss.gradient_curvature(y, scores)
    np.testing.assert_allclose(curvature, second_derivative(loss, y, scores), atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_rows_count_by_the_share_that_is_not_plateau(n_classes):
    rho = 0.3
    loss, y, scores = problem(n_classes, rho)
    plain = loss.without_plateaus()
    s = np.exp(-plain.value(y, scores))
    share = (s / (rho + s)).reshape(-1, *[1] * (scores.ndim - 1))
    pairs = zip(
        loss.gradient_curvature(y, scores), plain.gradient_curvature(y, scores), strict=True
    )
    for found, logistic in pairs:
        np.testing.assert_allclose(found, share * logistic, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("rho", [0.0, 1.0])
def test_two_scores_are_one(rho):
    loss, y, f = problem(2, rho)
    both = np.column_stack([-f / 2, f / 2])
    codes = (y > 0).astype(int)
    gradient, curvature = loss.gradient_curvature(y, f)
    pair = loss.gradient_curvature(codes, both)
    # Each of two scores moves by half of what one does.
    np.testing.assert_allclose(pair[0][:, 1] - pair[0][:, 0], 2 * gradient, atol=1e-14)
    np.testing.assert_allclose(pair[1][:, 1], curvature, atol=1e-14)


def test_a_shift_of_all_scores_changes_nothing():
    loss, y, scores = problem(4, 1.0)
    shifted = scores + np.random.default_rng(1).standard_normal((len(y), 1))
    for a, b in zip(loss.gradient_curvature(y, scores), loss.gradient_curvature(y, shifted),
                    strict=True):  # fmt: skip
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_classes_may_be_named_in_any_order():
    loss, y, scores = problem(4, "each")
    order = np.array([2, 0, 3, 1])
    plateaus = Plateaus(tuple(np.array(loss.low)[order]))
    moved = BetaBernoulli(plateaus, loss.gamma).gradient_curvature(
        np.argsort(order)[y], scores[:, order]
    )
    for a, b in zip(loss.gradient_curvature(y, scores), moved, strict=True):
        np.testing.assert_allclose(a[:, order], b, atol=1e-14)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_far_scores_are_finite(n_classes):
    loss, y, scores = problem(n_classes, 1.0)
    for found in loss.gradient_curvature(y, 1e4 * np.sign(scores)):
        assert np.isfinite(found).all()
