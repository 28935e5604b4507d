"""Records of benchmarks, the page made of them, and the choice of cases."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from research.benchmarks import __main__ as command
from research.benchmarks import page, records
from research.benchmarks.cases import Bar, Measured, Settings, Unavailable, absent, case, run_case
from research.benchmarks.drawing import plot
from research.core.targets import Outcome

ROOT = Path(__file__).resolve().parents[1]
SERIES = {
    "axis": "rows",
    "what": "2 features",
    "points": {"bblr": [[10, 0.01], [1000, 1.0]], "rival <1>": [[10, 0.02], [1000, 0.2]]},
}
TABLE = [
    {
        "rival": "bblr",
        "settings": "",
        "seconds": 0.5,
        "ratio": 1.0,
        "error": 7.0,
        "stopped": False,
    },
    {
        "rival": "other",
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

    @case("bar", "keeps a bar", Bar("time / theirs", "<=", 1.0), register=cases)
    def bar(settings):
        return Measured({"time / theirs": 2.0})

    @case("grows", "a series", register=cases)
    def grows(settings):
        return Measured({"bblr: slope of log time": 1.0}, [], {"series": SERIES})

    @case("rivals-a", "a tournament", register=cases)
    def rivals(settings):
        return Measured({}, ["a table"], {**TOURNAMENT})

    @case("told", "only reports", register=cases)
    def told(settings):
        return Measured({"seconds": 1.25})

    @case("lost", "needs data", register=cases)
    def lost(settings):
        raise Unavailable("set BBLR_DATA_HOME")

    return cases


def machine(date, processor="P"):
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
    }


@pytest.fixture
def record(register):
    settings = Settings()
    outcomes = [run_case(chosen, settings) for chosen in register.values()]
    return records.merged(records.empty(), machine("day 1"), settings, register, outcomes)


def test_a_case_run_again_replaces_its_figures_and_its_stamp_alone(register, record):
    faster = Outcome("told", (), Measured({"seconds": 0.5}))
    later = records.merged(record, machine("day 2", "Q"), Settings(seed=3), register, [faster])
    assert later["cases"]["told"]["reported"] == {"seconds": 0.5}
    assert later["cases"]["told"]["run"] == "day 2"
    assert later["runs"]["day 2"]["settings"] == {"quick": False, "seed": 3}
    untouched = {n: c for n, c in record["cases"].items() if n != "told"}
    assert untouched.items() <= later["cases"].items()
    assert list(later["cases"]) == list(register)
    assert record["cases"]["told"]["reported"] == {"seconds": 1.25}


def test_a_run_whose_cases_all_ran_again_is_forgotten(register, record):
    outcomes = [run_case(chosen, Settings()) for chosen in register.values()]
    later = records.merged(record, machine("day 2"), Settings(), register, outcomes)
    assert list(later["runs"]) == ["day 2"]


def test_what_cannot_run_here_keeps_the_figures_of_elsewhere(register, record):
    skipped = [Outcome("told", (), skipped="no GPU"), Outcome("lost", (), skipped="no data")]
    later = records.merged(record, machine("day 2"), Settings(), register, skipped)
    assert later["cases"]["told"] == record["cases"]["told"]
    assert later["cases"]["lost"]["skipped"] == "no data"
    failed = [Outcome("told", (), failure="RuntimeError: no")]
    worse = records.merged(record, machine("day 2"), Settings(), register, failed)
    assert worse["cases"]["told"]["failure"] == "RuntimeError: no"


def test_records_survive_their_file_and_other_files_are_refused(record, tmp_path):
    path = tmp_path / "record.json"
    records.write(path, record)
    assert records.read(path) == record
    for text in ("[]", "{", '{"runs": {}, "cases": {"a": {"run": "none"}}}'):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"record\.json is no record of benchmarks"):
            records.read(path)


def test_the_page_shows_every_case(record):
    text, plots = page.render(record, "benchmarks/record.json")
    assert (
        "**day 1**: P, 2 cores, 2 threads, 1.0 GiB" in text and "Load before the run: 0.5" in text
    )
    assert "| `bar`: keeps a bar | time / theirs | 2 | ≤ 1: *missed* |" in text
    assert "|  | a |\n| --- | --- |\n| bblr | 1.00 |\n| other | 2.00 † |" in text
    assert "| other | `C=1\\|2` | 1.00 s | 2.00 † | 9.00 |" in text
    assert "3,000 × 20 rows to fit. absentee: not installed." in text
    assert "| rows | 10 | 1,000 | slope |" in text and "| bblr | 10 ms | 1.00 s | 1.00 |" in text
    assert "(benchmarks/grows.svg)" in text and set(plots) == {"grows.svg"}
    assert "| `told`: only reports | seconds | 1.25 |" in text
    assert "- `lost`: set BBLR_DATA_HOME" in text
    assert page.QUICK not in text


def test_a_page_of_a_quick_run_says_so(register, record):
    stamp, told = machine("day 2"), Outcome("told", (), Measured({"seconds": 1.0}))
    quick = records.merged(record, stamp, Settings(quick=True), register, [told])
    assert page.render(quick, "r.json")[0].count(page.QUICK) == 1


def test_the_page_is_written_beside_its_plots(record, tmp_path, capsys):
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    records.write(folder / "record.json", record)
    assert page.main([str(folder / "record.json"), str(tmp_path / "page.md")]) == 0
    text, plots = page.render(record, "benchmarks/record.json")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text
    assert (folder / "grows.svg").read_text(encoding="utf-8") == plots["grows.svg"]
    with pytest.raises(SystemExit):
        page.main([str(tmp_path / "none.json"), str(tmp_path / "page.md")])
    assert "none.json" in capsys.readouterr().err


def test_the_page_in_the_docs_is_that_of_its_record():
    path = ROOT / "docs" / "benchmarks" / "record.json"
    record = records.read(path)
    text, plots = page.render(record, "benchmarks/record.json")
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == text
    for name, drawing in plots.items():
        assert (path.parent / name).read_text(encoding="utf-8") == drawing
    assert not any(run["settings"]["quick"] for run in record["runs"].values())


def test_plots_are_sound_and_place_points_by_their_logarithms():
    root = ElementTree.fromstring(plot(SERIES["points"], "rows", 'a "b" <c>'))
    name = "{http://www.w3.org/2000/svg}"
    assert root.get("aria-label") == 'a "b" <c>'
    assert "rival <1>" in [text.text for text in root.iter(f"{name}text")]
    ours, theirs = (
        line.get("d") for line in root.iter(f"{name}path") if "line" in line.get("class")
    )
    (x0, y0), (x1, y1) = (map(float, point.split(",")) for point in ours[1:].split("L"))
    (_, v0), (_, v1) = (map(float, point.split(",")) for point in theirs[1:].split("L"))
    assert x0 < x1 and y1 < v1 < v0 < y0
    # 0.01 to 1 s are two decades, 0.02 to 0.2 s one.
    assert y0 - y1 == pytest.approx(2 * (v0 - v1), abs=0.3)


def test_a_plot_of_one_size_does_not_divide_by_nothing():
    assert "NaN" not in plot({"bblr": [[1, 0.5]]}, "threads", "one")


@pytest.mark.parametrize(
    ("names", "picked"),
    [
        ([], ["bar", "grows", "rivals-a", "told", "lost"]),
        (["told", "bar"], ["bar", "told"]),
        (["rivals-*", "rivals-a"], ["rivals-a"]),
        (["test_benchmark_records"], ["bar", "grows", "rivals-a", "told", "lost"]),
    ],
)
def test_cases_are_picked_by_name_pattern_and_theme(register, names, picked):
    assert [chosen.name for chosen in command._pick(names, register)] == picked


def test_runs_of_parts_merge_into_one_file(register, tmp_path, capsys):
    path = str(tmp_path / "record.json")
    assert command.main(["bar", "--json", path], register) == 0
    assert command.main(["told", "--json", path], register) == 0
    assert list(json.loads(Path(path).read_text())["cases"]) == ["bar", "told"]
    printed = capsys.readouterr()
    assert "seconds" in printed.out and "1.25  reported" in printed.out
    assert "[1/1] told ..." in printed.err


def test_a_quick_run_does_not_replace_measured_figures(register, tmp_path, capsys):
    path = tmp_path / "record.json"
    command.main(["told", "--json", str(path)], register)
    before = path.read_bytes()
    with pytest.raises(SystemExit):
        command.main(["told", "--quick", "--json", str(path)], register)
    assert "--quick would replace measured figures" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_theme_that_needs_what_is_not_installed_says_so(monkeypatch):
    known = {}
    monkeypatch.setattr(command, "CASES", known)
    monkeypatch.setattr(command, "absent", lambda *words: absent(*words, register=known))

    def fail(package):
        def load(name):
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)

        monkeypatch.setattr(command.importlib, "import_module", load)

    fail("dask.array")
    cases = command.load_cases(("distributed",))
    assert cases["distributed"].theme == "distributed"
    outcome = run_case(cases["distributed"], Settings())
    assert outcome.skipped == "dask is not installed (pip install dask)"
    fail("bblr.gone")
    with pytest.raises(ModuleNotFoundError):
        command.load_cases(("distributed",))
