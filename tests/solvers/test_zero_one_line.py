"""The exact zero-one line search against brute force."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import bblr
from bblr._numeric.zero_one import exact_line
from bblr.designs import ScaledDesign, make_design
from bblr.losses import BetaBernoulli, Plateaus
from bblr.objective import Objective
from bblr.penalties import Gaussian
from bblr.solvers import ZeroOneSearch
from bblr.solvers.zero_one_line import Walker

# Small whole numbers make ties, equal breakpoints and scores of zero common, and all sums exact.
whole = st.integers(-4, 4).map(float)
row = st.tuples(whole, whole, st.sampled_from([-1.0, 1.0]), st.integers(0, 3).map(float))
tiny = st.lists(row, min_size=1, max_size=9).map(lambda rows: np.array(rows).T.copy())
many = settings(max_examples=300)


def zero_one_line(raw, direction, y, weight):
    return exact_line(raw, direction, y, weight)[:2]


def settled(objective, theta):
    """Follow the coordinates until none of them gains."""
    walker = Walker(objective, theta)
    while walker.follow_each(np.eye(len(theta))):
        pass
    return walker


def count(step, raw, direction, y, weight):
    return float(weight @ (y * (raw + step * direction) <= 0))


def brute_force(raw, direction, y, weight):
    """The least count over 0 and a point in every stretch between two breakpoints."""
    moving = direction != 0
    points = np.unique(-raw[moving] / direction[moving])
    steps = [0.0]
    if len(points):
        steps += [points[0] - 1, *(0.5 * (points[:-1] + points[1:])), points[-1] + 1]
    return min(count(step, raw, direction, y, weight) for step in steps)


@many
@given(tiny)
def test_it_is_the_global_minimum_along_the_line(rows):
    step, errors = zero_one_line(*rows)
    assert errors == brute_force(*rows)
    assert count(step, *rows) == errors


@many
@given(tiny)
def test_without_a_gain_it_stays(rows):
    step, errors = zero_one_line(*rows)
    here = count(0.0, *rows)
    assert errors <= here
    assert (step == 0.0) == (errors == here)


@many
@given(tiny)
def test_zero_weight_is_absence_and_two_a_copy(rows):
    raw, direction, y, weight = rows
    times = weight.astype(int)
    if times.sum() == 0:
        assert zero_one_line(*rows) == (0.0, 0.0)
        return
    copies = [np.repeat(v, times) for v in (raw, direction, y)]
    assert zero_one_line(*rows) == zero_one_line(*copies, np.ones(times.sum()))


@many
@given(tiny, st.integers(0, 2**32 - 1))
def test_floating_scores_and_weights(rows, seed):
    rng = np.random.default_rng(seed)
    rows = rows.copy()
    rows[0] += rng.normal(size=rows.shape[1])
    rows[1] *= rng.normal(size=rows.shape[1])
    rows[3] *= rng.random(rows.shape[1])
    step, errors = zero_one_line(*rows)
    assert errors == pytest.approx(brute_force(*rows), abs=1e-12)
    assert count(step, *rows) == pytest.approx(errors, abs=1e-12)


@many
@given(tiny, st.sampled_from([1e-12, 1e-3, 1e6]))
def test_the_unit_of_the_weights_does_not_matter(rows, unit):
    step, errors = zero_one_line(*rows)
    scaled = zero_one_line(*rows[:3], unit * rows[3])
    assert scaled == pytest.approx((step, unit * errors), rel=1e-9)


@pytest.mark.parametrize(
    ("raw", "direction", "y"),
    [
        ([1e16], [1.0], [-1.0]),
        ([1.0], [1e-310], [-1.0]),
        ([0.42857142857142855, 0.02678571428571428], [16.0, 1.0], [1.0, -1.0]),
        ([3.5714285714285716, 0.3968253968253968], [45.0, 5.0], [1.0, -1.0]),
    ],
    ids=["breakpoint-beyond-2^53", "overflowing-breakpoint", "narrow-stretch", "narrow-stretch-2"],
)
def test_what_it_claims_holds_at_its_step(raw, direction, y):
    """Where no float lies inside the best stretch the count must not be promised."""
    rows = [np.array(v) for v in (raw, direction, y)] + [np.ones(len(y))]
    step, errors = zero_one_line(*rows)
    assert np.isfinite(step)
    assert count(step, *rows) == errors


def test_a_nearly_unmoved_row_does_not_drag_the_step_away():
    """A centred column holds 1e-17 where it means 0; the step must stay near the data."""
    raw, y = np.array([1.0, 1.0, 1.0]), np.array([-1.0, 1.0, -1.0])
    direction = np.array([-1.0, 0.1, 1e-17])
    step, errors = zero_one_line(raw, direction, y, np.ones(3))
    assert errors == 1.0
    assert abs(step) < 1e3


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "loss", [BetaBernoulli.binary(0.1, 0.8), BetaBernoulli.binary(0.1, 0.6, 3.0)], ids=repr
)
@pytest.mark.parametrize("seed", range(4))
def test_coordinates_never_lose(make_objective, wrap, loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(80, 4)).astype(float)
    y = np.where(X @ [1, -1, 2, 0] + rng.normal(size=80) > 3, 1.0, -1.0)
    objective = make_objective(wrap(X), y, rng.integers(0, 3, 80).astype(float), loss)
    start = rng.normal(size=5)
    found = settled(objective, start)
    assert found.errors < objective.errors(start)
    assert found.errors == objective.errors(found.theta)
    for axis in np.eye(5):
        for step in np.linspace(-5, 5, 201):
            assert objective.errors(found.theta + step * axis) >= found.errors
    again = settled(objective, found.theta)
    np.testing.assert_array_equal(again.theta, found.theta)
    assert again.errors == found.errors


def test_missing_methods_are_named():
    with pytest.raises(TypeError, match=r"zero-one search.*scores.*object"):
        ZeroOneSearch().minimise(object(), np.zeros(2))


HOPELESS = """
import numpy as np
from bblr.designs import ScaledDesign, make_design
from bblr.losses import BetaBernoulli
from bblr.objective import Objective
from bblr.penalties import Gaussian
from bblr._numeric.zero_one import exact_line
from bblr.solvers import ZeroOneSearch
X, y, one = np.eye(4), np.array([1.0, -1, 1, -1]), np.ones(4)
{body}
"""


@pytest.mark.parametrize(
    "body",
    [
        "exact_line(np.array([np.nan, 1, 2, 3]), one, y, one)",
        "design = ScaledDesign(make_design(X), one, True)\n"
        "problem = Objective(BetaBernoulli.binary(0.6, 0.3), Gaussian(1.0), design, y, one)\n"
        "assert ZeroOneSearch(max_lines=50).minimise(problem, np.zeros(5)).errors == 2",
    ],
    ids=["nan", "plateaus-above-half"],
)
def test_hopeless_lines_come_to_an_end(body):
    """In a process of its own: a compiled loop without an end cannot be interrupted."""
    source = Path(bblr.__file__).parents[1]
    run = subprocess.run(
        [sys.executable, "-c", HOPELESS.format(body=body)],
        cwd=source,
        timeout=100,
        capture_output=True,
    )
    assert run.returncode == 0, run.stderr.decode()


@pytest.mark.parametrize("batch", [2, 3, 100])
def test_looking_at_several_directions_together_changes_nothing(make_objective, batch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.where(X @ [1, -1, 2, 0.5] + rng.normal(size=200) > 0, 1.0, -1.0)
    objective = make_objective(X, y)
    search = ZeroOneSearch(max_lines=300)
    alone = search.minimise(objective, np.zeros(5))
    objective.design.design.batch = batch
    together = search.minimise(objective, np.zeros(5))
    assert together.theta.tobytes() == alone.theta.tobytes()
    assert together.errors == alone.errors


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_rounding_saves_is_no_gain(n_classes):
    """Sums of weights in another order differ in their last digits: no reason to go elsewhere."""
    rng = np.random.default_rng(0)
    codes = rng.integers(n_classes, size=80)
    X, weight = rng.normal(size=(80, 3)) + np.eye(3)[codes], rng.uniform(0.1, 2.0, 80)
    y = np.where(codes > 0, 1.0, -1.0) if n_classes == 2 else codes
    loss = BetaBernoulli(Plateaus.symmetric(0.2, n_classes), 2.0)
    order, found = rng.permutation(80), []
    for some in (np.arange(80), order):
        design = ScaledDesign(make_design(X[some]), weight[some], True)
        objective = Objective(loss, Gaussian(1.0), design, y[some], weight[some])
        start = np.random.default_rng(1).normal(size=objective.size)
        search = ZeroOneSearch(max_lines=600)
        found.append(search.minimise(objective, start, rng=np.random.default_rng(2)).theta)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6, atol=1e-8)
