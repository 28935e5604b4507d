"""Any data, any parameters: a clear refusal, or a finite and right answer."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from docs.public_api import all_names
from tests.fuzz.cluster import close
from tests.fuzz.everything import EVERYTHING

# Cases of each family; a long run has 20,000: python -m tests.fuzz.
EXAMPLES = {
    "linear": 130, "linear_cv": 8, "kernel": 50, "kernel_cv": 15, "sla": 30, "general": 40,
    "zero_one": 40, "joint": 8, "files": 30, "torch": 20, "audit": 15, "dask": 8,
}  # fmt: skip


@pytest.mark.parametrize("family", EVERYTHING)
def test_any_case_is_refused_or_answered(family):
    known = EVERYTHING[family]
    if family == "torch":
        # Small fits: threads would spend their time waiting for each other.
        pytest.importorskip("torch").set_num_threads(1)
    if family == "dask":
        pytest.importorskip("distributed")

    @settings(
        max_examples=EXAMPLES[family],
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(known.cases())
    def each(case):
        assert known.check(case) in ("fitted", "refused")

    try:
        each()
    finally:
        close()


def test_every_public_estimator_is_in_a_family():
    # Those around a classifier of the user's are drawn by tests of their own.
    around = {"RobustClassifier", "BetaBernoulliLGBMClassifier", "BetaBernoulliXGBClassifier"}
    public = {name.name for name in all_names() if hasattr(name.value, "fit")} - around
    assert len(public) >= 9
    covered = set().union(*(family.names for family in EVERYTHING.values()))
    assert public | {"find_label_errors", "match_groups"} <= covered
    known = {name.name for name in all_names()}
    assert covered <= known, "a family is about what is not public"


def test_families_are_about_what_they_say():
    # Names are taken from what is drawn: an estimator that no case has is in no family.
    for name, family in EVERYTHING.items():
        assert drawn_names(family) - {"command"} <= family.names, name


def drawn_names(family):
    drawn = set()

    @settings(
        max_examples=25, database=None, derandomize=True, deadline=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(family.cases())
    def each(case):
        drawn.add(case.estimator.split(" ")[0])

    each()
    return drawn
