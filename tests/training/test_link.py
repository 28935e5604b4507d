"""The link from decision values to probabilities."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from bblr import BBLRClassifier, Plateaus
from bblr.training.compiled.link_likelihood import plateaus_of
from bblr.training.link import Link


@pytest.mark.parametrize("a", [0.01, 0.2, 0.45])
@pytest.mark.parametrize("top", [0.55, 0.9, 0.99])
def test_one_half_is_at_zero_and_probability_rises(a, top):
    link = Link(Plateaus.binary(a, top - a), gamma=3.0)
    assert link.probability(0.0) == pytest.approx(0.5, abs=1e-15)
    values = link.probability(np.linspace(-50, 50, 101))
    assert (np.diff(values) >= 0).all()
    assert values[0] == pytest.approx(a)
    assert values[-1] == pytest.approx(top)


@pytest.mark.parametrize("width", [7e-12, 1e-3, 0.8])
def test_the_likelier_class_is_the_sign_of_the_decision(width):
    link = Link(Plateaus.binary(0.5 - 0.5 * width, width), gamma=6.0)
    decision = np.concatenate([[0.0], np.logspace(-300, 1, 50)])
    decision = np.concatenate([-decision, decision])
    p = link.probability(decision)
    np.testing.assert_array_equal(p > 1.0 - p, decision > 0)


def test_recovers_the_truth():
    rng = np.random.default_rng(0)
    truth = Link(Plateaus.binary(0.1, 0.75), gamma=4.0)
    decision = rng.normal(size=100_000)
    y = np.where(rng.random(100_000) < truth.probability(decision), 1.0, -1.0)
    found = Link.fit(decision, y, np.ones(100_000))
    assert found.plateaus.a == pytest.approx(0.1, abs=0.01)
    assert found.plateaus.b == pytest.approx(0.75, abs=0.02)
    assert found.gamma == pytest.approx(4.0, rel=0.1)


def test_separable_scores_stay_off_certainty():
    decision = np.linspace(-1, 1, 40)
    link = Link.fit(decision, np.sign(decision), np.ones(40))
    assert 0 < link.probability(-10.0) < 0.1
    assert 0.9 < link.probability(10.0) < 1
    assert expit(link.offset) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_nearly_separable_scores_do_not_end_on_a_plateau_at_one_half(seed):
    rng = np.random.default_rng(seed)
    decision = 5.0 * rng.normal(size=20_000)
    y = np.where(decision + 0.1 * rng.normal(size=20_000) > 0, 1.0, -1.0)
    p = Link.fit(decision, y, np.ones(20_000)).probability(decision)
    assert -np.mean(np.log(np.where(y > 0, p, 1.0 - p))) < 0.05


def test_without_plateaus_keeps_the_decision():
    link = Link(Plateaus.binary(0.1, 0.6), gamma=2.0)
    decision = np.linspace(-3, 3, 13)
    bare = link.without_plateaus().probability(decision)
    np.testing.assert_array_equal(bare > 0.5, decision > 0)
    assert bare.min() < 0.01 and bare.max() > 0.99


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_the_largest_of_many_scores_has_the_largest_probability_whatever_is_rounded(library):
    """Scores that differ in their last digits have probabilities that do not."""
    apart = np.nextafter(1.88, 2.0)
    decision = np.array([[1.0, 1.88, apart], [1.0, apart, 1.88], [1.88, 1.88, 1.0], [3.0, 1, 2]])
    found = Link(Plateaus.symmetric(0.5, 3), 0.7).probability(
        pytest.importorskip(library).asarray(decision)
    )
    assert np.asarray(found.argmax(1)).tolist() == [2, 1, 0, 0]
    np.testing.assert_allclose(np.asarray(found).sum(axis=1), 1.0, rtol=1e-15)


@pytest.mark.parametrize("seed", [7, 74, 106, 118, 162])
def test_rounding_of_the_scores_does_not_move_the_link(seed):
    """Where the likelihood is flat or both starts lead to one place, too."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 150))
    decision = rng.normal(size=n) * rng.choice([0.1, 1, 10])
    noise = rng.normal(size=n) * rng.choice([0.1, 1, 5]) * np.abs(decision).mean()
    y = np.where(decision + noise > 0, 1.0, -1.0)
    rounded = decision * (1.0 + 2e-16 * rng.integers(-1, 2, n))
    one, other = (Link.fit(each, y, np.ones(n)) for each in (decision, rounded))
    assert other.gamma == pytest.approx(one.gamma, rel=1e-10)
    assert other.plateaus.low == pytest.approx(one.plateaus.low, abs=1e-10)


@pytest.mark.parametrize("n_classes", [3, 10])
def test_learned_plateaus_do_not_depend_on_the_order_of_rows_and_classes(n_classes):
    rng = np.random.default_rng(0)
    n = 30 * n_classes
    y = rng.permutation(np.arange(n) % n_classes)
    decision = rng.normal(size=(n, n_classes)) + 3.0 * np.eye(n_classes)[y]
    wrong = rng.random(n) < 0.15
    y[wrong] = rng.integers(n_classes, size=np.count_nonzero(wrong))
    rows, classes = rng.permutation(n), rng.permutation(n_classes)
    one = Link.fit(decision, y, np.ones(n), even=False)
    # Class k becomes class classes[k].
    moved = decision[rows][:, np.argsort(classes)]
    other = Link.fit(moved, classes[y[rows]], np.ones(n), even=False)
    assert other.gamma == pytest.approx(one.gamma, rel=1e-10)
    low = np.array(other.plateaus.low)[classes]
    np.testing.assert_allclose(low, one.plateaus.low, rtol=0, atol=1e-10)


@pytest.mark.parametrize("free", [20.0, 1e3])
def test_plateaus_stay_as_far_from_one_half_as_numbers_resolve(free):
    """Closer to it, the offset would be rounding errors, and mirrored fits would differ."""
    low, high = plateaus_of(np.array([free, free, 0.0]))
    assert 1e-8 < 0.5 - low == pytest.approx(high - 0.5, rel=1e-8)
    low, high = plateaus_of(np.array([-free, -free, 0.0]))
    assert 0.0 < low < 1e-8


def test_folds_on_threads_give_the_link_of_folds_in_turn(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 1_800), density=0.02, rng=rng, format="csr")
    y = (X @ rng.normal(size=1_800) + 0.1 * rng.normal(size=300) > 0).astype(int)
    together = BBLRClassifier().fit(X, y)
    monkeypatch.setattr(
        "bblr.training.probabilities.map_each", lambda work, n: [work(k) for k in range(n)]
    )
    assert BBLRClassifier().fit(X, y).link_ == together.link_


@pytest.mark.parametrize(
    ("rows", "share", "parts"), [(1_800, 0.5, 1), (900, 0.5, 2), (1_800, 0.1, 3)]
)
def test_as_many_rows_are_held_out_as_a_link_needs(monkeypatch, rows, share, parts):
    rng = np.random.default_rng(0)
    X = sparse.random_array((rows, 1_600), density=0.01, rng=rng, format="csr")
    y = X @ rng.normal(size=1_600) + 0.1 * rng.normal(size=rows)
    asked = []

    def in_turn(work, n):
        asked.append(n)
        return [work(k) for k in range(n)]

    monkeypatch.setattr("bblr.training.probabilities.map_each", in_turn)
    BBLRClassifier().fit(X, y > np.quantile(y, 1.0 - share))
    assert asked == [parts]
