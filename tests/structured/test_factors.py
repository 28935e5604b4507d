"""Similarity densities: what they tell, and what they make of degenerate pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid

from bblr.structured.factors import SIMILARITIES, fit_evidence


@pytest.fixture
def pairs(rng):
    both = np.arange(4000) < 1000
    return np.where(both, rng.beta(8, 3, 4000), rng.beta(3, 6, 4000)), both


@pytest.mark.parametrize("family", SIMILARITIES)
def test_similar_pairs_speak_for_both(pairs, family):
    evidence = fit_evidence(*pairs, family)
    assert evidence is not None
    ratio = evidence(np.array([0.2, 0.5, 0.8, np.nan]))
    assert ratio[0] < -1 and ratio[2] > 1 and ratio[3] == 0
    assert ratio[0] < ratio[1] < ratio[2]


@pytest.mark.parametrize("family", SIMILARITIES)
def test_densities_are_near_the_truth_and_integrate_to_one(pairs, family):
    from scipy.stats import beta

    evidence = fit_evidence(*pairs, family)
    assert evidence is not None
    for log_density, truth in ((evidence.log_both, (8, 3)), (evidence.log_other, (3, 6))):
        assert trapezoid(np.exp(log_density), evidence.grid) == pytest.approx(1, abs=0.05)
        gap = np.abs(np.exp(log_density) - beta(*truth).pdf(evidence.grid))
        assert gap.max() < 0.7


@pytest.mark.parametrize("family", SIMILARITIES)
def test_beyond_the_training_range_the_ratio_is_held(pairs, family):
    evidence = fit_evidence(*pairs, family)
    assert evidence is not None
    low, high = pairs[0].min(), pairs[0].max()
    assert_allclose(evidence(np.array([low - 50, high + 50])), evidence(np.array([low, high])))


@pytest.mark.parametrize("family", SIMILARITIES)
@pytest.mark.parametrize(
    ("values", "both"),
    [
        ([], []),
        ([0.2, 0.4, 0.5], [False] * 3),
        ([0.2, 0.4, 0.5], [True, False, False]),
        ([0.5] * 6, [True, False] * 3),
        ([np.nan] * 6, [True, False] * 3),
    ],
    ids=["none", "no both", "one both", "constant", "unknown"],
)
def test_nothing_to_learn_is_no_evidence(family, values, both):
    assert fit_evidence(np.array(values, dtype=float), np.array(both, dtype=bool), family) is None


@pytest.mark.parametrize("family", SIMILARITIES)
def test_zeros_ones_and_constants_of_one_kind_stay_finite(family):
    values = np.array([0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.3])
    both = np.array([False, False, False, False, True, True, False, False])
    evidence = fit_evidence(values, both, family)
    assert evidence is not None
    ratio = evidence(np.linspace(-1, 2, 50))
    assert np.isfinite(ratio).all() and np.abs(ratio).max() < 12
    assert evidence(np.array([1.0]))[0] > evidence(np.array([0.3]))[0]


def test_beta_needs_the_unit_interval(pairs):
    values, both = pairs
    with pytest.raises(ValueError, match="similarity='beta' needs similarities between 0 and 1"):
        fit_evidence(3 * values, both, "beta")
