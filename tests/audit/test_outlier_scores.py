"""The scores of fitted classifiers against given labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    Plateaus,
    SLAClassifier,
    ZeroOneClassifier,
)
from bblr.linear.evidence import log_odds_against, log_odds_wrong

SMOOTH = [
    BBLRClassifier(),
    BBLRClassifierCV(cv=2, l2s=(1.0,), random_state=0),
    KernelBBLRClassifier(random_state=0),
    KernelBBLRClassifierCV(kernel_gammas=(0.1,), l2s=(1.0,), cv=2, random_state=0),
]
HARD = [ZeroOneClassifier(random_state=0, time_limit=None), SLAClassifier()]


def blobs(n=120, seed=0, flipped=(7,)):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 3)) + 3.0 * y[:, None]
    y[list(flipped)] = 1 - y[list(flipped)]
    return X, y


@pytest.mark.parametrize("model", SMOOTH + HARD, ids=lambda m: type(m).__name__)
def test_a_wrong_label_has_the_highest_score(model):
    X, y = blobs()
    scores = model.fit(X, y).outlier_scores(X, y)
    assert scores.shape == (len(y),)
    assert scores.argmax() == 7
    assert scores[7] > 0


@pytest.mark.parametrize("model", SMOOTH, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_score_is_the_odds_of_the_noise_channel(model, classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    X = X + 2.0 * np.random.default_rng(0).normal(size=X.shape)
    model.fit(X, y)
    raw = model.decision_function(X)
    if classes == 2:
        raw = np.column_stack([np.zeros(len(raw)), raw])
    shares = np.exp(model.link_.gamma * (raw - raw.max(axis=1, keepdims=True)))
    own = (shares / shares.sum(axis=1, keepdims=True))[np.arange(len(y)), y]
    low = (1 - model.link_.plateaus.b) / classes
    noise, meant = low * (1 - own), (low + model.link_.plateaus.b) * own
    np.testing.assert_allclose(model.outlier_scores(X, y), np.log(noise / meant), rtol=1e-6)


@pytest.mark.parametrize("model", SMOOTH + HARD, ids=lambda m: type(m).__name__)
def test_the_other_label_is_as_right_as_this_one_is_wrong(model):
    X, y = blobs()
    model.fit(X, y)
    there, back = model.outlier_scores(X, y), model.outlier_scores(X, 1 - y)
    # The sum is twice the odds of a wrong label before anything is known of the row.
    np.testing.assert_allclose(there + back, (there + back)[0], atol=1e-9)
    assert (there + back)[0] <= 0
    assert np.all(np.sign(there - back) == np.where(model.predict(X) == y, -1, 1))


def test_beyond_the_plateau_the_score_goes_on():
    X, y = blobs()
    model = BBLRClassifier().fit(X, y)
    far = X.mean(axis=0) + np.outer([50.0, 100.0], model.coef_[0] / np.abs(model.coef_).max())
    assert np.ptp(model.predict_proba(far)[:, 1]) < 1e-9
    low, high = model.outlier_scores(far, [0, 0])
    assert 0 < low < high


def test_two_classes_score_alike_by_one_number_or_two():
    rng = np.random.default_rng(0)
    raw, codes = rng.normal(size=50), rng.integers(2, size=50)
    both = np.column_stack([np.zeros(50), raw])
    np.testing.assert_allclose(
        log_odds_wrong(raw, codes, 2.0, 0.8), log_odds_wrong(both, codes, 2.0, 0.8)
    )


def test_huge_scores_and_no_plateaus_stay_numbers():
    raw = np.array([[1e308, -1e308, 0.0], [0.0, 0.0, 0.0]])
    for codes in ([0, 0], [1, 2]):
        for b in (1.0, 0.5):
            scores = log_odds_wrong(raw, np.array(codes), 1e10, b)
            assert not np.isnan(scores).any()
    assert log_odds_against(np.array([1e308]), np.array([0]), 1e10)[0] > 1e299


@pytest.mark.parametrize("prior", [Plateaus.binary(0.0, 1.0), Plateaus.binary(0.3, 0.6)])
def test_any_prior(prior):
    X, y = blobs()
    scores = BBLRClassifier(prior).fit(X, y).outlier_scores(X, y)
    assert np.isfinite(scores).all() and scores.argmax() == 7


def test_uneven_plateaus_of_many_classes():
    X, y = load_iris(return_X_y=True)
    model = BBLRClassifier(Plateaus((0.05, 0.1, 0.2))).fit(X, y)
    y[3] = 2
    assert model.outlier_scores(X, y).argmax() == 3


def test_containers_and_text_labels():
    pd = pytest.importorskip("pandas")
    X, y = blobs()
    words = np.array(["no", "yes"])[y]
    plain = BBLRClassifier().fit(X, y).outlier_scores(X, y)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = BBLRClassifier().fit(frame, pd.Series(words))
    np.testing.assert_allclose(model.outlier_scores(frame, pd.Series(words)), plain)
    sparse = BBLRClassifier().fit(csr_array(X), y).outlier_scores(csr_array(X), y.tolist())
    np.testing.assert_allclose(sparse, plain, rtol=1e-6)


def test_tensors_come_back_as_tensors():
    torch = pytest.importorskip("torch")
    X, y = blobs()
    model = BBLRClassifier(device="cpu").fit(X, y)
    found = model.outlier_scores(torch.as_tensor(X), torch.as_tensor(y))
    assert isinstance(found, torch.Tensor)
    plain = BBLRClassifier().fit(X, y).outlier_scores(X, y)
    np.testing.assert_allclose(found.numpy(), plain, rtol=1e-4)


def test_what_is_refused():
    X, y = blobs()
    model = BBLRClassifier()
    with pytest.raises(ValueError, match="not fitted"):
        model.outlier_scores(X, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"y holds 2(.0)?, which is not a class of the model"):
        model.outlier_scores(X, np.append(y[:-1], 2))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.outlier_scores(X, y[:-1])
    with pytest.raises(ValueError, match="y must be one column of labels"):
        model.outlier_scores(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="features"):
        model.outlier_scores(X[:, :2], y)
