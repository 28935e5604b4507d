from __future__ import annotations

import numpy as np
import pytest

from bblr import BBLRClassifier, BBLRClassifierCV, KernelBBLRClassifier
from bblr.plotting import PathDisplay


@pytest.fixture(scope="module")
def models(heart, moons, linear, many, sla):
    return {
        "linear": linear,
        "many": many,
        "sla": sla,
        "learned": BBLRClassifier("learned").fit(*heart),
        "cv": BBLRClassifierCV(l2s=(3.0,), cv=2, random_state=0).fit(*heart),
        "kernel": KernelBBLRClassifier(gamma_max=4.0).fit(*moons),
    }


@pytest.mark.parametrize("name", ["linear", "many", "sla", "learned", "cv", "kernel"])
def test_points_are_those_of_the_path(models, name):
    model = models[name]
    display = PathDisplay.from_estimator(model)
    for column, drawn in (
        ("gamma", display.gammas),
        ("errors", display.errors),
        ("errors", display.line_.get_ydata()),
        ("value", display.values),
        ("value", display.loss_line_.get_ydata()),
    ):
        np.testing.assert_array_equal(drawn, [getattr(s, column) for s in model.path_])
    finite = np.isfinite(display.gammas)
    np.testing.assert_array_equal(display.line_.get_xdata()[finite], display.gammas[finite])


def test_infinity_is_drawn_last_and_named(sla):
    display = PathDisplay.from_estimator(sla)
    assert display.gammas[-1] == np.inf
    x = display.line_.get_xdata()
    assert np.isfinite(x).all() and x[-1] > x[-2]
    assert [text.get_text() for text in display.ax_.texts] == ["γ = ∞"]
    assert x[-1] not in display.ax_.get_xticks()


def test_ticks_are_the_gammas_of_all_paths(linear):
    display = PathDisplay.from_estimator(linear)
    np.testing.assert_array_equal(display.ax_.get_xticks(), [1, 2, 4, 8])
    PathDisplay([3, 16], [5, 4]).plot(display.ax_)
    assert {1, 16} <= set(display.ax_.get_xticks())


def test_errors_alone():
    display = PathDisplay([1, 2], [5, 4]).plot()
    assert display.loss_ax_ is None and display.loss_line_ is None
    assert len(display.figure_.axes) == 1


def test_infinity_alone_can_be_drawn():
    display = PathDisplay([np.inf], [5]).plot()
    display.figure_.canvas.draw()
    assert np.isfinite(display.line_.get_xdata()).all()


def test_held_out_errors_go_beside_the_path(heart):
    X, y = heart
    model = BBLRClassifier().fit(X[::2], y[::2])
    display = PathDisplay.from_estimator(model)
    assert display.ax_.get_ylabel() == "Training errors (solid)"
    ends = [BBLRClassifier(gamma_max=g).fit(X[::2], y[::2]) for g in display.gammas]
    errors = [(end.predict(X[1::2]) != y[1::2]).sum() for end in ends]
    # The last of them is the model itself.
    assert errors[-1] == (model.predict(X[1::2]) != y[1::2]).sum()
    held = PathDisplay(display.gammas, errors, subset="held-out", estimator_name="BBLR")
    held.plot(display.ax_)
    assert held.ax_.get_ylabel() == "Errors (solid)"
    legends = [ax.get_legend() for ax in held.figure_.axes if ax.get_legend() is not None]
    assert len(legends) == 1
    assert [text.get_text() for text in legends[0].get_texts()] == [
        "BBLRClassifier",
        "BBLR, held-out",
    ]
    assert held.plot().ax_.get_ylabel() == "Held-out errors"
    assert PathDisplay([1], [2], subset=None).plot().ax_.get_ylabel() == "Errors"


@pytest.mark.parametrize(
    ("errors", "values", "free"),
    [
        ([5, 4, 3, 2], None, {"upper right", "lower left"}),
        ([2, 3, 4, 5], None, {"upper left", "lower right"}),
        ([2, 3, 4, 5], [1, 2, 3, 9], {"upper left", "lower right"}),
    ],
)
def test_legend_goes_where_nothing_is_drawn(errors, values, free):
    display = PathDisplay([1, 2, 4, 8], errors, values, estimator_name="path").plot()
    display.figure_.canvas.draw()
    (legend,) = [ax.get_legend() for ax in display.figure_.axes if ax.get_legend()]
    frame = legend.get_frame().get_window_extent()
    for ax in display.figure_.axes:
        for line in ax.get_lines():
            assert not frame.count_contains(ax.transData.transform(line.get_xydata()))
    centre = display.ax_.transAxes.inverted().transform([(frame.x0 + frame.x1) / 2, frame.y0])
    corner = f"{'upper' if centre[1] > 0.5 else 'lower'} {'right' if centre[0] > 0.5 else 'left'}"
    assert corner in free
