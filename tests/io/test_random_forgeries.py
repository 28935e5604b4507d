"""Random forgeries of model files: refused, or models that predict.

They are loaded in a process of their own, where a crash is a failed test, and where everything
that Python does meanwhile is watched.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bblr.io import ModelFileError, load_model
from bblr.io.registry import TYPES
from tests.cli.conftest import bblr, fitted
from tests.io.forging import content_of, forged
from tests.io.models import groups, rows

ROOT = Path(__file__).resolve().parents[2]


def attack(folder: str, seeds: int, first: int = 0) -> None:
    """Load forgeries, and predict by those that load; a process may die of this."""
    path, taken, refused = Path(folder, "model.bblr"), 0, 0
    events: set[str] = set()
    watching = False

    def note(event: str, values: tuple[Any, ...]) -> None:
        if watching and not (event == "open" and str(values[0]) == str(path)):
            events.add(event)

    sys.addaudithook(note)
    for model in ATTACKED:
        content = content_of(model)
        X: Any = groups(5) if model == "joint" else rows(model.split(" | ")[0])[:20]
        path.write_bytes(content)
        load_model(path).predict(X)
        before = {kind: dict(vars(entry.cls)) for kind, entry in TYPES.items()}
        for seed in range(first, first + seeds):
            path.write_bytes(forged(content, seed))
            watching = True
            try:
                found = load_model(path)
            except ModelFileError as error:
                assert "\n" not in str(error)
                refused += 1
                continue
            finally:
                watching = False
            taken += 1
            try:
                found.predict(X)
            except ValueError as error:
                # What predict says of any model: weights so large that scores overflow, and rows
                # or a device that do not go with its parameters.
                known = ("not finite", "device must be", "candidates are missing")
                assert any(words in str(error) for words in known), (model, seed, error)
        assert before == {kind: dict(vars(entry.cls)) for kind, entry in TYPES.items()}
    # The header of an array is parsed (compile), and none of it is run (exec).
    assert events <= {"compile"}, events
    assert not [each for each in Path(folder).iterdir() if each != path]
    print(taken, refused)


ATTACKED = (
    "linear", "linear, cv", "zero-one", "sla", "many", "kernel, rbf", "kernel, laplacian | sparse",
    "kernel, cosine | sparse", "many, backward", "kernel, rbf | sparse",
    "many, kernel, rbf | sparse", "kernel, backward | sparse", "joint",
)  # fmt: skip


def attacked(folder: Path, seeds: int, first: int = 0) -> tuple[int, int]:
    """Attack in a process of its own; return how many forgeries were taken, and how many not."""
    code = (
        "import resource, warnings\n"
        "warnings.simplefilter('ignore')\n"
        # What a forger asks for beyond this is an error, and not one of ours.
        "resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))\n"
        "from tests.io.test_random_forgeries import attack\n"
        f"attack({str(folder)!r}, {seeds}, {first})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    taken, refused = map(int, done.stdout.split())
    return taken, refused


def test_random_forgeries_are_refused_or_predict(tmp_path):
    taken, refused = attacked(tmp_path, 100)
    assert taken > 100 and taken + refused == 100 * len(ATTACKED)


def test_commands_refuse_forgeries_in_one_line(folder):
    content = Path(fitted()).read_bytes()
    told = set()
    for seed in range(100):
        Path("model.bblr").write_bytes(forged(content, seed))
        result = bblr("predict", "model.bblr", "test.csv")
        assert result.exit_code in (0, 2), result.exception
        if result.exit_code == 2:
            assert result.stderr.count("\n") == 1
            told.add(result.stderr)
    assert len(told) > 20
