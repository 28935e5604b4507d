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
    "compare": ("train.csv", "--methods", "LR", "--folds", "2", "--jobs", "1"),
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


def without_times(output):
    """Lines but for how long something took, in sentences, bars and the table of methods."""
    lines = [line for line in output.splitlines() if "━" not in line]
    return [re.sub(r"[\d.]+ s\b|\d+\.\d\d$", "", line) for line in lines]


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "warm-up"])
def test_a_dash_is_standard_output_and_nothing_else(folder, command):
    fitted()
    lines = bblr(command, *COMMANDS[command]).output
    for made in ("new.bblr", "report.jsonl"):
        (folder / made).unlink(missing_ok=True)
    result = bblr(command, *COMMANDS[command], "--json", "-")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["command"] == command
    assert without_times(result.stderr) == without_times(lines)


def parts_of(found):
    """The keys of each part of an object, at any depth."""
    if isinstance(found, list):
        found = found[0] if found and isinstance(found[0], dict) else {}
    keys = {}
    for name, part in found.items() if isinstance(found, dict) else ():
        first = part[0] if part and isinstance(part, list) else part
        if isinstance(first, dict):
            keys |= {name: list(first), **parts_of(part)}
    return keys


@pytest.mark.parametrize("command", ["fit", "evaluate", "explain", "audit"])
def test_parts_are_as_documented(folder, command):
    fitted()
    bblr(command, *COMMANDS[command], "--json", "found.json")
    found, told = parts_of(json.loads(Path("found.json").read_text())), documented()
    assert found
    told["held_out"] = ["how", *told["evaluate"][told["evaluate"].index("rows") :]]
    for free in {"settings", "model_versions", "versions"} & found.keys():
        del found[free]
    assert found == {part: told[part] for part in found}


def test_parts_of_a_comparison_are_as_documented(folder):
    bblr("compare", *COMMANDS["compare"], "--json", "found.json")
    (found,) = json.loads(Path("found.json").read_text())["results"]
    told = PAGE.read_text("utf-8").split("With `--json`, `results` has")[1]
    scalars = told.split("Each has ")[1].split(", and")[0]
    assert list(found) == [*re.findall(r"`(\w+)`", scalars), "verdict", "methods"]
    for key, part in (("verdict", found["verdict"]), ("methods", found["methods"][0])):
        row = told.split(f"| `{key}` |")[1].split("|")[0]
        assert set(part) <= set(re.findall(r"`(\w+)`", row))


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
