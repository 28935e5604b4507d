"""Named data and methods, and the files of users."""

import numpy as np
import pytest

from bblr._settings import SettingError
from bblr.comparison.methods import METHODS
from research.paper.library import DATA, Library, own
from research.paper.trainers import TRAINERS


def check(tmp_path, text):
    path = tmp_path / "mine.py"
    path.write_text(text)
    Library((str(path),)).check()


def test_a_good_file_is_accepted_and_its_names_are_known(library):
    library.check()
    assert library.method("tree").label == "Tree" and library.title("small") == "Small"
    assert library.table("small").test.tolist() == list(range(40, 60))
    assert library.digest("tree") and not library.digest("LR")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "defines neither METHODS nor DATA"),
        ("METHODS = [1]", "METHODS must list Method objects, got int"),
        ("1 / 0", "cannot be run: ZeroDivisionError"),
        ("METHODS = (", "cannot be run: SyntaxError"),
        (
            "from bblr.comparison.methods import Method\nMETHODS = [Method('LR', 'LR', '', None)]",
            "the name 'LR' is taken",
        ),
        (
            "from research.paper.library import own\n"
            "DATA = [own('pima', 'Pima', [[0.0], [1.0]], [0, 1])]",
            "the name 'pima' is taken",
        ),
        (
            "from bblr.comparison.methods import Method\n"
            "METHODS = [Method('mine', 'LR', '', None)]",
            "the label 'LR' is taken",
        ),
        (
            "from research.paper.library import own\n"
            "DATA = [own('mine', 'Total', [[0.0], [1.0]], [0, 1])]",
            "the title 'Total' is taken",
        ),
        ("METHODS = None", "METHODS must be a list, got NoneType"),
        ("raise SystemExit(0)", "cannot be run: SystemExit"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path, text, message):
    with pytest.raises(SettingError, match=r"mine\.py") as caught:
        check(tmp_path, text)
    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(SettingError, match="is no file"):
        Library(("nowhere.py",)).check()


def test_the_same_name_in_two_files_is_refused(tmp_path, added):
    twin = tmp_path / "twin.py"
    twin.write_text(added.read_text())
    with pytest.raises(SettingError, match="is taken"):
        Library((str(added), str(twin))).check()


def test_a_file_may_have_dataclasses_and_neighbours(tmp_path):
    (tmp_path / "neighbour.py").write_text("LABEL = 'Mine'\n")
    path = tmp_path / "mine.py"
    path.write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from neighbour import LABEL\n"
        "from bblr.comparison.methods import Method\n"
        "@dataclass\nclass Thing:\n    x: int\n"
        "METHODS = [Method('mine', LABEL, '', None)]\n"
    )
    library = Library((str(path),))
    library.check()
    assert library.method("mine").label == "Mine"


def test_a_file_that_changes_during_a_run_is_refused(tmp_path, added):
    library = Library((str(added),))
    added.write_text("METHODS = []")
    with pytest.raises(SettingError, match="changed during the run"):
        library.check()


@pytest.mark.parametrize("test", [[True, False, False, False], [4], [-1], [0, 0], [], range(4)])
def test_test_rows_must_be_some_of_the_rows(test):
    with pytest.raises(ValueError, match="test must hold numbers"):
        own("mine", "Mine", np.eye(4), [0, 1, 0, 1], test=test).load()


def test_names_do_not_collide():
    assert not set(METHODS) & set(TRAINERS)
    assert all(name == source.name for name, source in DATA.items())


def test_own_data_know_their_test_rows():
    source = own("mine", "Mine", np.eye(4), [0, 1, 0, 1], test=[3])
    table = source.load()
    assert table.test.tolist() == [3] and table.classes == ("0", "1")
    assert table.fingerprint != own("mine", "Mine", np.eye(4), [0, 1, 0, 1]).load().fingerprint


# The full PCS and BnB take minutes and differ from the short ones in a number alone.
@pytest.mark.parametrize("name", sorted(set(TRAINERS) - {"PCS", "BnB"}))
def test_trainers_make_few_training_errors(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=80) > 0).astype(int)
    model = TRAINERS[name].build(0).fit(X, y)
    assert np.mean(model.predict(X) != y) < 0.2
    assert np.array_equal(model.predict(X), TRAINERS[name].build(0).fit(X, y).predict(X))
