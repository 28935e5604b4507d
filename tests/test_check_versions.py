"""The command that tries the oldest and the newest libraries knows what they are."""

import re

from tests.conftest import ROOT
from tools import check_versions


def test_every_requirement_has_a_lowest_version():
    wanted = set(check_versions.requirements(check_versions.EXTRAS))
    assert {re.split(r"[>=\[]", one)[0] for one in wanted} >= {"numpy", "scikit-learn", "dask"}
    assert not [one for one in wanted if one.startswith("bblr")]
    limits = check_versions.lowest(wanted)
    assert len(limits) == len({limit.split("==")[0] for limit in limits}) == len(wanted)


def test_the_lowest_version_is_the_bound():
    wanted = [
        "numpy>=1.26",
        "dask[array]>=2025.7",
        'xgboost>=3.2; sys_platform == "x"',
        "torch==2",
    ]
    assert check_versions.lowest(wanted) == ["dask==2025.7", "numpy==1.26", "xgboost==3.2"]


def test_the_tests_to_run_are_there():
    assert all((ROOT / name).exists() for name in check_versions.TESTS)
