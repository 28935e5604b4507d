"""ONNX graphs: the labels of predict, the probabilities of predict_proba."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import (
    BBLRClassifier,
    GeneralizedLinearClassifier,
    KernelBBLRClassifier,
    RobustClassifier,
    SLAClassifier,
)
from bblr.dask import DaskBBLRClassifier
from bblr.io.onnx import register_converters, to_onnx
from bblr.structured import JointModel
from tests.io.models import MANY, MODELS, TWO, data, fitted, on_cluster, outputs, rows

skl2onnx = pytest.importorskip("skl2onnx")
runtime = pytest.importorskip("onnxruntime")


def run(graph: Any, X: Any) -> Any:
    session = runtime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_inputs()]
    return session.run(None, X if isinstance(X, dict) else dict.fromkeys(names, X))


def unseen(model: Any, seed: int = 0, scale: float = 3.0) -> Any:
    return np.random.default_rng(seed).normal(scale=scale, size=(200, model.n_features_in_))


def assert_same(model: Any, X: Any, within: float = 1e-11) -> None:
    labels, values = run(to_onnx(model, X), X)
    predicted, expected = outputs(model, X)
    assert labels.tolist() == predicted.tolist()
    assert labels.shape == predicted.shape and values.shape == expected.shape
    np.testing.assert_allclose(values, expected, rtol=1e-11, atol=within)


@pytest.mark.parametrize("name", MODELS)
def test_labels_and_probabilities_are_those_of_the_model(name):
    model = fitted(name)
    assert_same(model, rows(name))
    assert_same(model, unseen(model))
    far = unseen(model) * 1e3
    assert_same(model, far, within=1e-7)  # poly has scores of 1e9 there


@pytest.mark.parametrize("name", MODELS)
def test_single_precision_rows_are_computed_with_in_double(name):
    model = fitted(name)
    X = unseen(model).astype(np.float32)
    labels, values = run(to_onnx(model, X), X)
    predicted, expected = outputs(model, X)
    assert labels.tolist() == predicted.tolist()
    assert values.dtype == np.float32
    # The cosine of single-precision rows is taken of rows normalised in single precision.
    np.testing.assert_allclose(values, expected, rtol=3e-7, atol=1e-6)


@pytest.mark.parametrize("name", ["linear", "sla", "kernel, rbf", "many", "many, backward"])
@pytest.mark.parametrize("sparse", [False, True])
def test_labels_may_be_texts_and_training_rows_sparse(name, sparse):
    model = fitted(name, text=True, sparse=sparse)
    X = unseen(model)
    labels, values = run(to_onnx(model, sp.csr_array(X) if sparse else X), X)
    predicted, expected = outputs(model, sp.csr_array(X) if sparse else X)
    assert labels.tolist() == predicted.tolist()
    np.testing.assert_allclose(values, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    "classes",
    [
        np.array([-1, 1]),
        np.array([-1.0, 3.0]),
        np.array([False, True]),
        np.array([3, 250], np.uint8),
        np.array([-(2**62), 5]),
        np.array(["a", "b"]),
        np.array(["a", "bé"], dtype=object),
    ],
)
def test_every_kind_of_two_labels(classes):
    X, y = data(2)
    model = BBLRClassifier().fit(X, classes[y])
    labels, _ = run(to_onnx(model, X), X)
    assert (labels == model.predict(X)).all() and len(set(labels.tolist())) == 2


def test_labels_that_onnx_does_not_have_are_refused():
    X, y = data(2)
    model = BBLRClassifier().fit(X, y)
    model.classes_ = np.array([0.5, 1.5])
    with pytest.raises(ValueError, match=r"labels must be whole numbers or texts.*0\.5, 1\.5"):
        to_onnx(model, X)


@pytest.mark.parametrize("classes", [np.array([0, 2**63], np.uint64), np.array([0.0, 2.0**63])])
def test_labels_beyond_64_bits_with_a_sign_are_refused(classes):
    X, y = data(2)
    model = BBLRClassifier().fit(X, y)
    model.classes_ = classes
    with pytest.raises(ValueError, match="must fit in 64 bits with a sign"):
        to_onnx(model, X)
    below = np.array([0, 2**63 - 1], np.uint64)
    model = BBLRClassifier().fit(X, below[y])
    assert run(to_onnx(model, X), X)[0].tolist() == model.predict(X).tolist()


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([2, 3, 5]), st.floats(1e-3, 1e3))
def test_random_data(seed, features, classes, scale):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(40, features)).round(1)
    y = np.append(np.arange(classes), rng.integers(classes, size=40 - classes))
    assert_same(BBLRClassifier("weak").fit(X, y), X)
    assert_same(KernelBBLRClassifier(kernel_gamma="scale", max_centers=10).fit(X, y), X)


def test_a_factor_is_not_rounded_to_single_precision():
    # onnxruntime joins MatMul and a factor behind it where nothing is added in between.
    X, y = data(2)
    model = BBLRClassifier(gamma_max=0.7, gamma_min=0.7, fit_intercept=False).fit(X, y)
    assert_same(model, X, within=1e-15)
    assert_same(KernelBBLRClassifier("poly", kernel_gamma=0.1).fit(X, y), X, within=1e-13)


def test_distances_far_from_the_origin_keep_their_digits():
    X, y = data(2)
    model = KernelBBLRClassifier(kernel_gamma=0.2).fit(X + 1e6, y)
    assert_same(model, X + 1e6, within=1e-9)


def test_a_row_of_zeros_has_no_direction():
    model = fitted("kernel, cosine")
    assert_same(model, np.zeros((2, 5)))


@pytest.mark.parametrize("name", MODELS)
def test_no_row_at_all(name):
    labels, values = run(to_onnx(fitted(name), rows(name)), np.empty((0, 5)))
    assert labels.shape == (0,) and values.shape == (0, len(fitted(name).classes_))


def test_no_vector_at_all():
    X, y = data(2)
    model = KernelBBLRClassifier().fit(X, y)
    model.dual_coef_, model.support_vectors_ = np.empty((1, 0)), np.empty((0, 5))
    assert_same(model, X)


@pytest.mark.parametrize("classes", [2, 3])
def test_pipelines_grids_and_ensembles(classes):
    X, y = data(classes)
    scaled = make_pipeline(StandardScaler(), KernelBBLRClassifier(random_state=0))
    models = (
        scaled.fit(X, y),
        GridSearchCV(BBLRClassifier(), {"l2": [1.0, 3.0]}, cv=2).fit(X, y),
        make_pipeline(
            make_column_transformer((StandardScaler(), [0, 2]), ("passthrough", [1])),
            BBLRClassifier(),
        ).fit(X, y),
        CalibratedClassifierCV(BBLRClassifier(), cv=2).fit(X, y),
        VotingClassifier(
            [("a", BBLRClassifier()), ("b", KernelBBLRClassifier())],
            voting="soft",
            flatten_transform=False,
        ).fit(X, y),
        OneVsRestClassifier(BBLRClassifier()).fit(X, y),
    )
    for model in models:
        labels, values = run(to_onnx(model, X), X)
        # One against the rest decides by scores, its graph by probabilities.
        expected = model.classes_[model.predict_proba(X).argmax(axis=1)]
        assert labels.tolist() == expected.tolist()
        np.testing.assert_allclose(values, model.predict_proba(X), atol=1e-6)


def test_forests_made_robust():
    X, y = data(3)
    model = RobustClassifier(RandomForestClassifier(20, random_state=0), random_state=0).fit(X, y)
    labels, _ = run(to_onnx(model.estimator_, X), X)
    assert labels.tolist() == model.predict(X).tolist()


def test_scores_on_request():
    for name in ("many", "linear", "sla"):
        model, X = fitted(name), rows(name)
        labels, scores = run(to_onnx(model, X, options={"raw_scores": True}), X)
        assert labels.tolist() == model.predict(X).tolist()
        expected = model.decision_function(X)
        scores = scores if name == "many" else scores[:, 1]
        np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-11)


def test_registered_converters_serve_skl2onnx_itself():
    register_converters()
    register_converters()
    model, X = fitted("linear", text=True), rows("linear").astype(np.float32)
    labels, dicts = run(skl2onnx.to_onnx(model, X[:1]), X)
    assert labels.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(
        [row["ja"] for row in dicts], model.predict_proba(X)[:, 0], atol=1e-6
    )


def test_zipmap_as_in_skl2onnx():
    model = fitted("many", text=True)
    X = rows("many").astype(np.float32)
    labels, dicts = run(to_onnx(model, X, zipmap=True), X)
    assert labels.tolist() == model.predict(X).tolist()
    assert set(dicts[0]) == {"no", "ja", "peut-être"}
    by_class = np.array([[row[name] for name in model.classes_] for row in dicts])
    np.testing.assert_allclose(by_class, model.predict_proba(X), atol=1e-6)
    _, *columns = run(to_onnx(model, X, zipmap="columns"), X)
    np.testing.assert_allclose(np.column_stack(columns), model.predict_proba(X), atol=1e-6)
    classes = to_onnx(model, X, options={"output_class_labels": True})
    assert run(classes, X)[2].tolist() == model.classes_.tolist()
    numbers = run(to_onnx(model, X, options={"nocl": True}), X)[0]
    assert model.classes_[numbers].tolist() == model.predict(X).tolist()
    with pytest.raises(ValueError, match="zipmap=True needs float32 rows"):
        to_onnx(model, rows("many"), zipmap=True)
    double = [("X", skl2onnx.common.data_types.DoubleTensorType([None, 5]))]
    with pytest.raises(ValueError, match="zipmap=True needs float32 rows"):
        to_onnx(model, X, zipmap=True, initial_types=double)
    with pytest.raises(ValueError, match="zipmap must be False, True or 'columns'"):
        to_onnx(model, X, zipmap="rows")


def test_what_no_graph_can_hold_is_refused():
    X, y = data(2)
    gram = X @ X.T
    with pytest.raises(ValueError, match="kernel is 'precomputed', which no ONNX graph can hold"):
        to_onnx(KernelBBLRClassifier("precomputed").fit(gram, y), gram)
    own = KernelBBLRClassifier(lambda a, b: np.asarray(a @ b.T)).fit(X, y)
    with pytest.raises(ValueError, match="kernel is a callable"):
        to_onnx(own, X)
    with pytest.raises(TypeError, match="JointModel decides groups of rows together"):
        to_onnx(JointModel(BBLRClassifier()), X)
    with pytest.raises(ValueError, match="target_opset must be at least 13"):
        to_onnx(fitted("linear"), X, target_opset=12)


@pytest.mark.parametrize("model", [None, BBLRClassifier, DaskBBLRClassifier, "linear"])
def test_what_is_no_estimator_is_refused(model):
    with pytest.raises(TypeError, match="model must be a fitted estimator, got"):
        to_onnx(model, data(2)[0])


@pytest.mark.parametrize(
    "model",
    [BBLRClassifier(), KernelBBLRClassifier(), DaskBBLRClassifier(),
     make_pipeline(StandardScaler(), BBLRClassifier())],
)  # fmt: skip
def test_what_is_not_fitted_is_refused(model):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        to_onnx(model, data(2)[0])


@pytest.mark.parametrize("name", ["linear", "kernel, rbf"])
def test_rows_of_another_shape_are_refused(name):
    model, X = fitted(name), rows(name)
    with pytest.raises(ValueError, match=r"X must have two dimensions.* shape \(5,\)"):
        to_onnx(model, X[0])
    for wrong in (X[:, :4], sp.csr_array(X[:, :4])):
        with pytest.raises(ValueError, match="X has 4 columns, the model knows 5"):
            to_onnx(model, wrong)
    narrow = [("X", skl2onnx.common.data_types.DoubleTensorType([None, 4]))]
    with pytest.raises(ValueError, match="X has 4 columns, the model knows 5"):
        to_onnx(model, X, initial_types=narrow)


@pytest.mark.parametrize("opset", [13, 15, 18, 21])
def test_older_and_newer_opsets(opset):
    for name in ("linear", "many, cv", "kernel, laplacian", "kernel, cosine", "sla"):
        model = fitted(name)
        labels, values = run(to_onnx(model, rows(name), target_opset=opset), rows(name))
        predicted, expected = outputs(model, rows(name))
        assert labels.tolist() == predicted.tolist()
        np.testing.assert_allclose(values, expected, atol=1e-11)


LOW = FixedThresholdClassifier(BBLRClassifier(), threshold=0.2)


@pytest.mark.parametrize(
    "model",
    [
        TunedThresholdClassifierCV(BBLRClassifier(), cv=2),
        LOW,
        make_pipeline(StandardScaler(), LOW),
        FixedThresholdClassifier(make_pipeline(StandardScaler(), BBLRClassifier()), threshold=0.2),
        GridSearchCV(LOW, {"threshold": [0.1]}, cv=2),
        OneVsRestClassifier(LOW),
        CalibratedClassifierCV(FrozenEstimator(LOW), cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_thresholds_are_not_dropped(model):
    """skl2onnx writes the labels of the classifier inside a tuned threshold."""
    X, y = data(2)
    LOW.fit(X, y)
    with pytest.raises(TypeError, match=r"has a threshold of its own.*estimator_"):
        to_onnx(model.fit(X, y), X)


def test_a_search_may_have_started_from_a_threshold():
    X, y = data(2)
    search = GridSearchCV(
        make_pipeline(LOW), {"fixedthresholdclassifier": [BBLRClassifier()]}, cv=2
    )
    labels, _ = run(to_onnx(search.fit(X, y), X), X)
    assert labels.tolist() == search.predict(X).tolist()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (RobustClassifier(BBLRClassifier(), cv=2), "RobustClassifier has no form.*estimator_"),
        (make_pipeline(GeneralizedLinearClassifier()), "GeneralizedLinearClassifier has no form"),
    ],
)
def test_classifiers_without_a_form_are_named(model, words):
    X, y = data(2)
    with pytest.raises(TypeError, match=words):
        to_onnx(model.fit(X, y), X)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'bblr\[onnx\]'"):
        to_onnx(fitted("linear"), data(2)[0])


def test_results_of_torch_are_converted():
    torch = pytest.importorskip("torch")
    X, y = data(3)
    model = KernelBBLRClassifier(device="cpu").fit(torch.as_tensor(X), torch.as_tensor(y))
    labels, values = run(to_onnx(model, torch.as_tensor(X)), X)
    assert labels.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(values, model.predict_proba(X), atol=1e-9)


def test_a_classifier_of_a_cluster_is_converted_as_its_local_one():
    model = on_cluster(DaskBBLRClassifier, fitted("linear"))
    X = rows("linear")
    labels, values = run(to_onnx(model, X), X)
    assert labels.tolist() == fitted("linear").predict(X).tolist()
    np.testing.assert_allclose(values, fitted("linear").predict_proba(X), atol=1e-11)


def test_tables_cover_every_classifier():
    assert {type(model) for model in TWO.values()} >= {type(model) for model in MANY.values()}
    from bblr.io.onnx.convert import CONVERTED

    assert {type(model) for model in TWO.values()} == set(CONVERTED)
    assert SLAClassifier in CONVERTED
