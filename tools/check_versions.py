"""Run the tests of the estimators with the oldest libraries that may be installed, or the newest.

    python tools/check_versions.py floors|newest [--python EXE] [--all] [PYTEST ARGUMENTS ...]

Makes an environment in build/versions, of Python 3.11 for the oldest and 3.13 for the newest
where no interpreter is named, and installs the package into it with the extras of the command
line, Dask and skops. The tests are those of the losses, designs, solvers and estimators, or with
--all the whole suite with all extras of the tests. What is no option of this goes to pytest:

    python tools/check_versions.py floors tests/linear -n 2
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = {"floors": "3.11", "newest": "3.13"}
EXTRAS = ("cli", "dask", "skops")
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "polars")
# The estimators and what they are made of; the rest shows what they found, or repeats it.
TESTS = tuple(
    f"tests/{room}"
    for room in (
        "linear", "kernel", "zero_one", "losses", "penalties", "designs", "solvers", "training",
        "numeric", "inputs", "structured", "audit", "dask", "evaluation", "io",
        "test_objective.py", "test_curvature.py",
    )
)  # fmt: skip
# What an extra of this package takes from others of it, and a lower bound.
_OWN = re.compile(r"bblr\[(.*)\]")
_BOUND = re.compile(r"\s*([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*([0-9.]+)\s*(?:;.*)?")


def requirements(extras: Iterable[str]) -> Iterator[str]:
    """Yield what the package needs, and what some of its extras do."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    left = [*project["dependencies"], f"bblr[{','.join(extras)}]"]
    while left:
        one = left.pop()
        nested = _OWN.fullmatch(one)
        if nested is None:
            yield one
        else:
            for extra in nested[1].split(","):
                left += project["optional-dependencies"][extra]


def lowest(wanted: Iterable[str]) -> list[str]:
    """Return constraints that hold each library to the lowest version it may have."""
    found = (_BOUND.fullmatch(one) for one in wanted)
    return sorted({f"{each[1]}=={each[2]}" for each in found if each is not None})


def environment(which: str, python: str, everything: bool) -> Path:
    """Return the interpreter of an environment, made anew where pyproject.toml has changed."""
    home = ROOT / "build" / "versions" / (which + ("-all" if everything else ""))
    inside = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = sorted({*requirements([*EXTRAS, "test"] if everything else EXTRAS)})
    limits = lowest(requirements([*EXTRAS, "test"])) if which == "floors" else []
    recipe = "\n".join([python, *wanted, *limits])
    made = home / "made-of.txt"
    if made.is_file() and made.read_text(encoding="utf-8") == recipe:
        return inside
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([python, "-m", "venv", home], check=True)
    limited = home / "constraints.txt"
    limited.write_text("\n".join(limits), encoding="utf-8")
    extras = ",".join([*EXTRAS, *(["test"] if everything else [])])
    pip = [str(inside), "-m", "pip", "install", "--quiet", "--constraint", str(limited)]
    subprocess.run([*pip, *TOOLS, f"{ROOT}[{extras}]"], check=True)
    # The tests are to see the checkout.
    subprocess.run([inside, "-m", "pip", "uninstall", "--quiet", "--yes", "bblr"], check=True)
    made.write_text(recipe, encoding="utf-8")
    return inside


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("which", choices=PYTHONS)
    parser.add_argument("--python", help="the interpreter; else the one of that version")
    parser.add_argument("--all", action="store_true", help="run the whole suite")
    chosen, rest = parser.parse_known_args()
    python = chosen.python or shutil.which(f"python{PYTHONS[chosen.which]}")
    if python is None:
        parser.error(
            f"Python {PYTHONS[chosen.which]} is not there; name an interpreter by --python"
        )
    inside = environment(chosen.which, python, chosen.all)
    subprocess.run([inside, "-m", "pip", "list", "--format=freeze"], check=True)
    named = any((ROOT / word.split("::")[0]).exists() for word in rest)
    tests = [] if named or chosen.all else TESTS
    settings = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "NUMBA_CACHE_DIR": str(inside.parents[1] / "compiled"),
    }
    command = [str(inside), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, *rest]
    if chosen.which == "floors":
        # Old libraries call what newer ones they are installed with would no longer have called.
        command += ["-W", "default::DeprecationWarning"]
    return subprocess.run(command, cwd=ROOT, env=settings).returncode


if __name__ == "__main__":
    sys.exit(main())
