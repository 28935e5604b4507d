"""Compiling ahead of the first fit, and telling people at a terminal of it."""

import gc
import sys
from types import SimpleNamespace

from typer.testing import CliRunner

from bblr._numeric.compiling import _Around
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


def compiled(watch, *modules):
    for module in modules:
        watch.on_start(compilation(module))
    assert not gc.isenabled()
    for module in modules:
        watch.on_end(compilation(module))
    assert gc.isenabled()


def test_a_terminal_is_told_once(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    watch = _Around()
    compiled(watch, "numba.np.arrayobj")
    assert capsys.readouterr().err == ""
    compiled(watch, "bblr.losses.fused", "bblr.losses.fused")
    compiled(watch, "bblr.losses.fused")
    assert capsys.readouterr().err.count("compiling") == 1


def test_a_log_is_not(capsys):
    compiled(_Around(), "bblr.losses.fused")
    assert capsys.readouterr().err == ""


def test_garbage_stays_as_it_was():
    gc.disable()
    try:
        watch = _Around()
        watch.on_start(compilation("bblr.losses.fused"))
        watch.on_end(compilation("bblr.losses.fused"))
        assert not gc.isenabled()
    finally:
        gc.enable()
