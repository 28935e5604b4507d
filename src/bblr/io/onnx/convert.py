"""Converters of skl2onnx for the classifiers: scores, the link, and the class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.utils.validation import check_is_fitted

from bblr._numeric.tensors import as_numpy
from bblr.io.onnx.graph import Graph
from bblr.io.onnx.inputs import initial_types
from bblr.io.onnx.scores import decision
from bblr.kernel import KernelBBLRClassifier, KernelBBLRClassifierCV
from bblr.linear import BBLRClassifier, BBLRClassifierCV, SLAClassifier
from bblr.structured import JointModel
from bblr.training.link import Step
from bblr.zero_one import ZeroOneClassifier

__all__ = ["register_converters", "to_onnx"]

CONVERTED = (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    SLAClassifier,
    ZeroOneClassifier,
)
_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [False, True],
    "output_class_labels": [False, True],
    # What scikit-learn's calibration is fitted to.
    "raw_scores": [False, True],
}


def register_converters() -> None:
    """Teach skl2onnx the classifiers of bblr, alone and as parts of pipelines.

    Doing so again changes nothing.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.

    Examples
    --------
    >>> from bblr import BBLRClassifier
    >>> from bblr.datasets import load_uci
    >>> from bblr.io.onnx import register_converters
    >>> from skl2onnx import to_onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> register_converters()
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), BBLRClassifier()).fit(X, y)
    >>> graph = to_onnx(model, X[:1], options={"zipmap": False})
    >>> [output.name for output in graph.graph.output]
    ['label', 'probabilities']
    """
    skl2onnx = _skl2onnx()
    for model in CONVERTED:
        skl2onnx.update_registered_converter(
            model, f"BBLR{model.__name__}", _shapes, _convert, options=dict(_OPTIONS)
        )


def to_onnx(model: Any, X: Any, *, zipmap: Any = False, **settings: Any) -> Any:
    """Return a fitted classifier, or a pipeline that ends in one, as an ONNX graph.

    The graph has two outputs, the label of each row and the probability of each class. It
    computes in double precision, also from float32 rows, as the classifiers do: its labels are
    those of ``predict``, exact ties of many classes excepted, and its probabilities those of
    ``predict_proba`` up to rounding.

    Parameters
    ----------
    model : estimator
        A fitted classifier of bblr, or anything of scikit-learn around one that skl2onnx knows,
        such as a pipeline or a grid search. A classifier fitted on a Dask cluster is converted as
        its ``to_local()``. Of :class:`~bblr.SLAClassifier`, which has no probabilities, the
        second output has the score of each class, minus the score and the score.
    X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        Rows as the graph will get them; only their type and the number of features count. The
        graph takes dense rows, also where X is sparse. Each column of a pandas or polars frame
        becomes an input of its own, of shape (n_samples, 1) and with the name of the column.
    zipmap : {False, True, "columns"}, default=False
        Probabilities as a matrix, as a list of dicts by class (of float32 rows only: ONNX has no
        dicts of doubles), or as an output a class.
    **settings : Any
        Passed on to ``skl2onnx.to_onnx``, as ``target_opset``.

    Returns
    -------
    onnx.ModelProto
        The graph; ``graph.SerializeToString()`` are the bytes of a file.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    ValueError
        If the kernel is precomputed or a callable, if labels are neither whole numbers of 64 bits
        nor texts, or if X has other columns than the model knows.
    TypeError
        If it is no estimator, or is or holds a classifier that a graph would not repeat: a
        :class:`~bblr.structured.JointModel`, a :class:`~bblr.RobustClassifier` (convert its
        ``estimator_``), or a threshold tuned or fixed by scikit-learn.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    Examples
    --------
    >>> import onnxruntime
    >>> from bblr import BBLRClassifier
    >>> from bblr.datasets import load_uci
    >>> from bblr.io.onnx import to_onnx
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> model = BBLRClassifier().fit(X, y)
    >>> graph = to_onnx(model, X).SerializeToString()
    >>> session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    >>> labels, probabilities = session.run(None, {"X": X})
    >>> bool((labels == model.predict(X)).all())
    True
    >>> float(abs(probabilities - model.predict_proba(X)).max()) < 1e-6
    True
    """
    if isinstance(model, JointModel):
        raise TypeError(
            "JointModel decides groups of rows together, which an ONNX graph of rows cannot; "
            "convert its classifier alone, model.local_."
        )
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise TypeError(f"model must be a fitted estimator, got {model!r}.")
    check_is_fitted(model)
    if hasattr(model, "to_local"):
        model = model.to_local()
    if zipmap not in (False, True, "columns"):
        raise ValueError(f"zipmap must be False, True or 'columns', got {zipmap!r}.")
    for part in _classifiers(model):
        _check_converts(part)
    register_converters()
    types = settings.pop("initial_types", None)
    types = initial_types(model, X) if types is None else types
    if zipmap is True and any(type(kind).__name__ == "DoubleTensorType" for _, kind in types):
        raise ValueError(
            "zipmap=True needs float32 rows, since ONNX has no dicts of doubles: give "
            "X.astype(numpy.float32), or zipmap='columns'."
        )
    options = {**settings.pop("options", {}), "zipmap": zipmap}
    return _skl2onnx().to_onnx(model, initial_types=types, options=options, **settings)


_PREDICTS = ("predict", "predict_proba")


def _classifiers(model: Any) -> Iterator[Any]:
    """Yield a fitted classifier and those inside it."""
    if isinstance(model, dict | list | tuple):
        for part in model.values() if isinstance(model, dict) else model:
            yield from _classifiers(part)
    elif isinstance(model, BaseEstimator) and any(hasattr(model, name) for name in _PREDICTS):
        yield model
        # A search also holds the classifier it started from.
        given = () if hasattr(model, "best_estimator_") else ("steps", "estimator")
        for name, part in vars(model).items():
            if name.endswith("_") or name in given:
                yield from _classifiers(part)


def _check_converts(model: Any) -> None:
    """Raise a TypeError for a classifier that skl2onnx does not know, or not whole."""
    name = type(model).__name__
    if isinstance(model, TunedThresholdClassifierCV | FixedThresholdClassifier):
        raise TypeError(
            f"{name} has a threshold of its own, which skl2onnx leaves out; convert the "
            "classifier inside it, estimator_, and apply the threshold to its probabilities."
        )
    if type(model).__module__.startswith("bblr.") and not isinstance(model, CONVERTED):
        inside = "; convert the classifier inside it, estimator_" * hasattr(model, "estimator_")
        raise TypeError(f"{name} has no form in ONNX{inside}.")


def _skl2onnx() -> Any:
    try:
        import skl2onnx
    except ModuleNotFoundError as missing:
        raise ImportError(
            "conversion to ONNX needs skl2onnx, which is not installed; run: "
            "pip install 'bblr[onnx]'"
        ) from missing
    return skl2onnx


def _shapes(operator: Any) -> None:
    """Say what the outputs are: a label a row, and a number a row and class."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    rows = operator.inputs[0].get_first_dimension()
    labels = _labels(operator.scope_inst, operator.raw_operator)
    kind = StringTensorType if labels.dtype.kind == "U" else Int64TensorType
    operator.outputs[0].set_type(kind([rows]))
    operator.outputs[1].type.shape = [rows, len(labels)]


def _labels(scope: Any, model: Any) -> np.ndarray:
    """Return the classes as ONNX has them: texts or 64-bit integers."""
    if scope.get_options(model, {"nocl": False})["nocl"]:
        return np.arange(len(model.classes_))
    classes = np.asarray(as_numpy(model.classes_))
    if classes.dtype.kind in "OU" and all(isinstance(c, str) for c in classes.tolist()):
        return classes.astype(str)
    if classes.dtype.kind in "biuf" and all(_is_int64(c) for c in classes.tolist()):
        return classes.astype(np.int64)
    raise ValueError(
        "labels must be whole numbers or texts in ONNX, and numbers must fit in 64 bits with a "
        f"sign, got {classes.tolist()}; fit with labels encoded so."
    )


def _is_int64(number: float) -> bool:
    return -(2**63) <= number < 2**63 and number == int(number)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the nodes of a classifier."""
    from skl2onnx.common.data_types import FloatTensorType

    model, graph = operator.raw_operator, Graph(scope, container)
    label, second = (output.full_name for output in operator.outputs)
    X = _rows(graph, operator)
    if hasattr(model, "link_"):
        values = _probabilities(graph, model, X)
        chosen = graph.node("ArgMax", values, axis=1, keepdims=0)
    else:
        values = _scores(graph, model, X)
        above = graph.node("Greater", decision(graph, model, X), graph.constant(0.0))
        chosen = graph.cast(graph.node("Squeeze", above, graph.constant([1])), "INT64")
    if scope.get_options(model, {"raw_scores": False})["raw_scores"]:
        values = _scores(graph, model, X)
    narrow = isinstance(operator.outputs[1].type, FloatTensorType)
    graph.cast(values, "FLOAT" if narrow else "DOUBLE", result=second)
    graph.node("Gather", graph.constant(_labels(scope, model)), chosen, result=label, axis=0)


def _rows(graph: Graph, operator: Any) -> str:
    """Add the rows as doubles: the inputs side by side, which are columns where X is a frame."""
    shapes = [each.type.shape for each in operator.inputs]
    widths = [shape[1] for shape in shapes if len(shape) == 2 and isinstance(shape[1], int)]
    known = operator.raw_operator.n_features_in_
    if len(widths) == len(shapes) and sum(widths) != known:
        raise ValueError(f"X has {sum(widths)} columns, the model knows {known}.")
    parts = [graph.cast(each.full_name, "DOUBLE") for each in operator.inputs]
    return parts[0] if len(parts) == 1 else graph.node("Concat", *parts, axis=1)


def _scores(graph: Graph, model: Any, X: str) -> str:
    """Add a score of each class, a column each; of two, minus the score and the score."""
    scores = decision(graph, model, X)
    if len(model.classes_) > 2:
        return scores
    return graph.node("Concat", graph.node("Neg", scores), scores, axis=1)


def _probabilities(graph: Graph, model: Any, X: str) -> str:
    """Add the link of the scores: the probability of each class, a column each."""
    link = model._shown_link
    if len(model.classes_) > 2:
        soft = graph.node("Softmax", decision(graph, model, X, link.gamma), axis=1)
        risen = graph.node("Mul", soft, graph.constant(link.plateaus.b))
        return graph.node("Add", risen, graph.constant(np.array([link.plateaus.low])))
    if isinstance(link, Step):
        above = graph.node("Greater", decision(graph, model, X), graph.constant(0.0))
        share = graph.cast(above, "DOUBLE")
    else:
        sharp = decision(graph, model, X, link.gamma)
        share = graph.node("Sigmoid", graph.node("Add", sharp, graph.constant(link.offset)))
    risen = graph.node("Mul", share, graph.constant(link.plateaus.b))
    up = graph.node("Add", risen, graph.constant(link.plateaus.a))
    return graph.node("Concat", graph.node("Sub", graph.constant(1.0), up), up, axis=1)
