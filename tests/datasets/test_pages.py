"""Simulated pages: their shape, their noise, their honesty."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from bblr.datasets import make_pages


@pytest.fixture(scope="module")
def pages():
    return make_pages(400, faces="drawn", random_state=0)


def test_shape_of_a_page(pages):
    sizes = [len(page) for page in pages.groups]
    assert set(sizes) == set(range(2, 8)) and pages.faces == "drawn"
    for page, truth in zip(pages.groups, pages.truth, strict=True):
        assert_array_equal(page.labels, truth)
        assert len(set(page.containers)) >= 2
        assert np.bincount(page.containers, weights=truth).max() <= 1
        first, second = page.pairs.T
        assert (page.containers[first] != page.containers[second]).all()
        n = len(page)
        apart = sum(page.containers[i] != page.containers[j] for i in range(n) for j in range(i))
        assert len(page.pairs) == apart


def test_similarities_know_the_person_and_features_do_not_know_much(pages):
    both = np.concatenate([p.labels[p.pairs].all(axis=1) for p in pages.groups])
    similar = np.concatenate([p.similarities for p in pages.groups])
    assert 0.75 < roc_auc_score(both, similar) < 0.98
    X = np.concatenate([p.X for p in pages.groups])
    y = np.concatenate(pages.truth)
    half = len(y) // 2
    score = LogisticRegression().fit(X[:half], y[:half]).score(X[half:], y[half:])
    assert 0.6 < score < 0.85 and 0.35 < y.mean() < 0.6
    assert X.shape[1] == len(pages.feature_names)


def test_outliers_are_far_and_the_rest_is_untouched(pages):
    noisy = make_pages(400, faces="drawn", outliers=0.1, random_state=0)
    out = np.concatenate(noisy.outlying)
    assert out.mean() == pytest.approx(0.1, abs=0.001)
    before, after = (np.concatenate([p.X for p in made.groups]) for made in (pages, noisy))
    assert_array_equal(before[~out], after[~out])
    far = np.linalg.norm((after - before.mean(axis=0)) / before.std(axis=0), axis=1)
    assert np.median(far[out]) > 5 * np.median(far[~out])
    assert_array_equal(np.concatenate(noisy.truth), np.concatenate(pages.truth))


def test_flips_spoil_labels_but_not_the_truth(pages):
    noisy = make_pages(400, faces="drawn", flips=0.2, random_state=0)
    truth = np.concatenate(noisy.truth)
    labels = np.concatenate([p.labels for p in noisy.groups])
    assert_array_equal(truth, np.concatenate(pages.truth))
    assert np.mean(labels != truth) == pytest.approx(0.2, abs=0.001)


def test_the_seed_decides():
    one, same, other = (make_pages(20, faces="drawn", random_state=s) for s in (1, 1, 2))
    assert_array_equal(one.groups[3].X, same.groups[3].X)
    assert_allclose(one.groups[3].similarities, same.groups[3].similarities)
    assert any(len(a) != len(b) for a, b in zip(one.groups, other.groups, strict=True))


def test_faces_are_drawn_where_there_are_none(tmp_path, monkeypatch):
    monkeypatch.setenv("BBLR_DATA_HOME", str(tmp_path))
    assert make_pages(3, random_state=0).faces == "drawn"
    with pytest.raises(FileNotFoundError, match=r"olivettifaces.mat is not there.*BBLR_DATA_HOME"):
        make_pages(3, faces="olivetti")


def test_olivetti_faces_themselves(data_home):
    pages = make_pages(200, faces="olivetti", data_home=data_home, random_state=0)
    both = np.concatenate([p.labels[p.pairs].all(axis=1) for p in pages.groups])
    similar = np.concatenate([p.similarities for p in pages.groups])
    assert pages.faces == "olivetti" and np.abs(similar).max() < 1
    assert roc_auc_score(both, similar) > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_pages": 0}, "n_pages must be an integer of at least 1.*got 0"),
        ({"outliers": 1.5}, "outliers must be .* at most 1, got 1.5"),
        ({"flips": -0.1}, "flips must be .* of at least 0.*got -0.1"),
        ({"faces": "mine"}, "faces must be one of .*got 'mine'"),
    ],
)
def test_misuse_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        make_pages(**options)
