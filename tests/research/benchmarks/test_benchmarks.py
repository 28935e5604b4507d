from __future__ import annotations

import json
import math

import numpy as np
import pytest

from research.benchmarks import data
from research.benchmarks.__main__ import load_cases, main
from research.benchmarks.timing import race, show
from research.core.cases import Case, Measured, Outcome, Run, Unavailable, case
from research.core.machine import machine, stolen
from research.core.thresholds import Threshold, tally

NAMES = {
    "compare-file",
    "fused-float64",
    "fused-float32",
    "probe",
    "fit-trec07p",
    "fit-isotropic",
    "fit-dense",
    "fit-uci",
    "csr-web8",
    "csr-reviews",
    "threads",
    "fit-digits",
    "fit-web8",
    "fit-text",
    "fit-reviews",
    "cv-web8",
    "memory",
    "memory-csr",
    "out-of-core",
    "growth-n",
    "growth-d",
    "growth-nnz",
    "growth-classes",
    "growth-threads",
    "growth-workers",
    "first-fit",
    "first-compile",
    "warm-start",
    "baselines-dense",
    "baselines-csr",
    "baselines-text",
    "baselines-reviews",
    "baselines-many",
    "baselines-kernel",
    "baselines-cv",
    "baselines-zero-one",
    "zero-one-sla",
    "zero-one-line",
    "kernel-20k",
    "kernel-60k",
    "structured-inference",
    "audit-uci",
    "audit-digits",
    "audit-trec07p",
    "audit-file",
    "gpu-fit",
    "gpu-kernel",
    "gpu-classes",
    "gpu-large",
    "gpu-small",
    "gpu-recorded",
    "gpu-search",
    "dask-overhead",
    "dask-partitions",
    "dask-killed",
    "small-fits",
    "small-searches",
    "search-digits",
    "search-kernels",
    "fit-wide-dense",
    "fit-busy",
    "predict",
    "first-seconds",
}


# The other themes may have cases that only report.
BOUND = {"passes", "families"}


@pytest.fixture
def cases():
    """A register with one case of each fate."""
    register = {}

    @case(register, "good", "keeps its bar", Threshold("time / theirs", "<=", 1.0))
    def good(run):
        return Measured({"time / theirs": 0.5}, ["mine 1 ms, theirs 2 ms"], {"quick": "no"})

    @case(register, "slow", "misses it", Threshold("time / theirs", "<=", 1.0))
    def slow(run):
        return Measured({"time / theirs": 2.0})

    @case(register, "absent", "needs data", Threshold("time / theirs", "<=", 1.0))
    def absent(run):
        raise Unavailable("set BBLR_DATA_HOME")

    @case(register, "broken", "fails", Threshold("time / theirs", "<=", 1.0))
    def broken(run):
        raise RuntimeError("no\nluck")

    return register


def test_every_case_is_registered_with_thresholds():
    cases = load_cases()
    assert set(cases) == NAMES
    assert all(chosen.description for chosen in cases.values())
    assert all(chosen.thresholds for chosen in cases.values() if chosen.theme in BOUND)


def test_list_runs_nothing(cases, capsys):
    assert main(["--list"], cases) == 0
    text = capsys.readouterr().out
    assert "good (test_benchmarks)\n  keeps its bar\n    time / theirs ≤ 1\n" in text
    assert "broken" in text and "pass" not in text


def test_list_of_the_real_cases(capsys):
    assert main(["--list"]) == 0
    text = capsys.readouterr().out
    assert all(f"{name} (" in text for name in NAMES)


def test_table_shows_figures_beside_bars(cases, capsys):
    assert main(["good", "slow", "absent"], cases) == 0
    text = capsys.readouterr().out
    lines = [line.split() for line in text.splitlines()]
    assert ["time", "/", "theirs", "0.5", "≤", "1", "met"] in lines
    assert ["time", "/", "theirs", "2", "≤", "1", "missed"] in lines
    assert "mine 1 ms, theirs 2 ms" in text
    assert "absent: skipped: set BBLR_DATA_HOME" in text
    assert "1 met, 1 missed, 1 not run." in text


def test_strict_and_failures_decide_the_exit_status(cases, capsys):
    assert main(["good", "--strict"], cases) == 0
    assert main(["slow"], cases) == 0
    assert main(["slow", "--strict"], cases) == 1
    assert main(["absent", "--strict"], cases) == 0
    assert main(["broken"], cases) == 1
    assert "broken: FAILED: RuntimeError: no luck" in capsys.readouterr().out


def test_json_holds_figures_machine_versions_and_seed(cases, tmp_path, capsys):
    path = tmp_path / "bench.json"
    main(["good", "absent", "broken", "--json", str(path), "--seed", "7", "--quick"], cases)
    record = json.loads(path.read_text(encoding="utf-8"))
    (stamp, run), *others = record["runs"].items()
    assert run["settings"] == {"quick": True, "seed": 7, "repeats": 10} and not others
    assert {"numpy", "scikit-learn", "numba", "bblr"} <= set(run["versions"])
    good, absent, broken = record["cases"].values()
    assert all(found["run"] == stamp for found in (good, absent, broken))
    assert good["figures"] == [
        {"figure": "time / theirs", "value": 0.5, "relation": "<=", "limit": 1.0, "met": True}
    ]
    assert good["details"] == {"quick": "no"}
    assert absent["skipped"] == "set BBLR_DATA_HOME"
    assert "luck" in broken["failure"]
    assert "say nothing about the thresholds" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "'nothing' is no case; choose from good"),
        (["--json", "no/such.json"], "--json needs a folder that exists"),
    ],
)
def test_misuse_is_refused_at_once(cases, capsys, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(arguments, cases)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_two_cases_of_one_name_are_refused(cases):
    with pytest.raises(ValueError, match="two cases are named 'good'"):
        case(cases, "good", "again")(lambda run: Measured({}))


def test_a_figure_without_a_value_is_a_failure():
    odd = Case("odd", "", (Threshold("speed", ">=", 1),), lambda run: Measured({"sped": 2.0}))
    outcome = odd.run(Run())
    assert "no value was measured for speed" in outcome.failure
    assert outcome.missed == ["speed"]


@pytest.mark.parametrize(
    ("relation", "kept", "missed"),
    [("<=", 1.0, 1.1), ("<", 0.9, 1.0), (">=", 1.0, 0.9), (">", 1.1, 1.0)],
)
def test_thresholds(relation, kept, missed):
    limit = Threshold("x", relation, 1.0)
    assert limit.met(kept) and not limit.met(missed) and not limit.met(math.nan)


def test_a_skipped_case_is_neither_kept_nor_missed():
    outcome = Outcome(Case("a", "", (Threshold("x", "<=", 1),), print), skipped="no data")
    assert outcome.missed == []
    assert tally(outcome.verdicts) == "0 met, 0 missed, 1 not run."


def test_race_takes_turns_and_keeps_the_best(monkeypatch):
    order, clock = [], iter([0.0, 5.0, 10.0, 11.0, 20.0, 22.0, 30.0, 33.0])
    monkeypatch.setattr("research.benchmarks.timing.time.perf_counter", lambda: next(clock))
    timings = race({name: lambda name=name: order.append(name) or name for name in "ab"}, 2)
    assert order == ["a", "b", "b", "a"]
    assert timings["a"].seconds == [5.0, 3.0] and timings["b"].seconds == [1.0, 2.0]
    assert timings["a"].best == 3.0 and timings["a"].result == "a"
    assert show(timings) == "a 3.00 s, b 1.00 s"


def test_warm_up_is_not_timed():
    calls = []
    assert len(race({"a": lambda: calls.append(0)}, 2, warm_up=True)["a"].seconds) == 2
    assert len(calls) == 3


def test_gaussian_data_follow_the_seed():
    X, y = data.gaussian(2000, 5, 0)
    again, _ = data.gaussian(2000, 5, 0)
    other, _ = data.gaussian(2000, 5, 1)
    assert np.array_equal(X, again) and not np.array_equal(X, other)
    assert set(np.unique(y)) == {-1.0, 1.0}
    assert data.gaussian(10, 5, 0, dtype=np.float32)[0].dtype == np.float32


@pytest.mark.parametrize(
    "name",
    ["fit-web8", "cv-web8", "fit-trec07p", "baselines-reviews", "csr-web8", "csr-reviews"],
)
def test_missing_data_skip_a_case_and_name_the_remedy(monkeypatch, tmp_path, name):
    monkeypatch.setenv("BBLR_DATA_HOME", str(tmp_path))
    outcome = load_cases()[name].run(Run(quick=True))
    assert "BBLR_DATA_HOME" in outcome.skipped


@pytest.mark.parametrize(
    "name",
    [
        "fused-float32",
        "probe",
        "memory",
        "out-of-core",
        "zero-one-line",
        "structured-inference",
        "fit-dense",
        "fit-uci",
        "fit-text",
        "threads",
        "audit-uci",
        "small-fits",
        "predict",
    ],
)
def test_cases_run_on_little_data(monkeypatch, name):
    monkeypatch.setattr("research.benchmarks.families.GROUPS", 1_000)
    monkeypatch.setattr("research.benchmarks.families.FEW", 20)
    monkeypatch.setattr("research.benchmarks.passes.ROWS", 2_000)
    monkeypatch.setattr("research.benchmarks.fits.ROWS", 2_000)
    monkeypatch.setattr("research.benchmarks.memory.MEMORY_ROWS", 2_000)
    monkeypatch.setattr("research.benchmarks.memory.ROWS", 2_000)
    if name.startswith("audit"):
        pytest.importorskip("cleanlab")
    if name == "fit-text":
        pytest.importorskip("liblinear")
    outcome = load_cases()[name].run(Run(quick=True))
    assert outcome.failure == "" and outcome.measured is not None
    assert all(value > 0 for value in outcome.measured.figures.values())


def test_machine_is_described():
    described = machine()
    assert described["cores"] >= 1 and described["threads"] >= 1
    assert all(part >= 0 for part in stolen())
    json.dumps(described)
