"""The paper's figures of sparsity: what is run, and what the records come to."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.sparse as sp

from bblr.comparison.methods import METHODS
from bblr.comparison.sources import make_table
from research.paper import growth
from research.paper.exhibit import Given
from research.paper.exhibits.kernel_exhibits import SPARSITY, WEIGHTS
from research.paper.growth import GrowthTask, Series, SparsityFigure, WeightsFigure
from research.paper.library import DATA, Library

DECLARED = [SPARSITY, WEIGHTS]
GIVEN = Given("quick", 0, {"pima": "p", "kitchen": "k"}, {})
WITHOUT = Given("quick", 0, {"pima": "p"}, {"kitchen": "no file reviews.tar.gz."})
TASK = GrowthTask(
    data="heart", fingerprint="f", method="KBBLR-B", seed=0, library=Library(),
    n=60, repeat=0, widths=(0.25, 1.0), costs=(1.0, 4.0),
)  # fmt: skip


def made_up(task: GrowthTask) -> dict:
    """A record such as a task returns, with numbers that hang on its settings."""
    share = {"SVC": 0.6, "KBBLR-GL": 0.97, "KBBLR-B": 0.1}[task.method]
    record = {
        "key": task.key, **task.settings, "seconds": 1.0,
        "vectors": round(share * task.n) + task.repeat, "errors": 20 - task.repeat, "n_test": 100,
    }  # fmt: skip
    if task.method != "SVC":
        rng = np.random.default_rng(task.n)
        before = rng.normal(size=task.n)
        record["weights"] = growth.histogram(before, 2.0 * before[: record["vectors"]])
    return json.loads(json.dumps(record))


def records_of(exhibit, given):
    return {task.key: made_up(task) for task in exhibit.tasks(given)}


@pytest.mark.parametrize("exhibit", DECLARED, ids=lambda exhibit: exhibit.name)
@pytest.mark.parametrize("level", ["quick", "full"])
def test_declared_tasks(exhibit, level):
    given = replace(GIVEN, level=level)
    tasks = exhibit.tasks(given)
    assert len({task.key for task in tasks}) == len(tasks)
    assert {task.method for task in tasks} <= set(METHODS)
    assert {task.data for task in tasks} == set(exhibit.needs) <= set(DATA)
    assert {task.label for task in tasks}
    for series in exhibit.series(given):
        for values in (series.sizes, series.widths, series.costs):
            assert list(values) == sorted(set(values))


@pytest.mark.parametrize("level", ["quick", "full"])
def test_weights_are_those_of_fits_that_are_counted(level):
    given = replace(GIVEN, level=level)
    counted, weighed = ({task.key for task in exhibit.tasks(given)} for exhibit in DECLARED)
    assert weighed < counted


def test_key_hangs_on_every_field():
    changes = {
        "data": "pima", "fingerprint": "g", "method": "KBBLR-GL", "seed": 1, "n": 61, "repeat": 1,
        "widths": (0.5, 1.0), "costs": (1.0,),
    }  # fmt: skip
    assert {*changes, "library", "expected_seconds"} == {
        field.name for field in fields(GrowthTask)
    }
    keys = {replace(TASK, **{name: value}).key for name, value in changes.items()}
    assert len({TASK.key, *keys}) == 1 + len(changes)


@pytest.mark.parametrize("exhibit", DECLARED, ids=lambda exhibit: exhibit.name)
def test_drawings_are_sound_and_the_same_each_time(exhibit):
    records = records_of(exhibit, GIVEN)
    (result,) = exhibit.results(GIVEN, records)
    assert [result] == exhibit.results(GIVEN, dict(reversed(records.items())))
    assert len(result.panels) == 4
    assert {panel.title.split(":")[0] for panel in result.panels} == {"Pima", "Kitchen"}
    for panel in result.panels:
        root = ElementTree.fromstring(panel.svg)
        assert root.get("role") == "img"
        assert root.get("aria-label") == panel.text
        assert set(re.findall(r"#[0-9a-fA-F]{6}\b", panel.svg)) <= {"#ffffff"}


def test_means_over_repeats_in_words():
    series = Series(data="pima", sizes=(50, 100), repeats=2, widths=(1.0,), costs=(1.0,))
    exhibit = replace(SPARSITY, quick=(series,))
    (result,) = exhibit.results(GIVEN, records_of(exhibit, GIVEN))
    vectors, errors = (panel.text for panel in result.panels)
    assert "SVM (RBF): 30 at 50, 60 at 100." in vectors
    assert "KBBLR, backward: 19.5 % at 50, 19.5 % at 100." in errors
    grown = next(note for note in result.notes if note.startswith("Pima, from 50 to 100"))
    assert "2.0 times as many" in grown
    assert "SVM (RBF) 2.0" in grown
    assert any(note.startswith("On Pima the mixture keeps 98 of 100") for note in result.notes)


def test_mixtures_that_collapse_are_counted():
    exhibit = SPARSITY
    records = records_of(exhibit, WITHOUT)
    first = next(record for record in records.values() if record["method"] == "KBBLR-GL")
    first["vectors"] = 1
    (result,) = exhibit.results(WITHOUT, records)
    assert "In 1 of 4 fits on Pima the mixture left a single vector." in result.notes


def test_weights_in_words():
    (result,) = WEIGHTS.results(GIVEN, records_of(WEIGHTS, GIVEN))
    text = next(p.text for p in result.panels if p.title == "Pima: KBBLR, backward")
    assert "512 training rows" in text
    assert "Before: 512 weights" in text
    assert "After: 51 weights are left" in text
    assert "461 are dropped" in text


@pytest.mark.parametrize("exhibit", DECLARED, ids=lambda exhibit: exhibit.name)
def test_missing_data_are_named(exhibit):
    assert {task.data for task in exhibit.tasks(WITHOUT)} == {"pima"}
    (result,) = exhibit.results(WITHOUT, records_of(exhibit, WITHOUT))
    assert len(result.panels) == 2
    assert "Kitchen is left out: no file reviews.tar.gz." in result.notes
    nothing = Given("quick", 0, {}, {"pima": "gone", "kitchen": "gone"})
    (result,) = exhibit.results(nothing, {})
    assert result.panels == ()
    assert "Pima is left out: gone." in result.notes


def test_failures_are_named():
    exhibit = SPARSITY
    records = records_of(exhibit, WITHOUT)
    spoilt = next(iter(records))
    records[spoilt] = {"key": spoilt, "failure": "ValueError: no rows", "seconds": 0.1}
    (result,) = exhibit.results(WITHOUT, records)
    assert result.notes[-1] == "1 of 12 fits failed, the first by ValueError: no rows."
    assert len(result.panels) == 2
    every = {key: {"key": key, "failure": "ValueError: no rows"} for key in records}
    assert exhibit.results(WITHOUT, every)[0].panels == ()


def test_histogram_covers_all_weights():
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=300), 3.00001 * rng.normal(size=20)
    found = growth.histogram(before, after)
    assert (sum(found["before"]), sum(found["after"])) == (300, 20)
    edges = np.array(found["edges"])
    assert edges == pytest.approx(-edges[::-1])
    assert len(edges) % 2 == 0
    assert edges[-1] == pytest.approx(np.abs(after).max(), rel=1e-3)


def test_split_scales_by_the_rows_that_are_seen():
    rng = np.random.default_rng(0)
    X, y = rng.normal(3.0, 2.0, size=(90, 4)), np.arange(90) % 2
    parts = growth.split(make_table("dense", X, y), 40, 7)
    assert parts.X_train.shape == (40, 4)
    assert len(parts.y_test) == 30
    assert parts.X_train.mean(axis=0) == pytest.approx(np.zeros(4), abs=1e-12)
    assert parts.X_train.std(axis=0) == pytest.approx(np.ones(4))
    more = growth.split(make_table("dense", X, y), 60, 7)
    assert np.array_equal(more.y_train[:40], parts.y_train)
    with pytest.raises(ValueError, match="at most 60"):
        growth.split(make_table("dense", X, y), 61, 7)


def test_sparse_rows_get_length_one():
    words = sp.random(90, 200, density=0.05, random_state=0)
    X = sp.hstack([np.ones((90, 1)), words], format="csr")
    parts = growth.split(make_table("sparse", X, np.arange(90) % 2), 40, 7)
    for part in (parts.X_train, parts.X_test):
        assert sp.issparse(part)
        assert np.asarray(part.multiply(part).sum(axis=1)).ravel() == pytest.approx(
            np.ones(part.shape[0])
        )


def test_tiny_run_from_end_to_end():
    series = Series(data="heart", sizes=(60,), repeats=1, widths=(0.25,), costs=(1.0, 4.0))
    shared = {"name": "x", "place": 1, "title": "", "about": "", "reading": "", "full": ()}
    given = Given("quick", 3, {"heart": Library().table("heart").fingerprint}, {})
    counts = SparsityFigure(quick=(series,), **shared)
    records = {task.key: task.run() for task in counts.tasks(given)}
    assert [r.get("failure") for r in records.values()] == [None] * 3
    for record in records.values():
        assert 1 <= record["vectors"] <= 60
        assert 0 < record["errors"] < 0.5 * record["n_test"]
        assert record["n_test"] == 90
        if record["method"] != "SVC":
            assert sum(record["weights"]["after"]) == record["vectors"]
            assert sum(record["weights"]["before"]) == 60
    task = counts.tasks(given)[-1]
    again, first = task.run(), records[task.key]
    for name in ("vectors", "errors", "weights"):
        assert again[name] == first[name]
    (result,) = counts.results(given, records)
    assert len(result.panels) == 2
    (result,) = WeightsFigure(quick=(series,), **shared).results(given, records)
    assert len(result.panels) == 2
