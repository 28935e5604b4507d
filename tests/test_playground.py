"""The page with sliders, in a browser: its formulas are ours, and every control moves it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bblr import BBLRClassifier, Plateaus
from bblr.datasets import load_uci
from bblr.losses import LOSSES, BetaBernoulli
from tests.research.paper.browser import CHROMIUM, ask

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium to open the page in")

PAGE = Path(__file__).parents[1] / "docs" / "playground" / "index.html"
RIVALS = ("logistic", "hinge", "zero-one", "sigmoid")
SLIDERS = ("alpha", "beta", "n", "gamma")
MARGINS = [-1e6, -700.0, -20.0, -3.5, -1.0, -0.25, -1e-9, 0.0, 1e-9, 0.3, 1.0, 2.0, 50.0, 1e6]
SETTINGS = [
    dict(zip(SLIDERS, values, strict=True))
    for values in product(
        (0.0, 0.01, 1.0, 25.0, 100.0), (0.0, 0.5, 25.0, 100.0), (1.0, 75.0, 1e4), (0.1, 1.0, 100.0)
    )
]

EVALUATE = """
(page) => {
  const p = page.playground, settings = %s, margins = %s;
  return settings.map((s) => ({
    a: p.prior(s).a, b: p.prior(s).b, threshold: String(p.threshold(s)),
    plateaus: [1, -1].flatMap((y) => [p.plateaus(y, s).wrong, p.plateaus(y, s).right]).map(String),
    loss: [1, -1].map((y) => margins.map((raw) => p.loss(y, raw, s))),
    slope: [1, -1].map((y) => margins.map((raw) => p.slope(y, raw, s))),
    probability: margins.map((raw) => p.probability(raw, s)),
    rivals: %s.map((name) => margins.map((z) => p.rival(name, z, s))),
  }));
}
"""

# What a reader sees, and what each control does to it.
LOOK = """
(wide, phone) => {
  const get = (id) => wide.document.getElementById(id);
  const drawn = (id) => Array.from(get(id).querySelectorAll("path.curve"),
    (path) => [path.getAttribute("class"), path.getAttribute("d")]);
  const seen = () => ({ loss: drawn("loss"), probability: drawn("probability"),
    numbers: get("numbers").textContent, hash: wide.location.hash,
    state: JSON.parse(JSON.stringify(wide.playground.state)) });
  const moved = (id, act) => {
    wide.playground.change({ alpha: 3, beta: 5, n: 50, gamma: 2, show: ["logistic"] });
    const before = seen(), control = get(id);
    control.focus();
    act(control);
    return { before, after: seen(), focused: wide.document.activeElement === control };
  };
  const say = (control, kind) => control.dispatchEvent(new wide.Event(kind, { bubbles: true }));
  const type = (control, text) => {
    control.value = text;
    say(control, "input");
    say(control, "change");
  };
  const answer = {};
  answer.sliders = Object.fromEntries(%s.map((name) => [name, {
    slid: moved(name, (c) => { c.stepUp(30); say(c, "input"); }),
    typed: moved(`${name}-number`, (c) => type(c, "7.25")),
    wrong: moved(`${name}-number`, (c) => type(c, "-3")),
    label: get(name).labels[0].textContent, spoken: get(name).getAttribute("aria-valuetext"),
  }]));
  answer.toggles = Object.fromEntries(
    %s.map((name) => [name, moved(`show-${name}`, (c) => c.click())]));
  answer.presets = Array.from(get("presets").querySelectorAll("button"), (button) => {
    button.click();
    return [button.textContent, seen().state];
  });
  wide.playground.change({ alpha: 5, beta: 45, n: 75, gamma: 2, show: [] });
  answer.scale = Array.from(get("loss").querySelectorAll("text.y"),
    (text) => [Number(text.dataset.value), Number(text.dataset.at)]);
  answer.parted = drawn("loss");
  const root = phone.document.documentElement;
  const box = (element) => element.getBoundingClientRect();
  answer.phone = { width: phone.innerWidth, content: root.scrollWidth,
    outside: Array.from(phone.document.querySelectorAll("body *"))
      .filter((e) => !e.closest("svg") && box(e).right > phone.innerWidth + 1)
      .map((e) => e.outerHTML.slice(0, 120)),
    drawing: box(phone.document.getElementById("loss")) };
  const ink = (selector, property) => Array.from(wide.document.querySelectorAll(selector),
    (e) => wide.getComputedStyle(e)[property]);
  answer.colours = { paper: ink("body", "backgroundColor"),
    text: ink("body, h1, p, td, th", "color"),
    drawn: [...ink("svg text", "fill"), ...ink("path.curve", "stroke")] };
  answer.outside = Array.from(wide.document.querySelectorAll("[src], link[href]"),
    (e) => e.getAttribute("src") ?? e.getAttribute("href")).filter((u) => !u.startsWith("data:"));
  return answer;
}
""" % (json.dumps(SLIDERS), json.dumps(RIVALS))  # noqa: UP031


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def seen(page, tmp_path_factory):
    return ask(tmp_path_factory.mktemp("light"), page, LOOK, (1200, 360))


@pytest.fixture(scope="module")
def computed(page, tmp_path_factory):
    script = EVALUATE % (json.dumps(SETTINGS), json.dumps(MARGINS), json.dumps(RIVALS))
    answer, console = ask(tmp_path_factory.mktemp("values"), page, script, (1200,))
    assert console == []
    return answer


def of_counts(setting):
    return Plateaus.from_counts([setting["beta"], setting["alpha"]], setting["n"])


def close(found, expected, what):
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=str(what))


def test_nothing_is_said_on_the_console_and_nothing_is_loaded(seen):
    answer, console = seen
    assert console == []
    assert "error" not in answer
    assert answer["outside"] == []


def test_curves_are_those_of_the_library(computed):
    raw = np.array(MARGINS)
    for setting, found in zip(SETTINGS, computed, strict=True):
        prior = of_counts(setting)
        loss = BetaBernoulli(prior, setting["gamma"])
        close([found["a"], found["b"]], [prior.a, prior.b], setting)
        close(found["probability"], loss.probability(raw), setting)
        for k, y in enumerate((1, -1)):
            value, slope = loss.value_gradient(np.full(len(raw), y), raw)
            close(found["loss"][k], value, setting)
            close(found["slope"][k], slope, setting)
        for name, line in zip(RIVALS, found["rivals"], strict=True):
            close(line, LOSSES[name].sharpened(setting["gamma"]).value(1, raw), (name, setting))
        close(as_float(found["threshold"]), loss.threshold, setting)
        with np.errstate(divide="ignore"):
            ends = -np.log([prior.a, prior.a + prior.b, prior.low[0], prior.low[0] + prior.b])
        close([as_float(end) for end in found["plateaus"]], ends, setting)


def as_float(text: str) -> float:
    return float(text.replace("Infinity", "inf"))


def test_limits(page, tmp_path):
    script = """(page) => {
      const p = page.playground, raw = [-3, -0.5, 0, 0.5, 3];
      const all = (s) => ({ loss: raw.map((f) => p.loss(1, f, s)),
        mu: raw.map((f) => p.probability(f, s)) });
      return { step: all({ alpha: 25, beta: 25, n: 75, gamma: 1e4 }),
        logistic: all({ alpha: 1, beta: 1, n: 1e12, gamma: 1 }),
        none: all({ alpha: 0, beta: 0, n: 3, gamma: 1 }),
        flat: all({ alpha: 3, beta: 1, n: 1e-12, gamma: 1 }) };
    }"""
    found, console = ask(tmp_path, page, script, (1200,))
    assert console == []
    raw = np.array([-3, -0.5, 0, 0.5, 3])
    logistic = np.logaddexp(0, -raw)
    np.testing.assert_allclose(found["step"]["mu"], [0.2, 0.2, 0.5, 0.8, 0.8], atol=1e-12)
    np.testing.assert_allclose(
        found["step"]["loss"], -np.log([0.2, 0.2, 0.5, 0.8, 0.8]), atol=1e-12
    )
    np.testing.assert_allclose(found["logistic"]["loss"], logistic, atol=1e-10)
    np.testing.assert_allclose(found["none"]["loss"], logistic, atol=1e-12)
    np.testing.assert_allclose(found["flat"]["mu"], 0.75, atol=1e-11)


@pytest.mark.parametrize("name", SLIDERS)
def test_each_slider_moves_the_drawing(seen, name):
    slider = seen[0]["sliders"][name]
    for way in ("slid", "typed"):
        before, after = slider[way]["before"], slider[way]["after"]
        assert slider[way]["focused"]
        assert after["state"][name] != before["state"][name]
        for other in set(SLIDERS) - {name}:
            assert after["state"][other] == before["state"][other]
        assert after["loss"][-1] != before["loss"][-1]
        assert after["probability"][-1] != before["probability"][-1]
        assert after["numbers"] != before["numbers"]
        assert f"{name}={after['state'][name]:g}" in after["hash"]
    assert slider["typed"]["after"]["state"][name] == 7.25
    assert slider["wrong"]["after"] == slider["wrong"]["before"]
    assert len(slider["label"]) > 3 and "=" in slider["spoken"]


@pytest.mark.parametrize("name", RIVALS)
def test_each_toggle_draws_or_removes_a_loss(seen, name):
    toggle = seen[0]["toggles"][name]
    before = {shape for shape, _ in toggle["before"]["loss"]}
    after = {shape for shape, _ in toggle["after"]["loss"]}
    assert before ^ after == {f"curve {name}"}
    assert toggle["focused"]
    assert (name in toggle["after"]["hash"]) == (f"curve {name}" in after)


def fitted(name, swapped):
    """The default model of an embedded set, with a share of its labels swapped."""
    X, y = load_uci(name, return_X_y=True)
    rows = np.random.default_rng(0).choice(len(y), int(swapped * len(y)), replace=False)
    y[rows] = 1 - y[rows]
    return BBLRClassifier().fit(X, y)


@pytest.mark.parametrize(
    ("preset", "name", "swapped"),
    [("the default", "heart", 0.0), ("the default, dirty labels", "breast", 0.1)],
)
def test_the_default_is_what_a_fit_chooses(seen, preset, name, swapped):
    shown, model = dict(seen[0]["presets"])[preset], fitted(name, swapped)
    prior = of_counts(shown)
    np.testing.assert_allclose(prior.low, model.prior_.low, atol=2e-3)
    assert shown["gamma"] == model.gamma_


def test_presets_mean_what_they_say(seen):
    presets = dict(seen[0]["presets"])
    robust = presets["robust prior, γ = 8"]
    prior = of_counts(robust)
    assert (prior.a, prior.b, robust["gamma"]) == (0.2, 0.6, 8)
    weak = presets["weak prior"]
    assert of_counts(weak) == Plateaus.weak()
    assert presets["logistic"]["alpha"] == presets["logistic"]["beta"] == 0
    assert presets["logistic"]["gamma"] == 1
    assert (
        presets["missed positives cost more"]["alpha"]
        < 10
        < presets["missed positives cost more"]["beta"]
    )


def test_what_is_drawn_is_what_is_computed(seen):
    """The ends of the drawn curves, read off the axis, are the plateaus."""
    (low, at_low), *_, (high, at_high) = seen[0]["scale"]
    prior = Plateaus.from_counts([45, 5], 75)
    loss = BetaBernoulli(prior, 2.0)
    assert [shape for shape, _ in seen[0]["parted"]] == [
        "curve ours positive",
        "curve ours negative",
    ]
    for (_, path), y in zip(seen[0]["parted"], (1, -1), strict=True):
        points = np.array([point.split() for point in path[1:].split("L")], dtype=float)
        heights = low + (points[:, 1] - at_low) / (at_high - at_low) * (high - low)
        margins = -6 + 12 * (points[:, 0] - points[0, 0]) / (points[-1, 0] - points[0, 0])
        # Coordinates are rounded to a hundredth of a pixel.
        np.testing.assert_allclose(heights, loss.value(y, y * margins), atol=2e-3)


def test_page_fits_a_phone(seen):
    phone = seen[0]["phone"]
    assert phone["width"] == 360
    assert phone["content"] <= 360
    assert phone["outside"] == []
    assert phone["drawing"]["width"] > 250 and phone["drawing"]["height"] > 150


def test_page_suits_light_and_dark(page, seen, tmp_path):
    dark, console = ask(
        tmp_path, page, LOOK, (1200, 360), "--blink-settings=preferredColorScheme=0"
    )
    assert console == []
    for answer, light in ((seen[0], True), (dark, False)):
        paper = brightness(answer["colours"]["paper"][0])
        assert paper > 240 if light else paper < 40
        for colour in answer["colours"]["text"] + answer["colours"]["drawn"]:
            assert abs(brightness(colour) - paper) > 80, colour


def brightness(colour: str) -> float:
    return sum(map(float, colour.removeprefix("rgb(").removesuffix(")").split(","))) / 3


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        (
            "#alpha=5&beta=45&n=75&gamma=2.5&show=hinge,sigmoid",
            {"alpha": 5, "beta": 45, "n": 75, "gamma": 2.5, "show": ["hinge", "sigmoid"]},
        ),
        (
            "#alpha=-1&beta=x&n=0&gamma=1e999&show=<script>",
            {"alpha": 3.33, "beta": 2.27, "n": 94.4, "gamma": 1, "show": []},
        ),
        ("", {"alpha": 3.33, "beta": 2.27, "n": 94.4, "gamma": 1, "show": ["logistic"]}),
        ("#beta=0", {"alpha": 3.33, "beta": 0, "n": 94.4, "gamma": 1, "show": ["logistic"]}),
    ],
)
def test_settings_are_read_from_the_address(page, tmp_path, fragment, expected):
    script = """(page) => ({ state: page.playground.state,
      typed: page.document.getElementById("beta-number").value })"""
    answer, console = ask(tmp_path, page, script, (800,), fragment=fragment)
    assert console == []
    assert answer["state"] == expected
    assert float(answer["typed"]) == expected["beta"]
