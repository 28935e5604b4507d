"""Every example of docs/command_line.md runs and prints what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import bblr

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command_line.md"


def figures(text: str) -> list[float]:
    """Figures in a text, but for times."""
    text = re.sub(r"in [\d.]+ s\b", "", text)
    return [float(found) for found in re.findall(r"[-+]?\d[\d,]*\.?\d*", text.replace(",", ""))]


def plain(text: str) -> str:
    """Without figures and widths of columns."""
    return " ".join(re.sub(r"[-+]?\d[\d.]*", "0", text).split())


def test_every_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = re.findall(r"^```(python|console)\n(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M)
    assert len(found) == 8
    for language, text in found:
        if language == "python":
            exec(compile(text, str(PAGE), "exec"), {})
            continue
        command, expected = text.removeprefix("$ bblr ").split("\n", 1)
        result = bblr(*shlex.split(command))
        # A slow machine prints progress too.
        printed = re.sub(r"^(Fitting|Reading): .*\n", "", result.output, flags=re.M)
        assert plain(printed) == plain(expected)
        # The last digits may differ between machines; what was chosen may not.
        assert figures(printed) == pytest.approx(figures(expected), rel=0.05, abs=0.01)
        assert result.exit_code == (2 if expected.startswith("Error") else 0)
