"""The order of the gallery, and its cards: one panel of one figure, large enough to read."""

from __future__ import annotations

import shutil
from pathlib import Path
from textwrap import fill
from typing import Any

__all__ = ["CARDS", "InOrder", "keep_panel", "use_panels"]

# What most people come for first; the figure and the panel on its card, counted from 0.
CARDS = {
    "outliers": (0, 5),
    "dirty_labels": (0, 2),
    "label_errors": (0, 1),
    "calibration": (0, 1),
    "digits": (0, 0),
    "asymmetric_costs": (1, 0),
    "sparse_kernels": (0, 1),
    "proofs": (0, 0),
    "entity_resolution": (0, 0),
}


class InOrder:
    """A key to sort file names by; one that is not named above comes after them all."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> tuple[int, str]:
        """Return the place of a file."""
        stem = name.removeprefix("plot_").removesuffix(".py")
        return (list(CARDS).index(stem) if stem in CARDS else len(CARDS), name)

    def __repr__(self) -> str:
        return "InOrder"


def keep_panel(block: Any, block_vars: dict[str, Any], gallery_conf: Any) -> str:
    """Save the figures of a block as always, and the panel for the card by itself."""
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    images = block_vars["image_path_iterator"]
    first = len(images)
    figures = [plt.figure(number) for number in plt.get_fignums()]
    text = matplotlib_scraper(block, block_vars, gallery_conf)
    name = Path(block_vars["src_file"]).stem.removeprefix("plot_")
    number, panel = CARDS.get(name, (0, 0))
    if 0 <= number - first < len(figures):
        folder = Path(gallery_conf["src_dir"], "auto_examples", "images", "panels")
        folder.mkdir(parents=True, exist_ok=True)
        _draw_panel(figures[number - first], panel, folder / f"{name}.png")
    return text


def _draw_panel(figure: Any, panel: int, path: Path) -> None:
    from matplotlib.gridspec import GridSpec

    for legend in figure.legends[:]:
        legend.remove()
    axes = figure.axes[panel]
    for other in figure.axes[:]:
        if other is not axes:
            other.remove()
    figure.set_size_inches(3.6, 2.6)
    axes.set_subplotspec(GridSpec(1, 1, figure=figure)[0])
    axes.tick_params(labelleft=True, labelbottom=True)
    axes.set_aspect("auto")
    axes.set_ylabel(fill(axes.get_ylabel(), 24))
    names = [text.get_text() for text in axes.get_xticklabels()]
    if any(" " in name for name in names):
        axes.set_xticks(axes.get_xticks(), [fill(name, 12) for name in names], fontsize=8)
    if axes.get_legend() is None and axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7)
    figure.savefig(path, dpi=150)


def use_panels(app: Any) -> None:
    """Put the panels in the place of the thumbnails, which shrink whole figures."""
    images = Path(app.srcdir, "auto_examples", "images")
    for panel in (images / "panels").glob("*.png"):
        shutil.copy(panel, images / "thumb" / f"sphx_glr_plot_{panel.stem}_thumb.png")
