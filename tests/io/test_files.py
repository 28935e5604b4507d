"""Model files: every estimator comes back the same, to be used, cloned and fitted again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    Plateaus,
)
from bblr.dask import DaskBBLRClassifier, DaskBBLRClassifierCV
from bblr.io import ModelFileError, load_model, save_model
from bblr.solvers import LBFGS, FisherScoring, GradientDescent, RangeSearch, ZeroOneSearch
from bblr.structured import JointModel
from tests.io.models import MODELS, data, fitted, groups, on_cluster, outputs, rows


@pytest.fixture
def again(tmp_path):
    """Save a model and load it."""

    def through(model: Any) -> Any:
        save_model(model, tmp_path / "model.bblr")
        return load_model(tmp_path / "model.bblr")

    return through


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal; NaN is equal to itself here."""
    if isinstance(one, np.ndarray) or sp.issparse(one):
        one, other = (each.toarray() if sp.issparse(each) else each for each in (one, other))
        return one.dtype.kind == other.dtype.kind and np.array_equal(one, other)
    return type(one) is type(other) and repr(one) == repr(other)


def assert_same(model: Any, other: Any) -> None:
    assert type(other) is type(model)
    assert vars(other).keys() == vars(model).keys()
    for name, value in vars(model).items():
        assert same(value, vars(other)[name]), name


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_models_come_back(name, sparse, again):
    model = fitted(name, text=True, sparse=sparse)
    found = again(model)
    assert_same(model, found)
    X = sp.csr_array(rows(name)) if sparse else rows(name)
    for before, after in zip(outputs(model, X), outputs(found, X), strict=True):
        assert np.array_equal(before, after)
    assert clone(found).get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("name", ["linear", "linear, cv", "kernel, backward", "sla", "many"])
def test_they_can_be_fitted_again(name, again):
    model = fitted(name)
    found = again(model)
    found.fit(*data(3 if name == "many" else 2))
    for before, after in zip(outputs(model, rows(name)), outputs(found, rows(name)), strict=True):
        assert np.array_equal(before, after)


def test_a_warm_start_goes_on_from_a_file(again):
    X, y = data(2)
    model = BBLRClassifier("weak", warm_start=True).fit(X, y)
    assert np.array_equal(again(model).fit(X, y).coef_, model.fit(X, y).coef_)


CLASSES = {
    "negative": np.array([-1, 1]),
    "floats": np.array([-1.0, 3.0]),
    "flags": np.array([False, True]),
    "bytes": np.array([3, 250], np.uint8),
    "large": np.array([-(2**62), 2**62]),
    "texts": np.array(["a", "bé\n\x00x"]),
    "objects": np.array(["", "日本"], dtype=object),
}


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("model", [BBLRClassifier(), KernelBBLRClassifier()])
def test_labels_of_every_kind(name, model, again):
    X, y = data(2)
    model = clone(model).fit(X, CLASSES[name][y])
    found = again(model)
    assert found.classes_.tolist() == model.classes_.tolist()
    assert found.classes_.dtype.kind == model.classes_.dtype.kind
    assert found.predict(X).tolist() == model.predict(X).tolist()


def test_names_of_features(again):
    X, y = data(2)
    frame = pd.DataFrame(X, columns=["a", "b", "ç", "", "e e"])
    found = again(BBLRClassifier().fit(frame, y))
    assert found.feature_names_in_.tolist() == frame.columns.tolist()
    assert found.feature_names_in_.dtype == object
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame.rename(columns={"a": "z"}))


PARAMETERS: dict[str, Any] = {
    "weights by class": BBLRClassifier(class_weight={0: 1.0, 1: 2.0}),
    "weights by NumPy's numbers": BBLRClassifier(class_weight={np.int64(0): 1, np.int64(1): 2}),
    "NumPy's numbers": BBLRClassifier(l2=np.float64(1.0), max_iter=np.int32(50)),
    "an array": BBLRClassifierCV(l2s=np.logspace(-1, 1, 3), cv=2),
    "a list": BBLRClassifierCV(l2s=[1.0, 3.0], cv=2, n_jobs=1),
    "a prior": BBLRClassifier(Plateaus.binary(0.1, 0.8)),
    "precomputed": KernelBBLRClassifier("precomputed"),
    "tuned, precomputed": KernelBBLRClassifierCV("precomputed", cv=2, random_state=0),
    **{
        type(solver).__name__: BBLRClassifier(solver=solver, gamma_max=2.0)
        for solver in (LBFGS(), FisherScoring(tol=1), GradientDescent(), RangeSearch())
    },
    "search": BBLRClassifier(solver=ZeroOneSearch(), gamma_max=2.0),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_of_every_kind(name, again):
    X, y = data(2)
    X = X @ X.T if "precomputed" in name else X
    model = clone(PARAMETERS[name]).fit(X, y)
    found = again(model)
    assert repr(found.get_params()) == repr(model.get_params())
    assert np.array_equal(found.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_either_order_and_precision(order, dtype, again):
    X, y = data(2)
    X = np.asarray(X, dtype=dtype, order=order)
    model = KernelBBLRClassifier().fit(X, y)
    found = again(model)
    assert found.support_vectors_.dtype == model.support_vectors_.dtype
    assert found.support_vectors_.flags.f_contiguous == model.support_vectors_.flags.f_contiguous
    assert np.array_equal(found.predict_proba(X), model.predict_proba(X))


def test_old_sparse_matrices_stay_what_they_are(again):
    X, y = data(2)
    found = again(KernelBBLRClassifier().fit(sp.csr_matrix(X), y))
    assert isinstance(found.support_vectors_, sp.csr_matrix)


def test_classifiers_of_a_cluster(again):
    for kind, local in ((DaskBBLRClassifier, "linear"), (DaskBBLRClassifierCV, "linear, cv")):
        model = on_cluster(kind, fitted(local))
        model.client = object()  # stays here, as in a pickle
        found = again(model)
        assert found.client is None
        assert np.array_equal(found.predict_proba(rows(local)), model.predict_proba(rows(local)))


@pytest.mark.parametrize("similarity", ["gaussian", "beta", "kde", None])
@pytest.mark.parametrize("local", [None, BBLRClassifier(), KernelBBLRClassifier()])
def test_joint_models(similarity, local, again):
    made = groups()
    model = JointModel(local, similarity=similarity, random_state=0).fit(made)
    found = again(model)
    for before, after in zip(model.predict_proba(made), found.predict_proba(made), strict=True):
        assert np.array_equal(before, after)
    assert found.local_ is not model.local_


class Own(BBLRClassifier):
    """A user's own classifier."""


def linear(X: Any, Z: Any) -> Any:
    return X @ Z.T


FOREIGN: dict[str, Any] = {
    "a callable": KernelBBLRClassifier(linear),
    "a splitter": BBLRClassifierCV(l2s=(1.0,), cv=KFold(2, shuffle=True, random_state=0)),
    "a generator": BBLRClassifier(random_state=np.random.RandomState(0)),
    "a subclass": Own(),
    "a pipeline": make_pipeline(StandardScaler(), BBLRClassifier()),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_a_file_cannot_hold_is_said_before_it_is_written(name, tmp_path):
    model = clone(FOREIGN[name]).fit(*data(2))
    with pytest.raises(ModelFileError, match=r"cannot be saved: .*object of type .*; fit it, set"):
        save_model(model, tmp_path / "model.bblr")
    assert not list(tmp_path.iterdir())


def test_attributes_of_a_users_own_are_not_lost_silently(tmp_path):
    model = clone(BBLRClassifier()).fit(*data(2))
    model.note_ = "mine"
    with pytest.raises(ModelFileError, match="BBLRClassifier has note_, which training does not"):
        save_model(model, tmp_path / "model.bblr")


def test_tensors_are_named(tmp_path):
    torch = pytest.importorskip("torch")
    model = BBLRClassifier().fit(*data(2))
    model.coef_ = torch.tensor(model.coef_)
    with pytest.raises(ModelFileError, match="object of type Tensor"):
        save_model(model, tmp_path / "model.bblr")


def test_a_file_is_about_as_long_as_its_numbers(tmp_path):
    X = np.random.default_rng(0).normal(size=(2000, 20))
    model = KernelBBLRClassifier(max_centers=1000, random_state=0).fit(
        X, (X[:, 0] > 0).astype(int)
    )
    save_model(model, tmp_path / "model.bblr")
    numbers = model.support_vectors_.nbytes + model.dual_coef_.nbytes + model.support_.nbytes
    assert Path(tmp_path / "model.bblr").stat().st_size < numbers + 5000
