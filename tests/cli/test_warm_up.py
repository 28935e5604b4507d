"""Compiling ahead of the first fit, and telling people at a terminal of it."""

import gc
import sys
from threading import Thread
from types import SimpleNamespace

from numba import njit
from numba.core import event
from typer.testing import CliRunner

from _bblr_command import Kept
from bblr._numeric.compiling import _Teller
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
    teller = _Teller()
    teller.on_start(compilation("numba.np.arrayobj"))
    assert capsys.readouterr().err == ""
    for _ in range(3):
        teller.on_start(compilation("bblr.losses.fused"))
    assert capsys.readouterr().err.count("compiling") == 1


def test_functions_of_no_module_compile_beside_ours():
    made = {}
    exec("def double(x): return 2 * x", made)
    made["double"].__module__ = None
    assert njit(made["double"])(3) == 6


def test_a_log_is_not(capsys):
    _Teller().on_start(compilation("bblr.losses.fused"))
    assert capsys.readouterr().err == ""


def test_garbage_lies_while_code_is_compiled_or_loaded_from_the_cache():
    seen = []

    class Witness(event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            pass

    with event.install_listener("numba:compiler_lock", Witness()):
        njit(lambda x: x + 1)(1)
    assert seen
    assert not any(seen)
    assert gc.isenabled()


def test_garbage_stays_as_it_was():
    gc.disable()
    try:
        with Kept():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_of_several_threads_collects_again():
    with Kept():
        other = Thread(target=lambda: Kept().__enter__())
        other.start()
        other.join()
    assert not gc.isenabled()
    Kept().__exit__()
    assert gc.isenabled()
