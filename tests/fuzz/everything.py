"""Every family of cases with its strategy and its check, and its share of a long run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from tests.fuzz.audits import CLASSIFIERS, run_audit
from tests.fuzz.cases import Case
from tests.fuzz.cluster import ClusterCase, cluster_cases, run_cluster
from tests.fuzz.files import FileCase, file_cases, run_file
from tests.fuzz.joint import JointCase, joint_cases, run_joint
from tests.fuzz.properties import run
from tests.fuzz.strategies import DASK, FAMILIES, fits


class Family(NamedTuple):
    """How the cases of a family are drawn and checked, and which public names they are about."""

    cases: Callable[[], Any]
    check: Callable[[Any], str]
    share: float
    names: frozenset[str]


# Parts of a long run; what is slow gets less.
_SHARES = {
    "linear": 0.28, "linear_cv": 0.09, "kernel": 0.23, "kernel_cv": 0.06, "sla": 0.05,
    "general": 0.05,
    "zero_one": 0.11, "torch": 0.02,
}  # fmt: skip


def _first_words(names: Any) -> frozenset[str]:
    return frozenset(name.split(" ")[0] for name in names)


EVERYTHING: dict[str, Family] = {
    **{
        name: Family(partial(fits, name), run, _SHARES[name], _first_words(known))
        for name, (known, _) in FAMILIES.items()
    },
    "joint": Family(joint_cases, run_joint, 0.03, frozenset({"JointModel", "match_groups"})),
    "files": Family(file_cases, run_file, 0.05, frozenset({"read_table", "Shards"})),
    "audit": Family(partial(fits, "audit"), run_audit, 0.025, _first_words(CLASSIFIERS)),
    "dask": Family(cluster_cases, run_cluster, 0.005, _first_words(DASK[0])),
}


def check(case: Any) -> str:
    """Check a case of any family."""
    if isinstance(case, Case):
        return run_audit(case) if case.estimator in CLASSIFIERS else run(case)
    checks = {FileCase: run_file, JointCase: run_joint, ClusterCase: run_cluster}
    return checks[type(case)](case)
