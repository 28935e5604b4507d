"""Texts of strangers: spreadsheets do not run formulas, nor terminals and reports escapes."""

import csv
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bblr._settings import escaped
from bblr.cli import predict_job
from bblr.cli.running import say
from bblr.io.columns.cell_values import inert, is_number
from tests.cli.conftest import FAST, bblr, make_frame

CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]")
RED = "\x1b[2J\x1b[31m"


@given(st.text("=+-@＝＠ \t\r0123456789.ea(", max_size=6))
def test_cells_that_a_spreadsheet_would_run_are_marked(text):
    bare = text.strip()
    found = inert(text)
    assert found in (text, f"'{text}")
    runs = unicodedata.normalize("NFKC", bare[:1]) in {"=", "+", "-", "@"} and len(bare) > 1
    assert (found != text) == (runs and not is_number(bare))


@pytest.mark.parametrize("cell", ["-3.5", "+1", "-1e5", "+", "-", "<=50K", "a=b", "", -3.5, 7])
def test_numbers_signs_and_other_cells_stay_as_they_are(cell):
    assert inert(cell) is cell


def hostile(folder, kinds, column="fur", levels=("long", "short")):
    frame = make_frame(60, 3)
    frame["kind"] = frame["kind"].map(dict(zip(("cat", "dog", "owl"), kinds, strict=True)))
    frame["fur"] = frame["fur"].map(dict(zip(("long", "short"), levels, strict=True)))
    frame = frame.rename(columns={"fur": column})
    frame.to_csv("hostile.csv", index=False)
    result = bblr("fit", "hostile.csv", "--model", "h.bblr", "--no-check", *FAST)
    assert result.exit_code == 0, result.stderr
    return result.stdout + result.stderr


def test_formulas_are_inert_in_the_files_that_are_written(folder):
    kinds = ("=HYPERLINK(1)", "@SUM(1)", "-3.5 of 5")
    hostile(folder, kinds, "=1+1", ("+cmd|' /C calc'!A0", "-2"))
    for command in (("predict", "h.bblr"), ("audit",)):
        more = ["--with-columns"] if command == ("audit",) else []
        out = bblr(*command, "hostile.csv", "--out", "out.csv", *more)
        assert out.exit_code == 0, out.stderr
        lines = Path("out.csv").read_text("utf-8").splitlines()
        cells = {cell for row in csv.reader(lines) for cell in row}
        assert {f"'{kind}" for kind in kinds} <= cells
        assert all(inert(cell) is cell for cell in cells)
    assert {"'=1+1", "'+cmd|' /C calc'!A0", "-2"} <= cells


def test_terminals_and_reports_show_escapes_and_do_not_obey_them(folder):
    kinds = (f"{RED}cat", "dog", "\u202eowl")
    told = hostile(folder, kinds, f"{RED}fur", (f"{RED}long", "short"))
    Path("wrong.csv").write_text(f"{RED}a,{RED}b\n1,2\n")
    for command in (
        ("evaluate", "h.bblr", "hostile.csv"),
        ("explain", "h.bblr", "hostile.csv"),
        ("audit", "hostile.csv"),
        ("compare", "hostile.csv", "--methods", "LR", "--folds", 2, "--jobs", 1),
        ("predict", "h.bblr", "wrong.csv"),
    ):
        result = bblr(*command)
        told += result.stdout + result.stderr
    assert not CONTROL.search(told.replace("\n", ""))
    assert r"\x1b[2J\x1b[31mcat" in told and r"\x1b[31mfur" in told
    for page in ("audit.html", "report.html"):
        text = Path(page).read_text("utf-8")
        assert not CONTROL.search(text.replace("\n", ""))
        assert r"\x1b[2J" in text


def test_predictions_are_escaped_on_a_terminal_alone(folder, monkeypatch):
    hostile(folder, (f"{RED}cat", "dog", "owl"))
    plain = bblr("predict", "h.bblr", "hostile.csv").stdout
    assert f"{RED}cat" in plain
    monkeypatch.setattr(predict_job, "_is_terminal", lambda: True)
    assert bblr("predict", "h.bblr", "hostile.csv").stdout == escaped(plain)


@given(st.text())
def test_what_is_said_has_no_control_characters(text):
    console = Console()
    with console.capture() as said:
        say(console, text)
    assert not CONTROL.search(said.get().replace("\n", "").replace("\t", ""))
