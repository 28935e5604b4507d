"""Every example of docs/command_line.md runs and prints what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.conftest import bblr

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command_line.md"


def plain(text: str) -> str:
    """Without times, figures that may differ between machines, and widths of columns.

    Nor lines of progress, which a slow machine prints.
    """
    text = re.sub(r"^(Fitting|Reading): .*\n", "", text, flags=re.M)
    return " ".join(re.sub(r"\d[\d.]*", "0", text).split())


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
        assert plain(result.output) == plain(expected)
        assert result.exit_code == (2 if expected.startswith("Error") else 0)
