"""`bblr reproduce` from end to end, its interruption included."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bblr.cli import app
from bblr.comparison.records import read_records

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "my_method.py"
FAST = ("table-uci-data", "table-training-loss")


@pytest.fixture(autouse=True)
def no_research_data(monkeypatch, tmp_path):
    monkeypatch.setenv("BBLR_DATA_HOME", str(tmp_path / "nothing"))


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def test_what_can_be_run_is_run_and_the_rest_named(tmp_path):
    out = tmp_path / "out"
    result = reproduce("table-uci-data", "table-large-data", "--out", out, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "Left out: web8, official split: $BBLR_DATA_HOME" in result.stderr
    assert str(tmp_path / "nothing") not in (out / "report.html").read_text()
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Breast" in page and "683" in page and "is not there" in page
    assert "59,245" in page, "the printed figure stands even where ours is missing"
    assert "683" in (out / "tables.md").read_text(encoding="utf-8")
    assert len(read_records(out / "records.jsonl")) == 4
    again = reproduce("table-uci-data", "table-large-data", "--out", out, "--jobs", 1)
    assert "4 of 4 results were in" in " ".join(again.stderr.split())


def test_the_example_adds_a_column_and_a_row(tmp_path):
    out = tmp_path / "out"
    result = reproduce("table-training-loss", "--with", EXAMPLE, "--out", out, "--jobs", 1)
    assert result.exit_code == 0, result.output
    page = (out / "tables.md").read_text(encoding="utf-8")
    assert "Forest" in page and "Breast (30 features)" in page


def test_the_documentation_shows_the_example():
    shown = (EXAMPLE.parents[1] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    code = EXAMPLE.read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert code in shown


DEATH = """
import os, signal
from bblr.comparison.records import RecordsFile
append, left = RecordsFile.append, iter(range(6))
def dying(self, record):
    if next(left, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
    append(self, record)
RecordsFile.append = dying
"""


def test_a_run_killed_in_the_middle_ends_with_the_same_report(tmp_path):
    """kill -9 while fits are running, then the same command again."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def end_of(out, first=""):
        code = f"{first}\nfrom bblr.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, "reproduce", *FAST, "--out", str(out), "--jobs", "1"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ).returncode

    assert end_of(whole) == 0
    records = broken / "records.jsonl"
    assert end_of(broken, DEATH) == -signal.SIGKILL
    done = len(read_records(records))
    assert done == 6 < len(read_records(whole / "records.jsonl"))
    with records.open("a") as file:
        file.write('{"key":"torn')  # as a kill in the middle of a line leaves it
    assert end_of(broken) == 0
    for name in ("report.html", "tables.md"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes()
    keys = [json.loads(line)["key"] for line in records.read_text().splitlines()]
    assert len(set(keys)) == len(keys), "nothing is done twice"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table-x"], "Error: NAME 'table-x' is unknown; choose from"),
        (["--quick", "--full"], "exclude each other"),
        (["--jobs", "0"], "--jobs must be at least 1"),
        (["--seed", "-1"], "--seed must be at least 0"),
        (["--seed", "9999999999"], "--seed must be at most"),
        (["--out", "a/b/c"], "--out needs a folder that exists"),
        (["--with", "nothing.py"], "--with"),
    ],
)
def test_bad_settings_are_named(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = reproduce("table-uci-data", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir()), "nothing is written"


def test_records_of_something_else_are_left_alone(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "records.jsonl").write_text("my diary\n")
    result = reproduce("table-uci-data", "--out", out)
    assert result.exit_code == 2
    assert (out / "records.jsonl").read_text() == "my diary\n"


@pytest.mark.parametrize("y", ["[0, 1, 2]", "[0, 0, 0]", "[0, 1]"])
def test_data_of_the_user_that_cannot_be_used_are_named(tmp_path, y):
    path = tmp_path / "mine.py"
    path.write_text(
        "from research.paper.library import own\n"
        f"DATA = [own('mine', 'Mine [/x]', [[0.0], [1.0], [2.0]], {y})]\n"
    )
    result = reproduce("table-uci-data", "--with", path, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "--with the data 'mine' cannot be used" in " ".join(result.stderr.split())


def test_a_second_run_into_the_same_folder_is_refused(tmp_path):
    from bblr.comparison.records import RecordsFile

    out = tmp_path / "out"
    out.mkdir()
    with RecordsFile(out / "records.jsonl"):
        result = reproduce("table-uci-data", "--out", out, "--jobs", 1)
    assert result.exit_code == 2
    assert "another run is writing" in " ".join(result.stderr.split())


def test_the_list_names_everything_and_writes_nothing(tmp_path, monkeypatch):
    from research.paper.exhibit import all_exhibits

    monkeypatch.chdir(tmp_path)
    result = reproduce("--list")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in all_exhibits())
    assert not list(tmp_path.iterdir())


def test_a_failing_method_is_said_and_loses_nothing(tmp_path, added):
    path = shutil.copy(added, tmp_path / "failing.py")
    Path(path).write_text(Path(path).read_text() + "METHODS.append(FAILING)\n")
    out = tmp_path / "out"
    result = reproduce("table-training-loss", "--with", path, "--out", out, "--jobs", 1)
    assert result.exit_code == 1
    assert "fits failed, the first of them Broken on" in " ".join(result.stderr.split())
    assert "it never works" in (out / "report.html").read_text(encoding="utf-8")
