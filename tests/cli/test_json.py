"""The objects that commands write for scripts: one schema, as docs/command_line.md has it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bblr import __version__
from bblr.io.results import SCHEMA
from tests.cli.conftest import FAST, bblr, fitted

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command_line.md"
COMMANDS = {
    "fit": ("train.csv", "--model", "new.bblr", *FAST),
    "predict": ("model.bblr", "test.csv", "--out", "scored.csv"),
    "evaluate": ("model.bblr", "test.csv"),
    "explain": ("model.bblr", "test.csv"),
    "audit": ("train.csv", "--target", "kind"),
    "warm-up": (),
}
HEAD = ["bblr", "command", "schema"]


def documented():
    """The keys of each command, by the table of the page."""
    section = PAGE.read_text("utf-8").split("## For scripts")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \| (.*) \|$", section, re.M)
    return {command: re.findall(r"`(\w+)`", keys) for command, keys in rows}


@pytest.mark.parametrize("command", COMMANDS)
def test_keys_are_as_documented(folder, command):
    fitted()
    result = bblr(command, *COMMANDS[command], "--json", "found.json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(Path("found.json").read_text())
    assert list(found)[:3] == HEAD
    assert (found["bblr"], found["command"], found["schema"]) == (__version__, command, SCHEMA)
    assert list(found)[3:] == documented()[command]
    assert result.stdout.splitlines()[-1] == "Wrote found.json"


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "explain", "audit"])
def test_a_dash_is_standard_output_and_nothing_else(folder, command):
    fitted()
    lines = bblr(command, *COMMANDS[command]).output
    (folder / "new.bblr").unlink(missing_ok=True)
    result = bblr(command, *COMMANDS[command], "--json", "-")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["command"] == command
    quiet = re.sub(r"[\d.]+ s", "", result.stderr).splitlines()
    assert quiet == re.sub(r"[\d.]+ s", "", lines).splitlines()


def test_predictions_and_an_object_do_not_share_standard_output(folder):
    result = bblr("predict", fitted(), "test.csv", "--json", "-")
    assert result.exit_code == 2 and "--json - and predictions both go" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_another_ending_is_refused_before_any_work(folder, command):
    fitted()
    before = sorted(path.name for path in folder.iterdir())
    result = bblr(command, *COMMANDS[command], "--json", "found.txt")
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("Error: --json must name a .json file")
    assert sorted(path.name for path in folder.iterdir()) == before
