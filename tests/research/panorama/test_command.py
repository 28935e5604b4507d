"""The command from end to end, on made-up tables."""

import json

import pytest

from research.panorama import __main__ as command
from research.panorama.__main__ import main
from tests.research.panorama.made import Nearest


@pytest.fixture
def panorama(made, few_methods, monkeypatch, tmp_path):
    """Run the command on the made-up tables; returns its status."""
    few_methods(BBLR=Nearest, BBLRCV=Nearest, LR=Nearest, HGB=Nearest)
    monkeypatch.setattr(command, "METHODS", command.make_plan.__globals__["METHODS"])
    monkeypatch.setattr(command, "TABLES", made)
    lists = {"choose": (made["third"], made["large"], made["broad"]), "report": (made["small"],)}
    monkeypatch.setattr(command, "LISTS", lists)

    def run(*arguments):
        return main([*arguments, "--jobs", "1", "--out", str(tmp_path / "out")])

    return run


def test_whole_run(panorama, tmp_path, capsys):
    assert panorama("--list", "choose") == 0
    out = capsys.readouterr()
    # Four methods; three folds but of the large table, seven conditions but of the wide one.
    n_fits = 4 * (3 * 7 + 1 * 7 + 3 * 5)
    assert f"{n_fits} of {n_fits} fits done" in out.out
    assert "### Two classes (two, rare and wide): 2 tables" in out.out
    assert "| BBLRCV, clean: mean rank less the best other linear" in out.out
    lines = (tmp_path / "out/records.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == n_fits
    text = (tmp_path / "out/report.md").read_text()
    for part in ("## Targets", "## Pooled figures", "## Error, %, each table", "## Skipped"):
        assert part in text
    assert "HGB on broad: takes no sparse rows (15 fits)" in text
    page = (tmp_path / "out/report.html").read_text()
    assert page.count("<svg") == 4
    assert "http:" not in page.replace("http://www.w3.org", "")
    assert panorama("--list", "choose") == 0
    assert f"{n_fits} of {n_fits} results" in capsys.readouterr().err


def test_quick_run_and_a_part(panorama, tmp_path, capsys):
    assert panorama("--quick", "--list", "choose") == 0
    out = capsys.readouterr().out
    assert "9 of 12 fits done" in out
    assert "these figures say nothing about the targets" in out
    assert panorama("small", "--conditions", "flip20", "--methods", "HGB") == 0
    assert "3 of 12 fits done" in capsys.readouterr().out


def test_strict_run_tells_of_missed_targets(panorama, capsys):
    arguments = ("small", "--conditions", "flip20", "--methods", "BBLR,LR")
    assert panorama(*arguments) == 0
    assert panorama(*arguments, "--strict") == 1
    assert "missed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "table 'nowhere' is unknown"),
        (["large", "--list", "report"], "is not on the list 'report'"),
        (["--conditions", "clean,dirty"], "condition 'dirty' is unknown"),
        (["--methods", "LR,SLA"], "method 'SLA' is unknown"),
    ],
)
def test_misuse(panorama, capsys, arguments, message):
    with pytest.raises(SystemExit, match="2"):
        panorama(*arguments)
    assert message in capsys.readouterr().err


def test_foreign_records_are_refused(panorama, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/records.jsonl").write_text("my notes\n")
    assert panorama("small") == 2
    assert "is not a record" in capsys.readouterr().err
    assert (tmp_path / "out/records.jsonl").read_text() == "my notes\n"
