"""The Markdown behind the site: links, anchors and tables of contents, without Sphinx."""

from __future__ import annotations

import importlib.util
import re
import sys
import unicodedata
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT

DOCS = ROOT / "docs"
# Written when the site is built.
MADE = (DOCS / "api", DOCS / "auto_examples")
PAGES = [
    path for path in sorted(DOCS.rglob("*.md")) if not any(made in path.parents for made in MADE)
]
FILES = [*PAGES, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]


def prose(path: Path) -> str:
    """A file without its code."""
    text = re.sub(r"^(```+|~~~+).*?^\1", "", path.read_text("utf-8"), flags=re.DOTALL | re.M)
    return re.sub(r"`[^`\n]*`", lambda found: "" if "](" in found[0] else found[0], text)


def slug(heading: str) -> str:
    """The anchor of a heading, by the rule that GitHub and MyST share."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    kept = (c for c in words if c in " -_" or unicodedata.category(c)[0] in "LN")
    return "".join(kept).replace(" ", "-")


@cache
def anchors(path: Path) -> set[str]:
    return {slug(line) for line in re.findall(r"^#{1,6} (.+)$", prose(path), re.MULTILINE)}


def links(path: Path) -> list[str]:
    text = prose(path)
    found = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:href|src)="([^"]+)"', text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def listed(path: Path) -> set[Path]:
    """The pages that the tables of contents of a page name."""
    found: set[Path] = set()
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```", path.read_text("utf-8"), re.S | re.M):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                name = line[line.find("<") + 1 : -1] if line.endswith(">") else line
                found |= set(path.parent.glob(f"{name}.md")) or {path.parent / f"{name}.md"}
    return found


def test_slugs():
    assert slug('`sparsity="backward"`') == "sparsitybackward"
    assert slug("SLAM, as it is here") == "slam-as-it-is-here"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path):
    for link in links(path):
        name, _, anchor = re.sub(r"\?[^#]*", "", link).partition("#")
        target = (path.parent / name).resolve() if name else path
        made = any(folder in target.parents for folder in MADE)
        assert made or target.exists(), link
        if anchor and not made:
            assert anchor in anchors(target), link


def test_every_page_is_in_one_table_of_contents():
    contents = [page for path in PAGES for page in listed(path)]
    made = {folder / "index.md" for folder in MADE}
    assert len(contents) == len(set(contents))
    assert set(contents) == {*PAGES, *made} - {DOCS / "index.md"}


def test_every_room_is_in_the_drawing():
    source = ROOT / "src" / "bblr"
    rooms = {path.stem for path in source.iterdir() if path.is_dir() or path.suffix == ".py"}
    names = re.findall(r'class="name"[^>]*>([^<]*)', (DOCS / "rooms.svg").read_text("utf-8"))
    assert {room for room in rooms if not room.startswith("_")} <= set(" ".join(names).split())


def loaded(name: str):
    """A module of docs/, which is not a package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_example_of_the_gallery_has_its_card():
    examples = {path.stem for path in (ROOT / "examples" / "gallery").glob("plot_*.py")}
    assert {f"plot_{name}" for name in loaded("gallery_cards").CARDS} == examples


@pytest.mark.parametrize("name", ["benchmarks_chart", "panorama_chart"])
def test_charts_are_those_of_their_records(name, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(DOCS))
    module = loaded(name)
    monkeypatch.delitem(sys.modules, "dot_chart")
    # Matplotlib's versions differ in the last digits.
    texts = (module.CHART.read_text("utf-8"), module.drawn())
    old, new = (re.findall(r'<use xlink:href="[^"]*" x="([\d.]+)" y="([\d.]+)"', t) for t in texts)
    assert len(old) == len(new) > 20, f"run docs/{name}.py"
    np.testing.assert_allclose(np.array(old, float), np.array(new, float), atol=3)


def test_figures_are_those_the_library_draws(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(DOCS))
    figures = loaded("figures")
    monkeypatch.delitem(sys.modules, "drawing")
    figures.write(tmp_path)
    assert {path.name for path in (DOCS / "figures").iterdir()} == set(figures.FIGURES)
    for name in figures.FIGURES:
        old, new = ((folder / name).read_text("utf-8") for folder in (DOCS / "figures", tmp_path))
        number = r"-?\d+\.\d+"
        assert re.sub(number, "", old) == re.sub(number, "", new), f"run docs/figures.py: {name}"
        pairs = (np.array(re.findall(number, text), dtype=float) for text in (old, new))
        np.testing.assert_allclose(*pairs, atol=0.5, err_msg=f"run docs/figures.py: {name}")
