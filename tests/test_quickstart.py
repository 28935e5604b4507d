"""What docs/quickstart.md does with a file; the examples with prompts are doctests."""

from __future__ import annotations

import re
import shlex

from tests.cli.conftest import bblr
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "quickstart.md"


def test_every_command_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(python|sh)\n(?!>>>)(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M)
    kinds, texts = zip(*blocks, strict=True)
    assert kinds == ("sh", "python", "sh")
    exec(compile(texts[1], str(PAGE), "exec"), {})
    commands = texts[2].replace("\\\n", "").splitlines()
    assert len(commands) == 5
    for command in commands:
        name, *arguments = shlex.split(command)
        assert name == "bblr"
        result = bblr(*arguments)
        assert result.exit_code == 0, result.output
    made = {path.name for path in tmp_path.iterdir()}
    assert {"breast.bblr", "scored.csv", "report.html", "audit.html", "audit.csv"} <= made
