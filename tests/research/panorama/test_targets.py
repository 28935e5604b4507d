"""Targets: their arithmetic, and when there is nothing to judge."""

import pytest

from research.core.thresholds import MET, MISSED, NOT_RUN, REPORTED, tally
from research.panorama.targets import TARGETS

BY_NAME = {target.name: target for target in TARGETS}
OURS = ("BBLR", "BBLRCV")
WRONG, RIGHT = [1] * 4 + [0] * 96, [0] * 100


def judged(results, name):
    return BY_NAME[name].judge(results)


def everywhere(table, condition, **errors):
    return {(table, condition, method): wrong for method, wrong in errors.items()}


def test_names_are_unique_and_every_kind_is_there():
    assert len(BY_NAME) == len(TARGETS)
    # z and shares, what there is to win, ranks, HGB, log-loss, AUC, base rate and constants, wide.
    assert len(TARGETS) == 2 * 2 * (3 + 7) + 2 * 6 + 7 + 2 * 4 + 2 * 2 * 7 + 2 * 8 + 2 * 14 + 2 * 3


@pytest.mark.parametrize(("n_fewer", "status"), [(8, MISSED), (9, MET), (10, MET)])
def test_pooled_z(results_of, n_fewer, status):
    theirs = [1] * n_fewer + [0] * (100 - n_fewer)
    errors = everywhere("a", "flip20", BBLR=RIGHT, LR=theirs)
    name = "BBLR against LR, two, flip20: pooled z"
    found = judged(results_of(errors, {"a": "two"}), name)
    assert (found.status, found.threshold) == (status, "≥ 3")
    assert found.figure == f"{n_fewer**0.5:+.2f}"


def test_what_an_immune_method_could_win_is_reported(results_of):
    name = "LR fitted to clean rows against LR, two, outliers: pooled z"
    errors = everywhere("a", "outliers", LR=WRONG) | everywhere("a", "clean", LR=RIGHT)
    found = judged(results_of(errors, {"a": "two"}), name)
    assert (found.status, found.figure, found.notes) == (REPORTED, "+2.00", ("1 sets",))


def test_share_of_worse_sets(results_of):
    name = "BBLRCV against LR, two, clean: share of sets worse"
    kinds = {f"t{i}": "two" for i in range(20)}
    bad = [1] * 20 + [0] * 80
    for n_worse, status in ((1, MET), (2, MISSED)):
        errors = {}
        for i, table in enumerate(kinds):
            errors |= everywhere(table, "clean", BBLRCV=bad if i < n_worse else RIGHT, LR=RIGHT)
        found = judged(results_of(errors, kinds), name)
        assert (found.status, found.notes) == (status, (f"{n_worse} of 20",))


def test_rank_among_linear_methods(results_of):
    name = "BBLRCV, clean: mean rank less the best other linear method's"
    errors = everywhere("a", "clean", BBLR=WRONG, BBLRCV=RIGHT, LR=WRONG, SVM=WRONG, CL=WRONG)
    found = judged(results_of(errors, {"a": "two"}), name)
    assert (found.status, found.figure) == (MET, "-2.50")
    errors["a", "clean", "BBLRCV"] = [1] * 5 + [0] * 95
    assert judged(results_of(errors, {"a": "two"}), name).status == MISSED
    del errors["a", "clean", "CL"]
    assert judged(results_of(errors, {"a": "two"}), name).status == NOT_RUN


def test_boosting_is_reported(results_of):
    errors = everywhere("a", "flip40", BBLRCV=RIGHT, HGB=WRONG)
    name = "BBLRCV against HGB, two, flip40: pooled z"
    found = judged(results_of(errors, {"a": "two"}), name)
    assert (found.status, found.figure, found.threshold) == (REPORTED, "+2.00", "–")


@pytest.mark.parametrize(("loss", "status"), [(0.5, MET), (0.5 + 1e-14, MET), (0.51, MISSED)])
def test_log_loss(results_of, loss, status):
    errors = everywhere("a", "clean", BBLR=RIGHT, LR=RIGHT)
    changes = {("a", "clean", "BBLR"): {"log_loss": loss}}
    results = results_of(errors, {"a": "many"}, changes)
    assert judged(results, "BBLR, many, clean: mean log-loss less LR's").status == status


def test_auc_of_rare_tables(results_of):
    errors, kinds = {}, {"a": "rare", "b": "rare"}
    for table in kinds:
        errors |= everywhere(table, "clean", BBLR=RIGHT, LR=RIGHT)
        errors |= everywhere(table, "flip10", BBLR=RIGHT, LR=RIGHT)
    changes = {
        ("a", "clean", "BBLR"): {"auc": 0.779},
        ("b", "clean", "BBLR"): {"auc": 0.816},
    }
    results = results_of(errors, kinds, changes)
    mean = judged(results, "BBLR, rare, clean: mean AUC less LR's")
    assert (mean.status, mean.figure, mean.threshold) == (MET, "-0.0025", "≥ −0.003")
    worst = judged(results, "BBLR, rare, clean: AUC less LR's on the worst set")
    assert (worst.status, worst.figure, worst.notes) == (MISSED, "-0.0210", ("a",))
    assert judged(results, "BBLR, rare, flip10: mean AUC less LR's").status == MISSED


def test_base_rate_and_constant_predictions(results_of):
    errors = everywhere("a", "clean", BBLR=RIGHT, LR=RIGHT)
    errors |= everywhere("b", "clean", BBLR=RIGHT, LR=RIGHT)
    errors |= everywhere("a", "flip20", BBLR=RIGHT, LR=RIGHT)
    changes = {
        ("a", "clean", "BBLR"): {"log_loss": 0.8, "constant_predictions": True},
        ("b", "clean", "BBLR"): {"constant_predictions": True},
        ("b", "clean", "LR"): {"constant_predictions": True},
    }
    results = results_of(errors, {"a": "two", "b": "many"}, changes)
    above = judged(results, "BBLR, clean: sets with a log-loss above the base rate's")
    assert (above.status, above.figure, above.notes) == (MISSED, "1", ("a",))
    name = "BBLR, flip20: sets with a log-loss above the base rate's"
    assert judged(results, name).status == REPORTED
    name = "BBLR, clean: folds with constant predictions where LR's are not"
    constant = judged(results, name)
    assert (constant.status, constant.figure) == (MISSED, "1")
    assert constant.notes == ("2 and LR 1 of 2 folds",)


def test_wide_tables_and_reviews(results_of):
    errors = everywhere("dvd", "flip20", BBLR=[1] * 9 + [0] * 91, LR=[1] * 10 + [0] * 90)
    errors |= everywhere("text-2", "flip20", BBLR=[1] * 3 + [0] * 97, LR=[1] * 2 + [0] * 98)
    results = results_of(errors, {"dvd": "wide", "text-2": "wide"})
    worst = judged(results, "BBLR, wide, flip20: error less LR's on the worst set, points")
    assert (worst.status, worst.figure, worst.notes) == (MISSED, "+1.00", ("text-2",))
    reviews = judged(results, "BBLR, reviews, flip20: errors over LR's")
    assert (reviews.status, reviews.figure, reviews.notes) == (MET, "0.900", ("9 and 10",))


def test_failed_fit_of_ours_misses_and_missing_one_is_not_run(results_of):
    errors = everywhere("a", "clean", BBLR=RIGHT, LR=RIGHT)
    changes = {("a", "clean", "BBLR"): {"failure": "RuntimeError: no"}}
    name = "BBLR against LR, two, clean: pooled z"
    found = judged(results_of(errors, {"a": "two"}, changes), name)
    assert (found.status, found.notes) == (MISSED, ("failed fits: 1",))
    del errors["a", "clean", "LR"]
    assert judged(results_of(errors, {"a": "two"}), name).status == NOT_RUN
    assert judged(results_of({}, {}), name).status == NOT_RUN


def test_tally(results_of):
    verdicts = [target.judge(results_of({}, {})) for target in TARGETS]
    assert tally(verdicts) == f"0 met, 0 missed, {len(TARGETS)} not run."
