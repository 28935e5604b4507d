"""The paper's figures of losses: the lines are the losses, and the drawings can be read."""

from __future__ import annotations

import re
from math import log
from xml.etree import ElementTree

import numpy as np
import pytest

from bblr.losses import BetaBernoulli, Hinge, Logistic, Ramp, Sigmoid, Squared, ZeroOne
from research.paper.curves import Curves, Level, Line, Plot, number
from research.paper.exhibit import Given
from research.paper.exhibits.loss_figures import (
    EXHIBITS,
    GAMMAS,
    LOSSES,
    PLATEAUS,
    RAMP,
    SMOOTH_LOSSES,
)

GIVEN = Given("quick", 0, {}, {})


def line_of(plot: Plot, label: str) -> Line:
    return next(line for line in plot.lines if line.label == label)


def heights(plot: Plot, label: str) -> np.ndarray:
    return line_of(plot, label).values(plot.x, plot.view)


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.name)
def test_drawings_are_sound(exhibit):
    (result,) = exhibit.results(GIVEN, {})
    assert exhibit.tasks(GIVEN) == ()
    assert exhibit.needs == ()
    assert (result.name, result.title) == (exhibit.name, exhibit.title)
    assert len(result.panels) == len(exhibit.plots)
    for panel, plot in zip(result.panels, exhibit.plots, strict=True):
        root = ElementTree.fromstring(panel.svg)
        assert root.get("role") == "img"
        assert root.get("aria-label") == panel.text
        # No colour of its own but white, which nothing shows.
        assert set(re.findall(r"#[0-9a-fA-F]{6}\b", panel.svg)) <= {"#ffffff"}
        words = "".join(root.itertext())
        for line in plot.lines:
            assert line.label in words
            assert line.label in panel.text
        for level in plot.levels:
            assert level.text in words


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.name)
def test_same_bytes_each_time(exhibit):
    assert exhibit.results(GIVEN, {}) == exhibit.results(GIVEN, {})


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda exhibit: exhibit.name)
def test_no_curve_is_cut_off_where_it_is_flat(exhibit):
    for plot in exhibit.plots:
        low, high = plot.heights
        for line in plot.lines:
            values = line.values(plot.x, plot.view)
            assert low < values.min() < high


def test_widely_used_losses():
    (plot,) = LOSSES.plots
    z = plot.x
    assert heights(plot, "zero-one") == pytest.approx(np.where(z <= 0, 1.0, 0.0))
    assert heights(plot, "logistic") == pytest.approx(np.log1p(np.exp(-z)))
    assert heights(plot, "hinge") == pytest.approx(np.maximum(0.0, 1.0 - z))
    assert heights(plot, "squared") == pytest.approx((1.0 - z) ** 2)
    kinds = [type(line.loss) for line in plot.lines]
    assert kinds == [Squared, Hinge, Logistic, ZeroOne]


def test_gammas_double_and_share_the_weak_prior():
    for plot in GAMMAS.plots:
        reference, *family = plot.lines
        assert isinstance(reference.loss, Logistic)
        assert [line.loss.gamma for line in family] == [2.0**k for k in range(11)]
        for line in family:
            assert (line.loss.low[1], line.loss.b) == pytest.approx((1 / 102, 100 / 102))
        opacities = [line.opacity for line in family]
        assert opacities == sorted(opacities)
        assert opacities[-1] == 1.0


def test_plateaus_of_the_weak_prior():
    loss, probability = GAMMAS.plots
    a, b = 1 / 102, 100 / 102
    assert [level.value for level in loss.levels] == pytest.approx([-log(a), -log(a + b)])
    assert [level.value for level in probability.levels] == pytest.approx([a, a + b])
    curve = heights(loss, "γ = 1024")
    assert curve[[0, -1]] == pytest.approx([-log(a), -log(a + b)])
    assert np.exp(-curve) == pytest.approx(heights(probability, "γ = 1024"))


def test_sharpest_curve_is_nearly_the_step():
    loss, _ = GAMMAS.plots
    sharp = line_of(loss, "γ = 1024")
    away = loss.x[np.abs(loss.x) > 0.02]
    step = sharp.loss.limit(np.ones(len(away)), away)
    assert sharp.values(away, "loss") == pytest.approx(step, abs=1e-6)
    first = line_of(loss, "γ = 1").values(away, "loss")
    assert np.abs(first - step).max() > 1.0


def test_smooth_losses_come_closer():
    hinge, step = SMOOTH_LOSSES.plots
    gaps = [
        np.abs(heights(hinge, f"generalised, γ = {gamma}") - Hinge().value(1, hinge.x)).max()
        for gamma in (2, 4)
    ]
    assert gaps == pytest.approx([log(2) / 2, log(2) / 4])
    for gamma in (1, 2, 32):
        drawn = heights(step, f"sigmoid, γ = {gamma}")
        assert drawn == pytest.approx(Sigmoid(gamma).value(1, step.x))


def test_ramp_is_the_sum_of_the_hinges():
    hinge, negative, ramp = (plot.lines[0].values(plot.x, plot.view) for plot in RAMP.plots)
    z = RAMP.plots[0].x
    assert negative == pytest.approx(-np.maximum(0.0, -1.0 - z))
    assert ramp == pytest.approx(hinge + negative)
    assert ramp == pytest.approx(Ramp(s=-1.0).value(1, z))
    assert RAMP.plots[2].levels[0].value == 2.0


def test_strong_and_asymmetric_plateaus():
    strong, uneven = PLATEAUS.plots
    assert [level.value for level in strong.levels] == pytest.approx([-log(1 / 4), -log(3 / 4)])
    assert heights(strong, "γ = 64")[[0, -1]] == pytest.approx([-log(1 / 4), -log(3 / 4)])
    loss = line_of(uneven, "BBγ, t = 1").loss
    assert loss == BetaBernoulli.binary(1 / 4, 1 / 4, 8.0)
    assert heights(uneven, "BBγ, t = 1")[[0, -1]] == pytest.approx([-log(1 / 4), -log(1 / 2)])
    assert heights(uneven, "BBγ, t = −1")[[0, -1]] == pytest.approx([-log(3 / 4), -log(1 / 2)])
    assert sorted(level.value for level in uneven.levels) == pytest.approx(
        [-log(3 / 4), -log(1 / 2), -log(1 / 4)]
    )
    assert heights(uneven, "logistic, t = −1") == pytest.approx(np.logaddexp(0.0, uneven.x))
    for level in uneven.levels:
        share = level.label.removeprefix("−log ").split("/")
        assert level.value == pytest.approx(-log(int(share[0]) / int(share[1])))


def test_text_gives_heights_and_levels():
    plot = Plot(
        title="A step",
        lines=(Line(label="zero-one", loss=ZeroOne(), factor=-1.0),),
        x_label="z",
        y_label="loss",
        heights=(-1.5, 0.5),
        levels=(Level(label="floor", value=-1.0),),
    )
    assert plot.text == (
        "A step. Loss where z is −4, 0 and 4. zero-one: −1.00, −1.00, 0. Marked: floor = −1.00."
    )


def test_steps_are_drawn_upright():
    plot = LOSSES.plots[0]
    jump = np.flatnonzero(np.diff(heights(plot, "zero-one")))
    assert len(jump) == 1
    assert np.diff(plot.x)[jump[0]] < 1e-5
    assert np.all(np.diff(plot.x) > 0)


@pytest.mark.parametrize(
    ("value", "written"), [(1.5, "1.50"), (-0.25, "−0.25"), (0.0098, "0.0098"), (1e-5, "0")]
)
def test_numbers_in_words(value, written):
    assert number(value) == written


def test_place_in_the_paper():
    assert [exhibit.place for exhibit in EXHIBITS] == sorted(e.place for e in EXHIBITS)
    assert all(isinstance(exhibit, Curves) for exhibit in EXHIBITS)
