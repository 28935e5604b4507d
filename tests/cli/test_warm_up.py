"""Compiling ahead of the first fit, and telling people at a terminal of it."""

import sys
from types import SimpleNamespace

from typer.testing import CliRunner

from bblr._numeric.compiling import _Notice
from bblr.cli import app


def test_each_kind_of_model_is_compiled():
    result = CliRunner().invoke(app, ["warm-up"])
    assert result.exit_code == 0
    kinds = [line.split(":")[0] for line in result.stdout.splitlines()]
    assert kinds[:2] == ["two classes", "three classes"]
    assert {"sparse rows", "kernels", "zero-one loss"} <= set(kinds)


def compilation(module):
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


def test_a_terminal_is_told_once(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    notice = _Notice()
    notice.on_start(compilation("numba.np.arrayobj"))
    assert capsys.readouterr().err == ""
    for _ in range(2):
        notice.on_start(compilation("bblr.losses.fused"))
    assert capsys.readouterr().err.count("compiling") == 1


def test_a_log_is_not(monkeypatch, capsys):
    _Notice().on_start(compilation("bblr.losses.fused"))
    assert capsys.readouterr().err == ""
