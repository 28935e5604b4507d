from __future__ import annotations

import numpy as np
import pytest

from bblr import ZeroOneClassifier
from bblr.plotting import CertificateDisplay


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    return X, X[:, 0] + rng.normal(size=60) > 0


@pytest.mark.parametrize("solver", ["search", "sla", "csa", "pcs", "bnb", "mip", "exact"])
def test_certificate_is_monotone_and_ends_where_the_classifier_is(noisy, solver):
    model = ZeroOneClassifier(solver, time_limit=0.2, random_state=0).fit(*noisy)
    display = CertificateDisplay.from_estimator(model)
    assert np.all(np.diff(display.seconds) >= 0)
    assert np.all(np.diff(display.losses) <= 0)
    assert np.all(np.diff(display.bounds) >= 0)
    assert np.all(display.bounds <= display.losses)
    assert display.losses[-1] == model.zero_one_loss_ == display.line_.get_ydata()[-1]
    assert display.bounds[-1] == model.lower_bound_
    assert display.optimal == model.optimal_
    assert (display.bound_line_ is None) == (model.lower_bound_ == 0)
    assert display.estimator_name == solver


def test_curves_last_until_the_fit_ended(noisy):
    model = ZeroOneClassifier("pcs", max_steps=3, random_state=0).fit(*noisy)
    *before, end = model.trace_
    assert (end.loss, end.bound) == (before[-1].loss, before[-1].bound)
    assert end.seconds > before[-1].seconds


def test_bounds_start_where_something_is_proved():
    display = CertificateDisplay([0.1, 0.2, 0.3], [9, 5, 5], [0, 0, 4]).plot()
    assert list(display.bound_line_.get_ydata()) == [4]
    assert not display.optimal
    assert display.end_.get_markerfacecolor() == display.ax_.get_facecolor()


def test_a_proof_is_filled_and_said(proved):
    display = CertificateDisplay.from_estimator(proved)
    assert display.optimal
    assert display.end_.get_markerfacecolor() == display.line_.get_color()
    assert "proved optimal" in display.line_.get_label()
    assert CertificateDisplay([0.1], [3], [3]).optimal


def test_no_time_at_all_can_be_drawn():
    display = CertificateDisplay([0.0], [0.0], [0.0]).plot()
    display.figure_.canvas.draw()
    assert display.line_.get_xdata()[0] > 0


def test_bounds_have_a_style_of_their_own():
    display = CertificateDisplay([0.1, 0.2], [3, 2], [1, 1])
    display.plot(color="red", lw=3, bound_kwargs={"ls": ":", "lw": 1})
    assert display.line_.get_linewidth() == 3 and display.bound_line_.get_linewidth() == 1
    assert display.bound_line_.get_color() == "red" and display.bound_line_.get_linestyle() == ":"


SPANS = [(1.2, 6.5), (2.1, 8.9), (0.3, 0.36), (0.012, 0.0121), (0.001, 400.0), (3.0, 90_000.0)]


@pytest.mark.parametrize("span", [*SPANS, (0.0, 0.0), (7.0, 7.0)])
def test_times_are_plain_numbers_however_short(span):
    display = CertificateDisplay(span, [9, 7], [0, 7]).plot()
    display.figure_.canvas.draw()
    texts = [text.get_text() for text in display.ax_.get_xticklabels(which="both")]
    shown = [text for text in texts if text]
    low, high = display.ax_.get_xlim()
    assert 2 <= len(shown) <= 9
    places = [float(text.replace(",", "")) for text in shown]
    assert places == sorted(set(places)) and low <= places[0] and places[-1] <= high


def test_whole_losses_have_whole_labels():
    display = CertificateDisplay([0.1, 0.2], [3, 3], [3, 3]).plot()
    display.figure_.canvas.draw()
    low, high = display.ax_.get_ylim()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    ticks = display.ax_.get_yticks()
    assert [text for text, y in zip(labels, ticks, strict=True) if low <= y <= high] == ["3"]
