"""How Sphinx builds the site; `make docs` runs it, warnings being errors."""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT / "src")]

import figures  # noqa: E402
import gallery_cards  # noqa: E402
import reference  # noqa: E402

from bblr import __version__  # noqa: E402

reference.write(HERE / "api")
figures.write(HERE / "figures")

project = "bblr"
author = "bblr developers"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "playground", "auto_examples/**/*.ipynb"]
nitpicky = True
# Nothing is fetched from other projects, so their names stay text.
nitpick_ignore_regex = [(r"py:.*", r"sklearn\..*")]
smartquotes = False
toc_object_entries_show_parents = "hide"

# Pages are Markdown that reads well as it is; formulas are plain text, so that no page loads a
# script from elsewhere to typeset them.
myst_enable_extensions = ["colon_fence", "attrs_block", "attrs_inline"]
myst_heading_anchors = 4

autodoc_typehints = "none"
autodoc_default_options = {"member-order": "groupwise"}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "within_subsection_order": "gallery_cards.InOrder",
    "image_scrapers": ("gallery_cards.keep_panel",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    # That page has its tables sorted by scripts from another host.
    "write_computation_times": False,
    "min_reported_time": 5,
}

html_theme = "pydata_sphinx_theme"
html_title = "bblr"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["bblr.css"]
html_show_sourcelink = False
html_copy_source = False
html_use_index = html_domain_indices = False
html_theme_options = {
    "logo": {"text": "bblr"},
    "navbar_start": ["navbar-logo", "version"],
    "navbar_persistent": ["search-button"],
    "navbar_end": ["source", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
}
html_sidebars = {"index": []}


# Where the code can be read: the repository that pyproject.toml names, or else its pages here.
with (ROOT / "pyproject.toml").open("rb") as file:
    html_context = {"repository": tomllib.load(file)["project"].get("urls", {}).get("Repository")}


# Pages of the site whose text stands at the root of the repository.
AT_ROOT = {
    "contributing": "CONTRIBUTING.md",
    "changes": "CHANGELOG.md",
    "security": "SECURITY.md",
}
HERE_INSTEAD = {"../README.md": "index.md", **{f"../{f}": f"{n}.md" for n, f in AT_ROOT.items()}}


def _read_source(app: Any, name: str, source: list[str]) -> None:
    """Let links between Markdown files of the root and of docs/ point to pages."""
    if name in AT_ROOT:
        text = (ROOT / AT_ROOT[name]).read_text("utf-8")
        source[0] = re.sub(r"\]\((?!\w+:)(?:docs/)?", "](", text)
    for link, page in HERE_INSTEAD.items():
        source[0] = source[0].replace(f"]({link}", f"]({page}")
    # The empty line that ends a doctest would be shown.
    source[0] = re.sub(r"^(```python\n>>> (?:.|\n)*?)\n\n```$", r"\1\n```", source[0], flags=re.M)
    # In a file the name of another file is a good name for a link; on a page its title is.
    source[0] = re.sub(r"\[[\w./]+\.md\]\((?=[^)]*\.md)", "[](", source[0])


def _copy_playground(app: Any, error: Exception | None) -> None:
    """Put the page with sliders beside the others: a page of its own, outside the theme."""
    source = HERE / "playground"
    if error is None and app.builder.format == "html" and source.is_dir():
        shutil.copytree(source, Path(app.outdir) / "playground", dirs_exist_ok=True)


def setup(app: Any) -> None:
    # After the gallery has been made.
    app.connect("builder-inited", gallery_cards.use_panels, priority=900)
    app.connect("source-read", _read_source)
    app.connect("build-finished", _copy_playground)
