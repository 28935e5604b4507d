"""ONNX graphs of frames: each column is an input, and the order of columns is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bblr import BBLRClassifier, KernelBBLRClassifier, SLAClassifier
from bblr.io.onnx import to_onnx
from tests.io.models import data, outputs
from tests.io.test_onnx import run

LIBRARIES = ("pandas", "polars")


def framed(library: str, **columns: Any) -> Any:
    return pytest.importorskip(library).DataFrame(columns)


def numbers(library: str, classes: int = 2, **other: Any) -> Any:
    X, _ = data(classes)
    return framed(library, **(dict(zip("abcde", X.T, strict=True)) | other))


def feed(frame: Any) -> dict[str, Any]:
    columns = {name: np.asarray(frame[name].to_numpy())[:, None] for name in frame.columns}
    return {
        name: values if values.dtype.kind in "fiub" else values.astype(object)
        for name, values in columns.items()
    }


def assert_same(model: Any, frame: Any, within: float = 1e-11) -> None:
    graph = to_onnx(model, frame)
    assert [each.name for each in graph.graph.input] == list(frame.columns)
    labels, values = run(graph, feed(frame))
    predicted, expected = outputs(model, frame)
    assert labels.tolist() == predicted.tolist()
    np.testing.assert_allclose(values, expected, atol=within)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        BBLRClassifier(),
        KernelBBLRClassifier(random_state=0),
        KernelBBLRClassifier("laplacian", random_state=0),
        GridSearchCV(BBLRClassifier(), {"l2": [1.0, 3.0]}, cv=2),
        VotingClassifier([("a", BBLRClassifier())], voting="soft", flatten_transform=False),
    ],
)
def test_columns_of_numbers_are_put_side_by_side(library, classes, model):
    frame = numbers(library, classes)
    assert_same(model.fit(frame, data(classes)[1]), frame)


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_several_types(library):
    X, y = data(2)
    kinds = (np.float32, np.int32, bool, np.uint8)
    whole = abs(9 * X[:, 1:]).T
    other = {n: x.astype(k) for n, x, k in zip("bcde", whole, kinds, strict=True)}
    frame = numbers(library, **other)
    for model in (BBLRClassifier(), SLAClassifier()):
        assert_same(model.fit(frame, y), frame)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_pipeline_of_a_scaler(library):
    frame = numbers(library)
    model = make_pipeline(StandardScaler(), BBLRClassifier()).fit(frame, data(2)[1])
    # skl2onnx makes single precision of columns for its Scaler.
    assert_same(model, frame, within=1e-6)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_pipeline_takes_columns_by_name(library):
    frame = numbers(library)
    model = make_pipeline(
        make_column_transformer((StandardScaler(), ["a", "b"]), ("passthrough", ["d"])),
        BBLRClassifier(),
    ).fit(frame, data(2)[1])
    assert_same(model, frame)
    assert_same(model, frame[list("edcba")])


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_texts(library):
    frame = numbers(library, b=["x", "y", "zu"] * 30)
    model = make_pipeline(
        make_column_transformer(
            (StandardScaler(), ["a", "d"]), (OneHotEncoder(sparse_output=False), ["b"])
        ),
        BBLRClassifier(),
    ).fit(frame, data(2)[1])
    assert_same(model, frame)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("model", [BBLRClassifier(), KernelBBLRClassifier()])
def test_other_columns_are_refused(library, model):
    frame = numbers(library)
    model = model.fit(frame, data(2)[1])
    with pytest.raises(ValueError, match="X has 4 columns, the model knows 5"):
        to_onnx(model, frame[list("abcd")])
    with pytest.raises(ValueError, match=r"X has the columns \['b', .* the model knows \['a', "):
        to_onnx(model, frame[list("bacde")])
    days = np.full(90, np.datetime64("2020-02-02", "us"))
    with pytest.raises(ValueError, match=r"columns of numbers or of texts, got .*2020.* in 'c'"):
        to_onnx(model, numbers(library, c=days))
    with pytest.raises(ValueError, match="zipmap=True needs float32 rows"):
        to_onnx(model, frame, zipmap=True)


def test_two_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    X, y = data(2)
    with pytest.raises(ValueError, match="a name of its own for each column"):
        to_onnx(BBLRClassifier().fit(X, y), pandas.DataFrame(X, columns=list("aacde")))


def test_inputs_that_do_not_add_up_are_refused():
    types = pytest.importorskip("skl2onnx.common.data_types")
    X, y = data(2)
    given = [(name, types.DoubleTensorType([None, 1])) for name in "abc"]
    with pytest.raises(ValueError, match="X has 3 columns, the model knows 5"):
        to_onnx(BBLRClassifier().fit(X, y), X, initial_types=given)
