"""The table of what a model file may hold. A type that is not here is neither written nor read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from importlib import import_module
from inspect import signature
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator

from bblr.designs.gram.kernel_function import KERNELS, KernelFunction
from bblr.io.kinds import Kind, Sizes, array, fits, fitted, labels, link_to, n_features, names
from bblr.losses import LOSSES, Loss, Plateaus
from bblr.solvers.solution import Stage
from bblr.training.link import Link, Step

if TYPE_CHECKING:
    from bblr.io.model import SavedModel, Scaling, Typical
    from bblr.io.tables.table_layout import TableLayout
    from bblr.structured.factors import Evidence

__all__ = ["TYPES", "Entry"]

Kinds = dict[str, Any]
_WHOLE = ("int64", "int32")


@dataclass(frozen=True)
class Entry:
    """A type that a model file may hold; it is loaded when a file does hold it.

    Parameters
    ----------
    place : str
        Module and name of the type. Its parameters are those of its constructor: the fields of a
        dataclass or named tuple, of the kinds that their type hints say; of an estimator, what
        ``fit`` will look at.
    required : str, default=""
        The fitted attributes without which an estimator cannot predict.
    optional : str, default=""
        Those that only report on the fit.
    sound : callable, optional
        Whether an object whose parts are of the right kinds makes sense as a whole.
    """

    place: str
    required: str = ""
    optional: str = ""
    sound: Callable[[Any], bool] = lambda _: True

    @property
    def name(self) -> str:
        """What the type is called."""
        return self.place.rpartition(".")[2]

    @cached_property
    def cls(self) -> type[Any]:
        """The type."""
        module, _, name = self.place.rpartition(".")
        found: type[Any] = getattr(import_module(module), name)
        return found

    @cached_property
    def params(self) -> Kinds:
        """The parameters of the constructor, and of which kind each is."""
        if issubclass(self.cls, BaseEstimator):
            return {name: PARAMS.get(name, Any) for name in sorted(signature(self.cls).parameters)}
        hints = get_type_hints(self.cls)
        if is_dataclass(self.cls):
            return {each.name: hints[each.name] for each in fields(self.cls) if each.init}
        return hints

    @cached_property
    def attributes(self) -> Kinds:
        """The fitted attributes, and of which kind each is."""
        return {name: _KINDS[name] for name in f"{self.required} {self.optional}".split()}


def _one(name: str) -> Kind:
    """Return the kind of objects of a type of the table."""
    return lambda value, sizes: fits(value, TYPES[name].cls, sizes)


def _several(name: str) -> Kind:
    """Return the kind of lists of such objects."""
    return lambda value, sizes: (
        type(value) is list and all(fits(each, TYPES[name].cls, sizes) for each in value)
    )


def _finite(value: Any) -> bool:
    return all(isfinite(number) for number in vars(value).values() if not isinstance(number, str))


def _sharp(link: Any) -> bool:
    return isfinite(link.gamma) and link.gamma > 0


def _kernel(function: KernelFunction) -> bool:
    return function.name in KERNELS and _finite(function) and function.gamma > 0


def _two(model: Any) -> bool:
    return len(model.classes_) == 2


def _dense_weights(value: Any, sizes: Sizes) -> bool:
    return array("m")(value, sizes) or array("mc")(value, sizes)


def _steps(value: Any, sizes: Sizes) -> bool:
    # An array in scikit-learn.
    return fits(value, int, sizes) or array("k", *_WHOLE)(value, sizes)


def _expansion(model: Any) -> bool:
    """Whether the vectors, or the columns of a precomputed kernel, are there."""
    vectors, support = model.support_vectors_, model.support_
    precomputed = model._function.name == "precomputed"
    shape = (0, 0) if precomputed else (len(support), model.n_features_in_)
    limit = model.n_features_in_ if precomputed else np.inf
    return vectors.shape == shape and bool(((support >= 0) & (support < limit)).all())


def _loss(value: Any, sizes: Sizes) -> bool:
    return isinstance(value, Loss) and value.n_classes == sizes["c"]


def _joint(model: Any) -> bool:
    local = model.local_
    return hasattr(local, "predict_proba") and local.classes_.tolist() == [0, 1]


def _robust(model: Any) -> bool:
    inner = model.estimator_
    return hasattr(inner, "predict") and np.array_equal(inner.classes_, model.classes_)


def _evidence(value: Any, sizes: Sizes) -> bool:
    return value is None or _one("Evidence")(value, sizes)


def _rising(evidence: Evidence) -> bool:
    grid = evidence.grid
    same = len(grid) == len(evidence.log_both) == len(evidence.log_other)
    return same and len(grid) > 0 and bool((grid[1:] >= grid[:-1]).all())


def _sound(part: Any) -> bool:
    return part.is_sound


def _table(layout: TableLayout) -> bool:
    names = [*(column.name for column in layout.columns), layout.target]
    return len(set(names)) == len(names)


def _scaling(scaling: Scaling) -> bool:
    shift = scaling.shift
    return bool(scaling.scale.all()) and (shift is None or shift.shape == scaling.scale.shape)


def _typical(typical: Typical) -> bool:
    return typical.mean.shape == typical.spread.shape and bool((typical.spread >= 0).all())


def _file_model(model: SavedModel) -> bool:
    features = getattr(model.classifier, "n_features_in_", None)
    scaled = features if model.scaling is None else len(model.scaling.scale)
    known = hasattr(model.classifier, "classes_")
    # They are shown on a terminal, which must not be told what to do.
    shown = all(text.isprintable() for pair in model.versions.items() for text in pair)
    typical = features if model.typical is None else len(model.typical.mean)
    right = features == scaled == typical == model.layout.n_features
    return known and shown and right and model.rows > 0


# Parameters of estimators that `predict` takes as they are; `fit` looks at the others.
PARAMS: Kinds = {
    "device": str | None,
    "noise_free_proba": bool | np.bool_,
    "one_to_one": bool | np.bool_,
    "at_most_one": Literal["soft", "hard"] | None,
    "max_states": int,
}
# Fitted attributes mean the same in every estimator that has them.
_KINDS: Kinds = {
    "n_features_in_": n_features,
    "feature_names_in_": names,
    "classes_": labels,
    "coef_": array("kd"),
    "dual_coef_": array("kv"),
    "dense_dual_coef_": _dense_weights,
    "intercept_": array("k"),
    "support_": array("v", *_WHOLE),
    "support_vectors_": array("we", "float64", "float32", sparse=True),
    "n_support_": array("c", *_WHOLE),
    "_function": KernelFunction,
    "kernel_gamma_": float,
    "link_": link_to(Link | Step),
    "loss_": _loss,
    "prior_": Plateaus,
    "gamma_": float,
    "l2_": float,
    "leverage_": float | None,
    "n_iter_": _steps,
    "path_": list[Stage],
    "trials_": _several("Trial"),
    "grid_": _several("GridCell"),
    "refined_": _several("GridCell"),
    "sparsity_path_": list[tuple[int, float, float]],
    "zero_one_loss_": float,
    "lower_bound_": float,
    "gap_": float,
    "optimal_": bool,
    "reason_": str,
    "trace_": _several("Moment"),
    "local_": fitted,
    "calibration_": _one("Calibration"),
    "evidence_": _evidence,
    "_seed_": int,
    "estimator_": fitted,
    "flip_matrix_": array("cc"),
    "label_quality_": array("r"),
    "kept_": array("r", "bool"),
    "method_": str,
}
_LINEAR = "n_features_in_ classes_ coef_ intercept_"
_VECTORS = (
    "n_features_in_ classes_ dual_coef_ intercept_ support_ support_vectors_ _function link_"
)
_JOINT = "n_features_in_ local_ calibration_ evidence_ _seed_"
_ROBUST = "n_features_in_ classes_ estimator_ flip_matrix_ method_"
_ROWS = "feature_names_in_ label_quality_ kept_"
_GENERAL = "feature_names_in_ path_ n_iter_"
_PATH = "feature_names_in_ gamma_ path_ n_iter_"
_FIT = f"{_PATH} prior_ l2_ leverage_"
_SPARSE = f"{_PATH} prior_ kernel_gamma_ n_support_ dense_dual_coef_ sparsity_path_"
_GRID = f"{_SPARSE} l2_ grid_ refined_ trials_"
_PROOF = "feature_names_in_ prior_ zero_one_loss_ lower_bound_ gap_ optimal_ reason_ trace_"

_SOLVERS = ("FisherScoring", "GradientDescent", "LBFGS", "RangeSearch", "ZeroOneSearch")
_COLUMNS = "bblr.io.columns.column_kinds"
_COLUMN_KINDS = ("Number", "Category", "Date", "Text")

TYPES: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry("bblr.linear.BBLRClassifier", f"{_LINEAR} link_", _FIT),
        Entry("bblr.linear.BBLRClassifierCV", f"{_LINEAR} link_", f"{_FIT} trials_"),
        Entry("bblr.dask.DaskBBLRClassifier", f"{_LINEAR} link_", _FIT),
        Entry("bblr.dask.DaskBBLRClassifierCV", f"{_LINEAR} link_", f"{_FIT} trials_"),
        Entry("bblr.kernel.KernelBBLRClassifier", _VECTORS, _SPARSE, _expansion),
        Entry("bblr.kernel.KernelBBLRClassifierCV", _VECTORS, _GRID, _expansion),
        Entry("bblr.linear.GeneralizedLinearClassifier", f"{_LINEAR} loss_", _GENERAL),
        Entry("bblr.dask.DaskGeneralizedLinearClassifier", f"{_LINEAR} loss_", _GENERAL),
        Entry("bblr.linear.SLAClassifier", _LINEAR, _PATH, _two),
        Entry("bblr.zero_one.ZeroOneClassifier", f"{_LINEAR} link_", _PROOF, _two),
        Entry("bblr.structured.JointModel", _JOINT, "", _joint),
        # Around any of these.
        Entry("bblr.audit.RobustClassifier", _ROBUST, _ROWS, _robust),
        # What a joint model takes by default.
        Entry("sklearn.linear_model.LogisticRegression", _LINEAR, "n_iter_", _two),
        # Plateaus check themselves.
        *map(Entry, ("bblr.losses.Plateaus", "bblr.training.link.Step")),
        Entry("bblr.training.link.Link", sound=_sharp),
        Entry("bblr.designs.gram.kernel_function.KernelFunction", sound=_kernel),
        Entry("bblr.structured.odds.Calibration", sound=_finite),
        Entry("bblr.structured.factors.Evidence", sound=_rising),
        # Histories; some of their numbers are NaN.
        Entry("bblr.kernel.kernel_search.GridCell"),
        Entry("bblr.solvers.zero_one.progress.Moment"),
        Entry("bblr.solvers.solution.Stage"),
        *(Entry(f"bblr.training.cross_validation.{name}") for name in ("Path", "Trial")),
        # Losses, penalties and solvers, which are parameters.
        *(Entry(f"bblr.losses.{type(loss).__name__}") for loss in LOSSES.values()),
        *(Entry(f"bblr.penalties.{name}") for name in ("Gaussian", "GaussLaplace")),
        *(Entry(f"bblr.solvers.{name}") for name in _SOLVERS),
        # How features are made from a file.
        *(Entry(f"{_COLUMNS}.{kind}Column", sound=_sound) for kind in _COLUMN_KINDS),
        Entry("bblr.io.columns.text_features.TextFeatures", sound=_sound),
        Entry("bblr.io.tables.table_layout.TableLayout", sound=_table),
        Entry("bblr.io.tables.table_layout.SvmlightLayout"),
        Entry("bblr.io.model.Scaling", sound=_scaling),
        Entry("bblr.io.model.Typical", sound=_typical),
        Entry("bblr.io.model.SavedModel", sound=_file_model),
    )
}
