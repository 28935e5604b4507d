"""Records of benchmarks, the page made of them, and the choice of cases."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from functools import partial
from pathlib import Path

import pytest

from bblr._settings import SettingError
from research.benchmarks import __main__ as command
from research.benchmarks import page
from research.core.cases import (
    Case,
    Measured,
    Outcome,
    Run,
    Unavailable,
    case,
    merged,
    pick,
    read_cases,
)
from research.core.thresholds import Threshold
from tests.conftest import ROOT

SERIES = {
    "axis": "rows",
    "what": "2 features",
    "points": {"bblr": [[10, 0.01], [1000, 1.0]], "baseline <1>": [[10, 0.02], [1000, 0.2]]},
}
TABLE = [
    {
        "baseline": "bblr",
        "settings": "",
        "seconds": 0.5,
        "ratio": 1.0,
        "error": 7.0,
        "stopped": False,
    },
    {
        "baseline": "other",
        "settings": "C=1|2",
        "seconds": 1.0,
        "ratio": 2.0,
        "error": 9.0,
        "stopped": True,
    },
]
TOURNAMENT = {
    "shape": [3000, 20],
    "score": "held-out error, %",
    "table": TABLE,
    "missing": {"absentee": "not installed"},
}


@pytest.fixture
def register():
    cases = {}

    @case(cases, "bar", "keeps a bar", Threshold("time / theirs", "<=", 1.0))
    def bar(run):
        return Measured({"time / theirs": 2.0})

    @case(cases, "grows", "a series")
    def grows(run):
        return Measured({"bblr: slope of log time": 1.0}, [], {"series": SERIES})

    @case(cases, "baselines-a", "a tournament")
    def baselines(run):
        return Measured({}, ["a table"], {**TOURNAMENT})

    @case(cases, "told", "only reports")
    def told(run):
        return Measured({"seconds": 1.25})

    @case(cases, "lost", "needs data")
    def lost(run):
        raise Unavailable("set BBLR_DATA_HOME")

    return cases


def machine(date, processor="P", settings=None):
    return {
        "date": date,
        "system": "Linux",
        "processor": processor,
        "cores": 2,
        "threads": 2,
        "memory": "1.0 GiB",
        "load": [0.5, 0.4, 0.3],
        "versions": {"bblr": "0.1.0"},
        "stolen": 0.0,
        "settings": settings or {"quick": False, "seed": 0, "repeats": 10},
    }


@pytest.fixture
def record(register):
    outcomes = [chosen.run(Run()) for chosen in register.values()]
    return merged(read_cases(None), machine("day 1"), list(register), outcomes)


def told(**found):
    """The outcome of a case without thresholds."""
    name = found.pop("name", "told")
    return Outcome(Case(name, "only reports", (), print), **found)


def test_a_case_run_again_replaces_its_figures_and_its_stamp_alone(register, record):
    faster = told(measured=Measured({"seconds": 0.5}))
    settings = {"quick": False, "seed": 3, "repeats": 10}
    later = merged(record, machine("day 2", "Q", settings), list(register), [faster])
    assert later["cases"]["told"]["reported"] == {"seconds": 0.5}
    assert later["cases"]["told"]["run"] == "day 2"
    assert later["runs"]["day 2"]["settings"] == settings
    untouched = {n: c for n, c in record["cases"].items() if n != "told"}
    assert untouched.items() <= later["cases"].items()
    assert list(later["cases"]) == list(register)
    assert record["cases"]["told"]["reported"] == {"seconds": 1.25}


def test_a_run_whose_cases_all_ran_again_is_forgotten(register, record):
    outcomes = [chosen.run(Run()) for chosen in register.values()]
    later = merged(record, machine("day 2"), list(register), outcomes)
    assert list(later["runs"]) == ["day 2"]


def test_what_cannot_run_here_keeps_the_figures_of_elsewhere(register, record):
    skipped = [told(skipped="no GPU"), told(name="lost", skipped="no data")]
    later = merged(record, machine("day 2"), list(register), skipped)
    assert later["cases"]["told"] == record["cases"]["told"]
    assert later["cases"]["lost"]["skipped"] == "no data"
    failed = [told(failure="RuntimeError: no")]
    worse = merged(record, machine("day 2"), list(register), failed)
    assert worse["cases"]["told"]["failure"] == "RuntimeError: no"


def test_records_survive_their_file_and_other_files_are_refused(record, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    assert read_cases(path) == record
    for text in ("[]", "{", '{"runs": {}, "cases": {"a": {"run": "none"}}}'):
        path.write_text(text)
        with pytest.raises(SettingError, match=r"record\.json' is no record of cases"):
            read_cases(path)


def test_the_page_shows_every_case(record):
    text = re.sub(" {2,}", " ", page.render(record, "benchmarks/record.json"))
    assert (
        "**day 1**: P, 2 cores, 2 threads, 1.0 GiB" in text and "Load before the run: 0.5" in text
    )
    assert "| `bar`: keeps a bar | time / theirs | 2 | ≤ 1: *missed* |" in text
    assert "| bblr | 1.00 |\n| other | 2.00 † |" in text
    assert "| other | `C=1\\|2` | 1.00 s | 2.00 † | 9.00 |" in text
    assert "3,000 × 20 rows to fit. absentee: not installed." in text
    assert "| rows | 10 | 1,000 | slope |" in text and "| bblr | 10 ms | 1.00 s | 1.00 |" in text
    assert "(benchmarks/grows.svg)" in text
    assert "| `told`: only reports | seconds | 1.25 |" in text
    assert "- `lost`: set BBLR_DATA_HOME" in text
    assert page.QUICK not in text


def test_a_page_of_a_quick_run_says_so(register, record):
    settings = {"quick": True, "seed": 0, "repeats": 10}
    stamp, outcome = machine("day 2", settings=settings), told(measured=Measured({"seconds": 1.0}))
    quick = merged(record, stamp, list(register), [outcome])
    assert page.render(quick, "r.json").count(page.QUICK) == 1


def test_the_page_is_written_beside_its_plots(record, tmp_path, capsys):
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "record.json").write_text(json.dumps(record))
    assert page.main([str(folder / "record.json"), str(tmp_path / "page.md")]) == 0
    text = page.render(record, "benchmarks/record.json")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text
    drawn = ElementTree.parse(folder / "grows.svg").getroot()
    words = "".join(drawn.itertext())
    assert "baseline <1>" in words and "rows" in words and "1,000" in words
    with pytest.raises(SystemExit):
        page.main([str(tmp_path / "none.json"), str(tmp_path / "page.md")])
    assert "none.json" in capsys.readouterr().err


def test_the_page_in_the_docs_is_that_of_its_record():
    path = ROOT / "docs" / "benchmarks" / "record.json"
    record = read_cases(path)
    text = page.render(record, "benchmarks/record.json")
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == text
    assert not any(run["settings"]["quick"] for run in record["runs"].values())
    series = [name for name, found in record["cases"].items() if "series" in found["details"]]
    assert series and all((path.parent / f"{name}.svg").is_file() for name in series)


@pytest.mark.parametrize(
    ("names", "picked"),
    [
        ([], ["bar", "grows", "baselines-a", "told", "lost"]),
        (["told", "bar"], ["bar", "told"]),
        (["baselines-*", "baselines-a"], ["baselines-a"]),
        (["test_benchmark_records"], ["bar", "grows", "baselines-a", "told", "lost"]),
    ],
)
def test_cases_are_picked_by_name_pattern_and_theme(register, names, picked):
    assert [chosen.name for chosen in pick(names, register)] == picked


def test_runs_of_parts_merge_into_one_file(register, tmp_path, capsys):
    path = str(tmp_path / "record.json")
    assert command.main(["bar", "--json", path], register) == 0
    assert command.main(["told", "--json", path], register) == 0
    assert list(json.loads(Path(path).read_text())["cases"]) == ["bar", "told"]
    printed = capsys.readouterr()
    lines = [line.split() for line in printed.out.splitlines()]
    assert ["seconds", "1.25", "–", "reported"] in lines
    assert "[1/1] told ..." in printed.err


def test_a_quick_run_does_not_replace_measured_figures(register, tmp_path, capsys):
    path = tmp_path / "record.json"
    command.main(["told", "--json", str(path)], register)
    before = path.read_bytes()
    with pytest.raises(SystemExit):
        command.main(["told", "--quick", "--json", str(path)], register)
    assert "holds figures that --quick would replace" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_theme_that_needs_what_is_not_installed_says_so(monkeypatch):
    known = {}
    monkeypatch.setattr(command, "CASES", known)
    monkeypatch.setattr(command, "benchmark", partial(case, known))

    def fail(package):
        def load(name):
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)

        monkeypatch.setattr(command.importlib, "import_module", load)

    fail("dask.array")
    cases = command.load_cases(("devices",))
    outcome = cases["devices"].run(Run())
    assert outcome.skipped == "dask is not installed (pip install dask)"
    fail("bblr.gone")
    with pytest.raises(ModuleNotFoundError):
        command.load_cases(("devices",))
