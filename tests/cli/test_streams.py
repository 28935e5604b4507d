"""Standard output that is full, closed or lacks a character: no traceback, the right status."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bblr.io import load_model
from tests.cli.conftest import FAST, fitted

CODE = "import sys; from _bblr_command import main; sys.argv[0] = 'bblr'; main()"
ROOT = Path(__file__).resolve().parents[2]
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
FIT = ("fit", "train.csv", "--model", "new.bblr", "--no-check", *FAST)


def ran(*arguments, env=None, **streams):
    return subprocess.run(
        [sys.executable, "-c", CODE, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **(env or {})},
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams},
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [FIT, ("predict", None, "test.csv"), ("--help",)])
def test_full_output_is_one_line_and_the_work_is_done(folder, arguments):
    with open("/dev/full", "wb") as full:
        done = ran(*(each or fitted() for each in arguments), stdout=full)
    told = done.stderr.decode()
    assert done.returncode == 2
    assert told.splitlines()[-1].startswith("Error: standard output cannot be written: No space")
    assert "Traceback" not in told
    assert arguments is not FIT or load_model("new.bblr").rows == 90


@pytest.mark.parametrize("arguments", [FIT, ("predict", None, "test.csv")])
def test_a_reader_that_has_seen_enough_is_no_error(folder, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = ran(*(each or fitted() for each in arguments), stdout=writing)
    finally:
        os.close(writing)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr and b"rror" not in done.stderr
    assert arguments is not FIT or Path("new.bblr").exists()


def test_characters_that_a_locale_lacks_are_escaped(folder):
    text = Path("train.csv").read_text().replace("owl", "hibö").replace("fur", "Fell…")
    Path("train.csv").write_text(text, "utf-8")
    for arguments in (FIT, ("compare", "--help")):
        done = ran(*arguments, env=PLAIN)
        assert done.returncode == 0 and b"Traceback" not in done.stderr
        assert done.stdout.isascii()
        assert arguments is not FIT or rb"hib\xf6" in done.stdout
    # A file is UTF-8 everywhere.
    found = ran("predict", "new.bblr", "train.csv", env=PLAIN)
    assert "hibö" in found.stdout.decode("utf-8").splitlines()
