"""Slope, shift, penalty and weight of the joint model, fitted and given."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from bblr.structured import ApproximationWarning, Group, JointModel
from bblr.structured.groups import join
from bblr.structured.local import out_of_fold
from bblr.structured.odds import Calibration, CalibrationData, fit_calibration
from bblr.structured.parts import make_plan
from tests.structured.networks import draw


def test_soft_penalty_is_learned_from_how_often_several_are_right(rng):
    def penalty(several):
        model = JointModel(similarity=None, random_state=0)
        return model.fit(draw(rng, 250, several=several)).calibration_.penalty

    assert penalty(0.5) < penalty(0.1) < penalty(0.0)


def test_weight_is_learned_from_what_similarities_tell(rng):
    told = draw(rng, 300, several=0.5)
    dumb = [
        Group(g.X, None, g.pairs, rng.random(len(g.pairs)), g.labels, g.candidates) for g in told
    ]
    fitted = [
        JointModel(random_state=0).fit(groups).calibration_.weight for groups in (told, dumb)
    ]
    assert fitted[0] > 0.3 and fitted[0] > 2 * fitted[1]


@pytest.mark.parametrize("constraint", ["soft", "hard", None])
def test_calibration_is_a_maximum(rng, constraint):
    """No step from the fitted numbers raises the likelihood, and their gradient is right."""
    groups = draw(rng, 150, several=0.0 if constraint == "hard" else 0.2)
    model = JointModel(at_most_one=constraint, random_state=0).fit(groups)
    network, labels = join(groups), np.concatenate([g.labels for g in groups])
    X = np.concatenate([g.X for g in groups])
    local = out_of_fold(
        LogisticRegression(), X, labels, network, 5, np.random.RandomState(1), None
    )
    # Under a hard constraint no two candidates of these groups are ever right together.
    known = model.evidence_ is not None
    assert known == (constraint != "hard")
    evidence = model.evidence_(network.similarities) if known else np.zeros(len(network.pairs))
    plan = make_plan(network, constraint, evidence != 0, 2**14)
    free = ("slope", "shift", "penalty", "weight")
    free = free if constraint == "soft" else ("slope", "shift", *["weight"] * known)
    best = fit_calibration(CalibrationData(plan, local, evidence, labels), Calibration(), free)

    def likelihood(calibration):
        from bblr.structured.inference import infer

        odds, couplings = calibration.odds(local), calibration.weight * evidence
        found = infer(plan, odds, couplings, calibration.penalty)
        held = np.bincount(network.containers, weights=labels)
        beyond = np.maximum(held - 1, 0).sum() if constraint == "soft" else 0.0
        together = labels[network.pairs].prod(axis=1)
        score = odds @ labels + couplings @ together - calibration.penalty * beyond
        return score - found.log_partition.sum()

    top = likelihood(best)
    for name in free:
        for step in (-0.05, 0.05):
            moved = max(0.0, vars(best)[name] + step) if name != "shift" else best.shift + step
            # The pull towards neutral odds is worth less than this.
            assert likelihood(Calibration(**{**vars(best), name: moved})) < top + 5e-3, name


def test_recalibration_counts_the_constraint_once(rng):
    """Calibrated local odds under a hard constraint are too low; the shift makes up for it."""
    groups = draw(rng, 600, size=5)
    odds = [
        JointModel(at_most_one="hard", similarity=None, recalibrate=flag, random_state=0)
        .fit(groups)
        .predict_proba(groups)
        for flag in (True, False)
    ]
    truth = np.concatenate([g.labels for g in groups]).mean()
    found = [np.concatenate(p).mean() for p in odds]
    assert abs(found[0] - truth) < 0.02 < truth - found[1]


def test_without_recalibration_odds_are_the_local_ones(train, test):
    model = JointModel(recalibrate=False, at_most_one=None, similarity=None).fit(train)
    assert model.calibration_ == Calibration(1.0, 0.0, 0.0, 0.0)
    assert_array_equal(
        np.concatenate(model.predict(test)), np.concatenate(model.predict_independent(test))
    )
    local = [model.local_.predict_proba(group.X)[:, 1] for group in test]
    assert_allclose(np.concatenate(model.predict_proba(test)), np.concatenate(local))


def test_given_penalty_and_weight_are_kept(train):
    model = JointModel(penalty=1.5, weight=0.25, random_state=0).fit(train)
    assert model.calibration_.penalty == 1.5 and model.calibration_.weight == 0.25
    assert model.calibration_.shift != 0


def test_training_on_large_groups_leaves_them_out_of_the_calibration(rng):
    groups = [*draw(rng, 100, size=3, several=0.3), *draw(rng, 10, size=9)]
    with pytest.warns(ApproximationWarning, match="fitted on the others"):
        model = JointModel(random_state=0, max_states=8).fit(groups)
    small = [g for g in groups if len(g) <= 3]
    assert model.calibration_.penalty == pytest.approx(
        JointModel(random_state=0).fit(small).calibration_.penalty, abs=1.0
    )
    with pytest.raises(ValueError, match=r"all too large to be calibrated on.*Raise max_states"):
        JointModel(random_state=0, max_states=2).fit([g for g in groups if len(g) > 1])
