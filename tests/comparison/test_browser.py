"""Reports in a browser: nothing on the console, nothing too wide, light and dark."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bblr.comparison.cells import CLEAN, Condition
from bblr.comparison.compare import Comparison
from bblr.comparison.methods import select_methods
from bblr.comparison.sources import make_table
from bblr.comparison.verdict.metrics import Metric
from bblr.comparison.verdict.verdict_page import Compared, write_report
from bblr.comparison.verdict.winner import FinalFit
from tests.comparison.conftest import fast_method

PLACE = Path(__file__).parents[2] / "docs" / "check.py"
SPEC = importlib.util.spec_from_file_location("check_pages", PLACE)
CHECK = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(CHECK)


def report(folder, name, tables, metric, conditions=(CLEAN,), tuned=None):
    methods = (*select_methods(["majority", "BBLR0"]), *map(fast_method, ("LR", "SVM"), (1, 9)))
    comparison = Comparison(tables, methods, conditions, folds=2, tuned=tuned)
    records = comparison.run(folder / f"{name}.jsonl")
    place = {"repeat": 0, "fold": 0, "folds": 1, "seed": 0, "tuned": tuned}
    final = FinalFit.of(tables[0], methods[2], **place).run()
    records[-1]["warnings"] = ["UserWarning: " + "a-word-without-end-" * 20]
    found = Compared(records, metric, tables, final if len(tables) == 1 else None)
    write_report(found, folder / f"{name}.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Reports on a rare class, many classes with long names, and several data sets with noise."""
    folder = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    names = tuple(f"a column with a long name, number {place}" for place in range(30))
    rare = X[:, 0] + rng.normal(size=400) > 2.2
    own = replace(
        make_table("churn", X, np.where(rare, "yes", "no")),
        features=names,
        columns=30,
        left_out=("an_identifier_without_any_blank_that_goes_on_and_on_and_on_for_ever",),
        notes=("dates in column 'since' became days; take them for texts by --category",),
        source=f"from bblr.io import read_table\n\nX, y, _ = read_table({'folder/' * 20!r})",
    )
    report(folder, "rare", (own,), Metric("balanced"), tuned=Metric("balanced"))
    kinds = [f"a class with quite a long name {k}" for k in (X[:, 0] > 0) + 2 * (X[:, 1] > 0)]
    report(folder, "many", (make_table("kinds", X, kinds),), Metric("log-loss"))
    noisy = (CLEAN, Condition(0.1, "label-flip", "training"))
    others = tuple(make_table(n, X[:, :3], X[:, 0] > 0) for n in ("one", "another-data-set"))
    report(folder, "several", others, Metric(), noisy)
    return folder


@pytest.mark.skipif(CHECK.CHROMIUM is None, reason="there is no Chromium")
def test_pages_are_sound_wide_and_narrow_light_and_dark(site):
    assert CHECK.THEMES == ("light", "dark")
    assert set(CHECK.WIDTHS) == {360, 1280}
    assert list(CHECK.wrong_pages(site)) == []


def test_every_axis_has_a_label(site):
    labels = {
        "Difference from the baseline": ["against LR"],
        "ROC": ["false positive rate", "true positive rate (recall)"],
        "Precision and recall": ["recall", "precision"],
        "Calibration": ["predicted probability", "observed frequency"],
    }
    page = (site / "rare.html").read_text("utf-8")
    figures = {f.split("<", 1)[0]: f for f in page.split("<figcaption>")[1:]}
    assert set(figures) == {"Balanced accuracy", *labels}
    assert "balanced accuracy, %" in figures["Balanced accuracy"]
    for title, expected in labels.items():
        for label in expected:
            assert f">{label}" in figures[title]
