from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from bblr.evaluation import expected_calibration_error
from bblr.evaluation.calibration import reliability_bins
from bblr.plotting import ReliabilityDisplay


@settings(max_examples=60)
@given(
    n=st.integers(1, 80),
    n_bins=st.integers(1, 20),
    strategy=st.sampled_from(["uniform", "quantile"]),
    seed=st.integers(0, 10**6),
)
def test_bins_sum_up(n, n_bins, strategy, seed):
    rng = np.random.default_rng(seed)
    p = rng.choice([0.0, 0.2, 0.5, 1.0, *rng.uniform(size=5)], size=n)
    event = rng.uniform(size=n) < p
    bins = reliability_bins(event, p, n_bins, strategy)
    assert bins.size.sum() == n and (bins.size > 0).all() and len(bins.size) <= n_bins
    assert bins.observed @ bins.size == pytest.approx(event.sum())
    assert bins.predicted @ bins.size == pytest.approx(p.sum())
    assert np.all(np.diff(bins.predicted) >= -1e-12)
    if strategy == "quantile":
        assert np.ptp(bins.size) <= 1
    assert 0.0 <= bins.gap <= 1.0


@pytest.mark.parametrize("n_bins", [1, 7, 15])
def test_gap_of_confidence_is_the_expected_calibration_error(many, iris, linear, heart, n_bins):
    for model, (X, y) in ((many, iris), (linear, heart)):
        display = ReliabilityDisplay.from_estimator(model, X, y, n_bins=n_bins, kind="confidence")
        error = expected_calibration_error(y, model.predict_proba(X), n_bins)
        assert display.gap == pytest.approx(error)
        assert display.counts.sum() == len(y)
        assert "predicted class" in display.ax_.get_xlabel()


def test_class_is_scikit_learns_curve():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=500)
    y = (rng.uniform(size=500) < p).astype(int)
    display = ReliabilityDisplay.from_predictions(y, p, n_bins=10)
    true, predicted = calibration_curve(y, p, n_bins=10)
    np.testing.assert_allclose(display.prob_true, true)
    np.testing.assert_allclose(display.prob_pred, predicted)


@pytest.mark.parametrize("options", [{}, {"kind": "confidence"}, {"pos_label": 0}])
def test_estimator_and_predictions_agree(many, iris, options):
    X, y = iris
    one = ReliabilityDisplay.from_estimator(many, X, y, n_bins=6, **options)
    other = ReliabilityDisplay.from_predictions(y, many.predict_proba(X), n_bins=6, **options)
    for name in ("prob_true", "prob_pred", "counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.line_.get_xydata(), other.line_.get_xydata())
    np.testing.assert_array_equal(one.points_.get_offsets(), other.line_.get_xydata())


def test_the_other_class_is_the_picture_turned_round(linear, heart):
    # With ten bins the plateaus at 0.2 and 0.8 would lie on edges, which belong to one side.
    one = ReliabilityDisplay.from_estimator(linear, *heart, pos_label=1, n_bins=7)
    other = ReliabilityDisplay.from_estimator(linear, *heart, pos_label=0, n_bins=7)
    np.testing.assert_allclose(one.prob_true, 1 - other.prob_true[::-1])
    np.testing.assert_allclose(one.prob_pred, 1 - other.prob_pred[::-1])
    assert one.event == "class 1" and other.event == "class 0"


def test_larger_bins_have_larger_points(linear, heart):
    display = ReliabilityDisplay.from_estimator(linear, *heart, n_bins=5)
    sizes = display.points_.get_sizes()
    np.testing.assert_array_equal(np.argsort(sizes), np.argsort(display.counts))


def test_reference_line_is_drawn_once_and_on_request(linear, heart):
    display = ReliabilityDisplay.from_estimator(linear, *heart)
    ReliabilityDisplay.from_estimator(linear, *heart, ax=display.ax_)
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels.count("Perfectly calibrated") == 1
    bare = ReliabilityDisplay.from_estimator(linear, *heart, ref_line=False)
    assert len(bare.ax_.get_lines()) == 1


def test_misuse_names_the_remedy(linear, heart):
    X, y = heart
    for options, words in (
        ({"n_bins": 0}, "n_bins=0"),
        ({"strategy": "even"}, "strategy must be 'uniform' or 'quantile'"),
        ({"kind": "all"}, "kind must be"),
        ({"pos_label": "yes"}, "none of the classes 0, 1"),
    ):
        with pytest.raises(ValueError, match=words):
            ReliabilityDisplay.from_estimator(linear, X, y, **options)
    with pytest.raises(ValueError, match="labels="):
        ReliabilityDisplay.from_predictions([1, 1], [0.5, 0.7])
    display = ReliabilityDisplay.from_predictions([1, 1], [0.5, 0.7], labels=[0, 1])
    assert display.counts.sum() == 2


def test_curves_on_the_same_axes_can_be_told_apart_where_they_meet(linear, heart):
    one = ReliabilityDisplay.from_estimator(linear, *heart)
    two = ReliabilityDisplay.from_estimator(linear, *heart, ax=one.ax_, name="other")
    assert one.line_.get_marker() != two.line_.get_marker()
    shapes = [display.points_.get_paths()[0].vertices for display in (one, two)]
    assert shapes[0].shape != shapes[1].shape
    # What lies below shines through.
    assert two.points_.get_facecolor()[0, 3] < 0.5 <= two.points_.get_edgecolor()[0, 3]
    handles = one.ax_.get_legend().get_lines()[-2:]
    assert [handle.get_marker() for handle in handles] == [
        one.line_.get_marker(),
        two.line_.get_marker(),
    ]


@pytest.mark.parametrize("marker", ["x", "h"])
def test_markers_can_be_chosen(linear, heart, marker):
    display = ReliabilityDisplay.from_estimator(
        linear, *heart, marker=marker, ms=4, alpha=0.5, color="red"
    )
    display.figure_.canvas.draw()
    assert display.line_.get_marker() == marker
    assert display.points_.get_sizes().max() == 16
    assert list(display.points_.get_edgecolor()[0]) == [1, 0, 0, 0.5]
