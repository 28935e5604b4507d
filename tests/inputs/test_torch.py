"""Estimators on torch tensors: the same fits, and results of the input's kind."""

import os
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    ZeroOneClassifier,
)
from bblr.datasets import load_uci
from bblr.training import marginal

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
# Tests run side by side; threads that wait for one another would only wait for cores.
torch.set_num_threads(1)
# Where there is a GPU, it is what is tested.
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch):
    """Send small tables there as well: they stand for large ones.

    A device forms a curvature at every step and an information in every round, so that these fits
    do so everywhere.
    """
    monkeypatch.setattr("bblr.inputs.torch_tensors.is_small_table", lambda *shape: False)
    monkeypatch.setattr("bblr.training.start.KEPT", 0.0)
    laplace = marginal.laplace
    monkeypatch.setattr(marginal, "laplace", lambda *fit: laplace(*fit[:3]))
    monkeypatch.setattr(marginal, "_NEWTON", replace(marginal._NEWTON, kept=0.0))


@pytest.fixture(scope="module")
def heart():
    return load_uci("heart", return_X_y=True)


@pytest.fixture(scope="module")
def moons():
    return make_moons(150, noise=0.2, random_state=0)


def agree(model, X, y, weight=None, atol=1e-9):
    """Fit on NumPy and on torch; the scores and the objective are the same."""
    here = clone(model).fit(X, y, weight)
    there = clone(model).set_params(device=DEVICE).fit(X, y, weight)
    np.testing.assert_allclose(
        there.decision_function(X), here.decision_function(X), rtol=1e-6, atol=atol
    )
    np.testing.assert_array_equal(there.predict(X), here.predict(X))
    return here, there


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"solver": "lbfgs"},
        {"solver": "sla", "gamma_max": 2.0},
        {"solver": "search", "random_state": 0},
        {"prior": "learned"},
        {"prior": "empirical", "class_weight": "balanced"},
        {"leverage": 3.0, "fit_intercept": False},
        {"class_weight": {1: 2.0}},
    ],
    ids=repr,
)
def test_linear_fits_agree(heart, settings):
    here, there = agree(BBLRClassifier(**settings), *heart, atol=1e-6)
    # Where rows are bounded, the estimated settings differ a little more.
    rel, close = (1e-4, 1e-3) if "leverage" in settings else (1e-8, 1e-5)
    assert there.path_[-1].value == pytest.approx(here.path_[-1].value, rel=rel)
    np.testing.assert_allclose(there.predict_proba(heart[0]), here.predict_proba(heart[0]), close)


def test_weights_and_a_class_without_any(heart):
    X, y = heart
    X, y = np.vstack([X, X[:5]]), np.r_[y, [7] * 5]
    weight = np.r_[np.linspace(0, 2, len(y) - 5), np.zeros(5)]
    here, there = agree(BBLRClassifier(), X, y, weight)
    np.testing.assert_array_equal(here.classes_, there.classes_)


def test_many_classes_agree():
    X, y = load_digits(return_X_y=True)
    agree(BBLRClassifier(), X[::3], y[::3])


def test_cross_validation_agrees(heart):
    search = BBLRClassifierCV("mild", cv=2, l2s=(1.0, 10.0), leverage=None, random_state=0)
    here, there = agree(search, *heart)
    assert here.l2_ == there.l2_
    assert there.link_.gamma == pytest.approx(here.link_.gamma, rel=1e-6)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"kernel": "poly", "coef0": 1.0},
        {"kernel": "laplacian", "max_centers": 40},
        {"sparsity": "backward", "max_vectors": 8},
        {"kernel": lambda X, Z: X @ Z.T},
    ],
    ids=["rbf", "poly", "centres", "backward", "callable"],
)
def test_kernel_fits_agree(moons, settings):
    here, there = agree(KernelBBLRClassifier(random_state=0, **settings), *moons, atol=1e-6)
    np.testing.assert_array_equal(there.support_, here.support_)


def test_kernel_cross_validation_agrees(moons):
    search = KernelBBLRClassifierCV(cv=3, l2s=(3.0, 0.3), kernel_gammas=(0.1, 1.0), random_state=0)
    here, there = agree(search, *moons, atol=1e-6)
    assert here.kernel_gamma_ == there.kernel_gamma_


def test_zero_one_searches_agree(monkeypatch, heart):
    X, y = heart[0][:80, :3], heart[1][:80]
    model = ZeroOneClassifier(random_state=0, time_limit=None)
    here, there = agree(model, X, y)
    assert here.zero_one_loss_ == there.zero_one_loss_
    # What is too large for a table of vertices is searched line by line.
    monkeypatch.setattr("bblr.zero_one.zero_one_classifier.MAX_TABLE", 10)
    large = [clone(model).set_params(device=d).fit(X, y) for d in (None, DEVICE)]
    assert large[1].zero_one_loss_ == large[0].zero_one_loss_


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "model",
    [
        BBLRClassifier(device=DEVICE),
        KernelBBLRClassifier(device=DEVICE),
        ZeroOneClassifier(random_state=0, device=DEVICE),
    ],
    ids=lambda model: type(model).__name__,
)
def test_results_are_tensors_where_the_rows_are(heart, model, dtype):
    X = torch.from_numpy(heart[0]).to(dtype).to(DEVICE)
    y = torch.from_numpy(heart[1]).to(DEVICE)
    model = clone(model).fit(X, y)
    names = [n for n in ("coef_", "dual_coef_", "intercept_", "classes_") if hasattr(model, n)]
    results = [model.decision_function(X), model.predict_proba(X), model.predict(X)]
    for value in [*results, *(getattr(model, name) for name in names)]:
        assert torch.is_tensor(value)
        assert value.device == X.device
    assert model.score(X, y) == np.mean(model.predict(X).cpu().numpy() == heart[1])
    # A model fitted to tensors takes arrays, and a copy of it does the same.
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(
        again.decision_function(X.cpu().numpy()), results[0].cpu().numpy(), rtol=1e-4, atol=1e-4
    )
    assert isinstance(again.predict(X.cpu().numpy()), np.ndarray)


@pytest.mark.parametrize("model", [BBLRClassifier(), BBLRClassifierCV(random_state=0)])
@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_small_tables_are_fitted_on_the_cpu(monkeypatch, heart, model, kind):
    monkeypatch.undo()
    X, y = heart
    here = clone(model).fit(X, y)
    there = clone(model).set_params(device=DEVICE)
    if kind == "tensor":
        there.fit(torch.as_tensor(X, device=DEVICE), torch.as_tensor(y, device=DEVICE))
        assert there.coef_.device.type == DEVICE
        assert there.predict(torch.as_tensor(X, device=DEVICE)).device.type == DEVICE
    else:
        there.fit(X, y)
    np.testing.assert_array_equal(torch.as_tensor(there.coef_).cpu().numpy(), here.coef_)


def test_float32_agrees_with_float64(heart):
    X, y = heart
    wide = BBLRClassifier(device=DEVICE).fit(X, y)
    narrow = BBLRClassifier(device=DEVICE).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=1e-3, atol=1e-4)


def test_labels_of_any_kind(heart):
    X, y = torch.from_numpy(heart[0]), heart[1]
    words = np.where(y > 0, "sick", "well")
    named = BBLRClassifier(device=DEVICE).fit(X, words)
    assert set(named.predict(X)) == {"sick", "well"}
    truth = BBLRClassifier(device=DEVICE).fit(X, torch.from_numpy(y > 0))
    assert truth.predict(X).dtype == torch.bool
    assert np.mean((named.predict(X) == "sick") == truth.predict(X).numpy()) == 1.0


def test_warm_start(heart):
    X, y = torch.from_numpy(heart[0]), torch.from_numpy(heart[1])
    model = BBLRClassifier(device=DEVICE, warm_start=True).fit(X, y)
    first = model.path_[-1].value
    assert model.fit(X, y).path_[-1].value == pytest.approx(first, rel=1e-3)


def bad(X, y):
    spoiled = X.clone()
    spoiled[3, 1] = torch.nan
    infinite = X.clone()
    infinite[3, 1] = torch.inf
    return {
        "contains NaN": (spoiled, y),
        "contains infinity": (infinite, y),
        "Expected 2D": (X[0], y),
        "0 sample": (X[:0], y[:0]),
        "0 feature": (X[:, :0], y),
        "Complex": (X.to(torch.complex64), y),
        "inconsistent numbers": (X, y[:-1]),
        "requires y": (X, None),
        "1d array": (X, y[:, None]),
        "continuous": (X, X[:, 0]),
        "y contains NaN": (X, torch.full((len(y),), torch.nan)),
        "one class only": (X, torch.zeros(len(y))),
    }


def test_bad_tensors_are_named(heart):
    X, y = torch.from_numpy(heart[0]), torch.from_numpy(heart[1])
    for message, data in bad(X, y).items():
        with pytest.raises(ValueError, match=message):
            BBLRClassifier(device=DEVICE).fit(*data)
    model = BBLRClassifier(device=DEVICE).fit(X, y)
    with pytest.raises(ValueError, match="has 3 features, but BBLRClassifier is expecting 13"):
        model.predict(X[:, :3])
    for rows in (sparse.csr_array(heart[0]), X.to_sparse()):
        with pytest.raises(TypeError, match=r"sparse.*device=None"):
            BBLRClassifier(device=DEVICE).fit(rows, y)
        with pytest.raises(TypeError, match=r"sparse.*device=None"):
            model.predict(rows)
    with pytest.raises(ValueError, match="device must be"):
        BBLRClassifier(device="toaster").fit(X, y)
    for label in (np.nan, np.inf):
        with pytest.raises(ValueError, match="Input y contains"):
            BBLRClassifier(device=DEVICE).fit(X, np.append(heart[1][1:], label))


# scikit-learn dispatches only where scipy was told to before its import: a process of its own.
DISPATCH = """
import sys, warnings
import numpy as np, torch
from sklearn import config_context
from sklearn.utils.estimator_checks import check_array_api_input
from bblr import *
models = [
    BBLRClassifier(), BBLRClassifierCV("weak", cv=2, l2s=(0.3, 3.0), gamma_limit=2.0),
    KernelBBLRClassifier(), SLAClassifier(),
    ZeroOneClassifier(random_state=0),
    KernelBBLRClassifierCV(cv=2, l2s=(0.3,), kernel_gammas=(0.1, 1.0), gamma_limit=1.0),
]
for model in models:
    for dtype in ("float64", "float32"):
        check_array_api_input(
            type(model).__name__, model, "torch", "cpu", dtype, check_values=True
        )
rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4))
y = X[:, :3].argmax(axis=1)
rows, labels = torch.from_numpy(X), torch.from_numpy(y)
plain = BBLRClassifier().fit(X, y)
with config_context(array_api_dispatch=True):
    model = BBLRClassifier().fit(rows, labels, torch.ones(90))
    assert torch.is_tensor(model.predict_proba(rows)) and torch.is_tensor(model.coef_)
    np.testing.assert_allclose(model.coef_.numpy(), plain.coef_, atol=1e-9)
    assert isinstance(BBLRClassifier().fit(X, y).coef_, np.ndarray)
# Without dispatch a tensor is an array like any other.
assert isinstance(BBLRClassifier().fit(rows, labels).coef_, np.ndarray)
print("fine")
"""


def test_under_dispatch():
    done = subprocess.run(
        [sys.executable, "-c", DISPATCH],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "fine", done.stderr


def test_labels_of_every_type(heart):
    X, y = torch.from_numpy(heart[0]), (heart[1] > 0).astype(np.int64)
    expected = BBLRClassifier(device=DEVICE).fit(X, torch.from_numpy(y)).coef_
    for dtype in (torch.uint8, torch.uint16, torch.int8, torch.bfloat16, torch.float16):
        labels = torch.from_numpy(y).to(dtype)
        found = BBLRClassifier(device=DEVICE).fit(X, labels)
        assert torch.equal(found.coef_, expected)
        assert found.classes_.dtype == dtype
    twice = torch.from_numpy(np.repeat(y, 2))[::2]
    assert torch.equal(BBLRClassifier(device=DEVICE).fit(X, twice).coef_, expected)
    with pytest.raises(ValueError, match="complex"):
        BBLRClassifier(device=DEVICE).fit(X, torch.from_numpy(y).to(torch.complex64))
    with pytest.raises(ValueError, match="1d array"):
        BBLRClassifier(device=DEVICE).fit(X, torch.tensor(1))


def test_a_tensor_without_device_or_dispatch_is_an_array(heart):
    X, y = torch.from_numpy(heart[0]), torch.from_numpy(heart[1])
    for model in (BBLRClassifier(), KernelBBLRClassifier()):
        assert isinstance(model.fit(X, y).predict_proba(X), np.ndarray)


def test_large_float32_rows_are_multiplied_in_float64(heart):
    X = (heart[0] / 1e3 * 1e36).astype(np.float32)
    model = BBLRClassifier(device=DEVICE).fit(X, heart[1])
    assert model.score(X, heart[1]) > 0.8


def test_kernels_take_read_only_rows(heart):
    X = heart[0].copy()
    X.flags.writeable = False
    KernelBBLRClassifier(device=DEVICE).fit(X, heart[1])


def test_kernels_take_rows_of_any_stride(heart):
    for X in (heart[0][::-1], heart[0][:, ::-1], heart[0][::2]):
        KernelBBLRClassifierCV(
            cv=2, l2s=(1.0,), kernel_gammas=(0.3,), gamma_limit=1.0, device=DEVICE
        ).fit(X, np.arange(len(X)) % 2)


def test_steps_keep_double_precision(heart):
    X, y = torch.from_numpy(heart[0]), torch.from_numpy(heart[1])
    model = ZeroOneClassifier("csa", device=DEVICE, random_state=0).fit(X, y)
    p = model.predict_proba(X)
    assert p.dtype == torch.float64
    assert set(p[:, 1].tolist()) <= {model.prior_.a, model.prior_.a + model.prior_.b}


@pytest.mark.parametrize("model", [BBLRClassifier(), KernelBBLRClassifier(random_state=0)])
def test_a_tensor_as_an_array_may_have_a_gradient_but_not_be_sparse(heart, model):
    X, y = torch.from_numpy(heart[0]), heart[1]
    expected = model.fit(X, y).predict_proba(X)
    found = (
        clone(model).fit(X.clone().requires_grad_(), y).predict_proba(X.clone().requires_grad_())
    )
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(TypeError, match=r"sparse tensor.*to_dense"):
        clone(model).fit(X.to_sparse(), y)


@pytest.mark.parametrize("classes", [2, 3])
def test_penalty_and_plateaus_of_many_rows_are_those_of_numpy(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=5000), [-0.5, 0.5][: classes - 1])
    here, there = agree(BBLRClassifier(), X, y, atol=1e-6)
    assert there.l2_ == pytest.approx(here.l2_, rel=1e-6)
    assert there.prior_.w == pytest.approx(here.prior_.w, abs=1e-9)
