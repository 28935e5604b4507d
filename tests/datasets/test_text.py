import pytest

from bblr.datasets.entity_resolution import (
    amount,
    containment,
    grams,
    jaccard,
    log_ratio,
    numbers,
    words,
)


def test_words_split_numbers_off_and_trim_versions():
    assert words("MacJournal v4 (Mac)") == {"macjournal", "v", "4", "mac"}
    assert words("DVD 6.0") == words("dvd 6") and words("2.0.1") == {"2.0.1"}
    assert numbers("office 2007 v1.50 pro") == {"2007", "1.50"}
    assert words("") == numbers("no digits") == frozenset()


def test_grams_ignore_marks_and_case():
    assert grams("A b!") == {" a ", "a b", " b "}
    assert grams("ab-c") == grams("AB c")


def test_sets_are_compared():
    a, b = frozenset("abc"), frozenset("bcde")
    assert jaccard(a, b) == pytest.approx(2 / 5) and containment(a, b) == pytest.approx(2 / 3)
    assert jaccard(frozenset(), frozenset()) == containment(frozenset(), b) == 0.0
    assert jaccard(a, a) == containment(a, a) == 1.0


def test_amounts():
    assert amount("$ 1299.50 ") == 1299.5 and amount("n/a") is None and amount("") is None
    assert log_ratio(10, 5) == log_ratio(5, 10) == pytest.approx(0.6931, abs=1e-3)
    assert log_ratio(0, 0) == 0
