"""What goes out with a release: versions that agree, links that lead somewhere, types."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

import bblr

ROOT = Path(__file__).resolve().parents[1]
AT_ROOT = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def test_every_file_tells_the_same_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {bblr.__version__}\n" in citation
    date = re.search(r"\ndate-released: ([\d-]+)\n", citation)
    titles = re.findall(r"\n## (.+)\n", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    first = next(title for title in titles if title != "Unreleased")
    assert date and first == f"{bblr.__version__} ({date[1]})"


def test_the_citation_names_the_paper():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    title = "A New Smooth Approximation to the Zero One Loss with a Probabilistic Interpretation"
    for part in (title, "Hasan", "Md Kamrul", "Pal", "Christopher J.", "arXiv:1511.05643"):
        assert part in citation


@pytest.mark.parametrize("name", AT_ROOT)
def test_links_lead_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert "://" in link or (ROOT / link).exists(), link


IN_CONDA = {"torch": "pytorch", "matplotlib": "matplotlib-base"}


def split(requirements):
    """Names, as conda has them, and versions."""
    found = (re.match(r"([\w-]+)(?:\[[^]]*\])?\s*(.*)", text) for text in requirements)
    pairs = (match.groups() for match in found)
    return {IN_CONDA.get(name, name): version for name, version in pairs}


def test_the_conda_recipe_asks_for_what_the_package_asks():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((ROOT / "tools" / "conda" / "recipe.yaml").read_text("utf-8"))
    described = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project, wanted = described["project"], recipe["requirements"]
    python = f"python {project['requires-python']}"
    assert recipe["context"]["version"] == bblr.__version__
    assert split(wanted["run"]) == split([python, *project["dependencies"]])
    assert split(wanted["host"]) == split([python, "pip", *described["build-system"]["requires"]])
    tools = {"test", "bench", "docs", "lint", "dev", "release"}
    extras = {e: texts for e, texts in project["optional-dependencies"].items() if e not in tools}
    optional = split(text for texts in extras.values() for text in texts)
    assert split(wanted["run_constraints"]) == {n: v for n, v in optional.items() if n != "bblr"}
    (script,) = recipe["build"]["python"]["entry_points"]
    assert dict([script.split(" = ")]) == project["scripts"]
    assert recipe["about"]["license"] == project["license"]
    assert recipe["about"]["license_file"] == project["license-files"]
    assert recipe["about"]["summary"] == project["description"]


SNIPPET = """
from bblr import BBLRClassifier
model: BBLRClassifier = BBLRClassifier()
reveal_type(model)
reveal_type(model.score([[0.0]], [1]))
wrong: str = model.score([[0.0]], [1])
"""


def test_a_type_checker_sees_our_types_from_outside(tmp_path):
    """As an installed package: only py.typed lets mypy look into it."""
    pytest.importorskip("mypy")
    home = tmp_path / "env"
    venv.create(home, with_pip=False, symlinks=os.name != "nt")
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    packages = sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)})
    known = [str(ROOT / "src"), sysconfig.get_path("purelib")]
    Path(packages, "known.pth").write_text("\n".join(known) + "\n", encoding="utf-8")
    (tmp_path / "snippet.py").write_text(SNIPPET, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--python-executable", str(python), "snippet.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert 'type is "bblr.linear.classifier.BBLRClassifier"' in done.stdout, done
    assert 'type is "float"' in done.stdout
    assert "Found 1 error in 1 file" in done.stdout
