from pathlib import Path

import numpy as np
import pytest

from bblr.comparison.methods import Method
from bblr.comparison.verdict.standings import Decision
from research.claims import CLAIMS, verdicts
from research.claims.verdicts import BBLR, BOOSTING, FILES, NONE, borne_out, false_winners, graded
from research.core.cases import Run


def test_twenty_files_of_three_answers():
    assert len({file.name for file in FILES}) == len(FILES) == 20
    answers = [file.answer for file in FILES]
    assert [answers.count(each) for each in (NONE, BBLR, BOOSTING)] == [8, 6, 6]
    assert {"verdict-files", "verdict-coverage"} <= set(CLAIMS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_is_drawn_by_its_seed(file, tmp_path):
    X, y = file.draw(3)
    again, other = file.draw(3), file.draw(4)
    assert X.shape == (file.rows, file.features) and set(np.unique(y)) == {False, True}
    np.testing.assert_array_equal(X, again[0])
    assert not np.array_equal(X, other[0])
    written = file.write(tmp_path, 3).read_text().splitlines()
    assert written[0].endswith(",label") and len(written) == file.rows + 1


@pytest.mark.parametrize(
    ("kind", "method", "grades"),
    [
        ("use", "BBLR0", ("wrong", "right", "wrong")),
        ("use", "HGB", ("wrong", "wrong", "right")),
        ("use", "SVM", ("wrong", "wrong", "wrong")),
        ("keep", "LR", ("right", "undecided", "undecided")),
        ("majority", "majority", ("right", "undecided", "undecided")),
    ],
)
def test_grades(kind, method, grades):
    found = tuple(graded(Decision(kind, method), answer) for answer in (NONE, BBLR, BOOSTING))
    assert found == grades


def test_fresh_rows_decide_what_is_known():
    errors = {"majority": 50.0, "LR": 20.0, "BBLR0": 12.0, "BBLR": 13.0, "HGB": 19.0}
    assert borne_out(BBLR, errors)
    assert not borne_out(NONE, errors) and not borne_out(BOOSTING, errors)
    assert borne_out(NONE, {**errors, "BBLR0": 19.5, "BBLR": 19.5})


def least_squares(name: str, square: bool) -> Method:
    """A quick linear method, or one that sees products of features as well."""

    def build(random_state, *, sparse=False):
        from sklearn.linear_model import RidgeClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import PolynomialFeatures

        return make_pipeline(PolynomialFeatures(2 if square else 1), RidgeClassifier())

    return Method(name, name, f"Stand-in for {name}.", build)


def test_a_sample_of_files_gets_no_wrong_winner(monkeypatch, tmp_path: Path):
    """With quick stand-ins for the methods, of which one is for products and circles."""
    monkeypatch.setattr(
        verdicts,
        "select_file_methods",
        lambda: (least_squares("LR", False), least_squares("HGB", True)),
    )
    grades = {}
    for file in FILES:
        if file.answer != BBLR and not file.name.startswith("stripes"):
            decision, said = verdicts.verdict_on(file, tmp_path, seed=0)
            grades[file.name] = graded(decision, file.answer), said
    assert {grade for grade, _ in grades.values()} <= {"right", "undecided"}
    for name in ("product more", "ring", "ring wide"):
        assert grades[name][0] == "right" and grades[name][1].startswith("Use ")


def test_equal_methods_seldom_get_a_winner():
    for _, winners, missed in false_winners(seed=1, tables=12):
        assert winners <= missed <= 2 / 12


def test_claims_run(monkeypatch):
    monkeypatch.setattr(verdicts, "false_winners", lambda seed, tables: [("a", 0.01, 0.02)])
    found = CLAIMS["verdict-coverage"].run(Run(quick=True)).measured
    assert list(found.figures.values()) == [1.0, 2.0]
