"""Build the wheel and the sdist, look into them, and install them into empty environments.

    python tools/check_release.py [--out dist] [--python python3.12 ...]

Needs ``build`` and ``packaging`` (``pip install 'bblr[release]'``). Without ``--python`` it takes
those of python3.11, python3.12 and python3.13 that are on the path.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
# What people look for beside the package, in the sdist.
BESIDE = (
    "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
    "SECURITY.md", "pyproject.toml", "docs", "examples", "research", "tests", "tools",
)  # fmt: skip
TABLE = "height,colour,kind\n" + "".join(
    f"{i / 10},{'red' if i % 3 else 'blue'},{'cat' if i + (i % 7) > 22 else 'dog'}\n"
    for i in range(40)
)

BASE = """
import bblr, numpy as np
from importlib.metadata import version
assert bblr.__version__ == version("bblr"), (bblr.__version__, version("bblr"))
assert "site-packages" in bblr.__file__, bblr.__file__
from bblr.datasets import load_uci
X, y = load_uci("heart", return_X_y=True)
for model in (bblr.BBLRClassifier(), bblr.KernelBBLRClassifier(), bblr.BBLRClassifierCV(cv=2)):
    assert model.fit(X, y).score(X, y) > 0.8
proof = bblr.ZeroOneClassifier("mip", max_steps=5, random_state=0).fit(X[:60], y[:60])
assert proof.lower_bound_ <= proof.zero_one_loss_
names = ("typer", "pandas", "torch", "dask", "skl2onnx", "matplotlib")
import importlib.util
assert not any(map(importlib.util.find_spec, names))
from bblr.io.onnx import to_onnx
for call, extra in ((lambda: to_onnx(model, X), "onnx"),):
    try:
        call()
    except ImportError as error:
        assert f"bblr[{extra}]" in str(error), error
    else:
        raise AssertionError(extra)
print("fits and predicts")
"""
TYPED = """
from bblr import BBLRClassifier
model: BBLRClassifier = BBLRClassifier()
reveal_type(model)
reveal_type(model.score([[0.0]], [1]))
wrong: str = model.score([[0.0]], [1])
"""


def found_pythons() -> Iterator[str]:
    """Yield the interpreters that are there; a name alone may stand for one that is not."""
    for version in VERSIONS:
        python = shutil.which(f"python{version}")
        if python and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
            yield python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for the wheel and the sdist")
    parser.add_argument("--python", action="append", help="interpreter to install into")
    chosen = parser.parse_args()
    pythons = chosen.python or list(found_pythons())
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        sdist, wheel = build(home)
        check_wheel(wheel)
        check_sdist(sdist)
        for python in pythons:
            check_installed(python, wheel, home)
        if not pythons:
            say(f"no interpreter found to install into: none of {', '.join(VERSIONS)}")
        if chosen.out is not None:
            chosen.out.mkdir(exist_ok=True)
            for path in (sdist, wheel):
                shutil.copy(path, chosen.out)
                say(f"wrote {chosen.out / path.name}")
    return 0


def say(text: str) -> None:
    print(text, flush=True)


def run(*command: object, cwd: Path | None = None, status: int = 0) -> str:
    """Run a command outside the checkout and return what it wrote."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONWARNINGS")}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=clean, capture_output=True, text=True)
    if done.returncode != status:
        raise SystemExit(
            f"{' '.join(words[:4])} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    return done.stdout + done.stderr


def build(home: Path) -> tuple[Path, Path]:
    """Return the sdist and the wheel made of it, after a look at the wheel of the checkout."""
    run(sys.executable, "-m", "build", "--outdir", home / "dist", ROOT)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", home / "direct", ROOT)
    (sdist,), (wheel,) = (home / "dist").glob("*.tar.gz"), (home / "dist").glob("*.whl")
    (direct,) = (home / "direct").glob("*.whl")
    assert contents(wheel) == contents(direct), "the sdist makes another wheel than the checkout"
    say(f"built {sdist.name} ({sdist.stat().st_size >> 10} kB) and {wheel.name} "
        f"({wheel.stat().st_size >> 10} kB); the sdist makes the same wheel")  # fmt: skip
    return sdist, wheel


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def sources() -> Iterator[str]:
    yield "_bblr_command.py"
    for path in (ROOT / "src" / "bblr").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT / "src").as_posix()


def check_wheel(wheel: Path) -> None:
    found = contents(wheel)
    (info,) = {name.split("/")[0] for name in found if ".dist-info/" in name}
    package = {name for name in found if not name.startswith(f"{info}/")}
    assert package == set(sources()), sorted(package ^ set(sources()))
    assert "bblr/py.typed" in package
    licences = {name for name in found if name.startswith(f"{info}/licenses/")}
    assert len(licences) == 2 and all(found[name].strip() for name in licences), licences
    check_metadata(found[f"{info}/METADATA"])
    say(f"the wheel holds {len(package)} files, all of the package and nothing else, and "
        f"{len(licences)} licences")  # fmt: skip


def check_metadata(text: bytes) -> None:
    """Check what an index checks, and that links of the README lead somewhere."""
    from packaging.metadata import Metadata

    metadata = Metadata.from_email(text, validate=True)
    version = re.search(r'__version__ = "(.+)"', (ROOT / "src/bblr/_version.py").read_text())
    assert version and str(metadata.version) == version[1]
    assert metadata.description_content_type == "text/markdown"
    readme = message_from_bytes(text).get_payload(decode=True)
    assert isinstance(readme, bytes) and readme.decode().strip().startswith("# bblr")
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", (ROOT / "README.md").read_text("utf-8")):
        assert "://" in link or (ROOT / link).exists(), f"README.md links to {link}"
    say(f"metadata of bblr {metadata.version} are valid; every link of the README leads somewhere")


def check_sdist(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {"/".join(name.split("/")[1:]) for name in archive.getnames()}
    missing = [name for name in BESIDE if not any(n.split("/")[0] == name for n in names)]
    assert not missing, f"the sdist lacks {missing}"
    odd = [n for n in names if "__pycache__" in n or n.startswith((".venv", "docs/api/"))]
    assert not odd, f"the sdist holds {odd[:5]}"
    say(f"the sdist holds {len(names)} files, tests and documentation among them")


def check_installed(python: str, wheel: Path, home: Path) -> None:
    """Install into an empty environment, first alone, then with the command line."""
    version = run(python, "-c", "import platform; print(platform.python_version())").strip()
    place = home / f"python-{version}"
    run(python, "-m", "venv", place)
    scripts = place / ("Scripts" if os.name == "nt" else "bin")
    own = scripts / "python"
    pip = (own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, wheel)
    run(own, "-W", "error::DeprecationWarning:bblr", "-c", BASE, cwd=place)
    told = run(scripts / "bblr", "--help", cwd=place, status=1)
    assert told.strip() == "The command line needs more packages: pip install 'bblr[cli]'", told
    say(f"Python {version}: installs alone; fits, predicts, and names what the command line needs")
    run(*pip, f"{wheel}[cli]", "mypy")
    check_command_line(scripts / "bblr", place)
    check_types(own, place)
    say(f"Python {version}: the command line fits and predicts; mypy sees our types")


def check_command_line(bblr: Path, place: Path) -> None:
    (place / "table.csv").write_text(TABLE, encoding="utf-8")
    assert run(bblr, "--version", cwd=place).startswith("bblr ")
    assert "--methods" in run(bblr, "compare", "--help", cwd=place)
    run(bblr, "fit", "table.csv", "--target", "kind", "--model", "m.bblr",
        "--classifier", "BBLRClassifier", cwd=place)  # fmt: skip
    run(bblr, "predict", "m.bblr", "table.csv", "--proba", "--out", "out.csv", cwd=place)
    lines = (place / "out.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 41 and lines[0].startswith("label,proba_cat"), lines[:2]
    report = ("--methods", "LR,BBLR", "--out", "report.html", "--target", "kind")
    run(bblr, "compare", "table.csv", *report, cwd=place)
    assert (place / "report.html").stat().st_size > 1000


def check_types(python: Path, place: Path) -> None:
    (place / "snippet.py").write_text(TYPED, encoding="utf-8")
    told = run(python, "-m", "mypy", "snippet.py", cwd=place, status=1)
    assert 'type is "bblr.linear.classifier.BBLRClassifier"' in told, told
    assert 'type is "float"' in told and "Found 1 error" in told, told


if __name__ == "__main__":
    raise SystemExit(main())
