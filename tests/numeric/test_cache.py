"""Compiled code without a cache, with one that is damaged, or with a Ctrl-C: nothing is lost."""

import gc
import os
import pickle
import shutil
import signal
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from llvmlite.binding import executionengine

import bblr

KERNEL = """
from bblr._numeric.compiling import njit
from bblr._numeric.elementary import JIT

@njit(**JIT)
def twice(x):
    return x + x
"""

FIRST_FIT = """
import warnings
warnings.simplefilter("error")
import bblr
assert bblr.__file__.startswith({place!r}), bblr.__file__
model = bblr.BBLRClassifier("robust", l2=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
print(model.predict([[0.0], [3.0]]))
"""

NOWHERE = os.devnull + "/nowhere"


def loaded(path):
    """Return the kernel of a file as a new process would see it."""
    spec = spec_from_file_location("kernel_of_a_test", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


@pytest.fixture
def kernel_file(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    path = tmp_path / "kernel_of_a_test.py"
    path.write_text(KERNEL)
    return path


def test_compiled_code_is_kept(kernel_file):
    assert loaded(kernel_file)(2.0) == 4.0
    again = loaded(kernel_file)
    assert again(2.0) == 4.0 and hits(again) == 1


SPOILT = {
    "empty": b"",
    "garbage": bytes(range(256)) * 4,
    "something else": pickle.dumps("0.1") + pickle.dumps(("stamp", 3)),
    "half": None,
}


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("content", SPOILT.values(), ids=SPOILT)
def test_a_damaged_cache_is_made_anew(suffix, content, kernel_file):
    assert loaded(kernel_file)(2.0) == 4.0
    (path,) = kernel_file.parent.rglob(f"*{suffix}")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if content is None else content)
    assert loaded(kernel_file)(3.0) == 6.0
    again = loaded(kernel_file)
    assert again(2.0) == 4.0 and hits(again) == 1


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_cache_that_can_be_neither_read_nor_written(suffix, kernel_file):
    assert loaded(kernel_file)(2.0) == 4.0
    (path,) = kernel_file.parent.rglob(f"*{suffix}")
    path.unlink()
    path.mkdir()
    assert loaded(kernel_file)(3.0) == 6.0


def test_a_cache_that_vanishes(kernel_file):
    kernel = loaded(kernel_file)
    cache = kernel_file.parent / "__pycache__"
    shutil.rmtree(cache, ignore_errors=True)
    cache.write_text("no folder any more")
    assert kernel(2.0) == 4.0


def test_ctrl_c_while_llvm_calls_back(kernel_file, monkeypatch):
    """An exception in that call is lost, and the function would be left without code."""
    kernel, handed = loaded(kernel_file), executionengine.string_at

    def pressed(*args):
        monkeypatch.setattr(executionengine, "string_at", handed)  # once
        signal.raise_signal(signal.SIGINT)
        return handed(*args)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(executionengine, "string_at", pressed)
    with pytest.raises(KeyboardInterrupt):
        kernel(2.0)
    assert signal.getsignal(signal.SIGINT) is before and gc.isenabled()
    assert kernel(2.0) == 4.0


def test_all_kernels_go_on_without_a_cache():
    """numba's own decorator fails at the import where there is no place for one."""
    package = Path(bblr.__file__).parent
    found = [
        path for path in package.rglob("*.py") if "numba import njit" in path.read_text("utf-8")
    ]
    assert found == []


@pytest.mark.slow
def test_a_first_fit_where_nothing_can_be_written(tmp_path):
    place = tmp_path / "packages"
    package = Path(bblr.__file__).parent
    shutil.copytree(package, place / "bblr", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [place / "bblr", *(place / "bblr").rglob("*/")]:
        # An administrator may write to a read-only folder, but nobody into a file.
        (folder / "__pycache__").write_text("")
    closed = {"HOME": NOWHERE, "NUMBA_CACHE_DIR": NOWHERE, "PYTHONDONTWRITEBYTECODE": "1"}
    given = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    run = subprocess.run(
        [sys.executable, "-c", FIRST_FIT.format(place=str(place))],
        env={**given, **closed, "PYTHONPATH": str(place), "NUMBA_OPT": "0"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (run.stdout, run.stderr) == ("[0 1]\n", "")
