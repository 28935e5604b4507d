"""The table of what a model file may hold. A type that is not here is neither written nor read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from inspect import signature
from math import isfinite
from typing import Any, Literal, get_type_hints

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import bblr
from bblr import dask, solvers
from bblr.designs.gram.kernel_function import KERNELS, KernelFunction
from bblr.io.columns.column_kinds import CategoryColumn, DateColumn, NumberColumn, TextColumn
from bblr.io.columns.text_features import TextFeatures
from bblr.io.kinds import Sizes, array, fits, fitted, labels, link_to, n_features, names
from bblr.io.model import SavedModel, Scaling, Typical
from bblr.io.tables.table_layout import SvmlightLayout, TableLayout
from bblr.kernel.kernel_search import GridCell
from bblr.losses import LOSSES, Loss
from bblr.penalties import Gaussian, GaussLaplace
from bblr.solvers.solution import Stage
from bblr.solvers.zero_one.progress import Moment
from bblr.structured import JointModel
from bblr.structured.factors import Evidence
from bblr.structured.odds import Calibration
from bblr.training.cross_validation import Path, Trial
from bblr.training.link import Link, Step

__all__ = ["TYPES", "Entry"]

Kinds = dict[str, Any]
_WHOLE = ("int64", "int32")


@dataclass(frozen=True)
class Entry:
    """A type that a model file may hold.

    Parameters
    ----------
    cls : type
        The type. Its parameters are those of its constructor: the fields of a dataclass or named
        tuple, of the kinds that their type hints say; of an estimator, what ``fit`` will look at.
    required : str, default=""
        The fitted attributes without which an estimator cannot predict.
    optional : str, default=""
        Those that only report on the fit.
    sound : callable, optional
        Whether an object whose parts are of the right kinds makes sense as a whole.
    """

    cls: type[Any]
    required: str = ""
    optional: str = ""
    sound: Callable[[Any], bool] = lambda _: True

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
    "prior_": bblr.Plateaus,
    "gamma_": float,
    "l2_": float,
    "leverage_": float | None,
    "n_iter_": _steps,
    "path_": list[Stage],
    "trials_": list[Trial],
    "grid_": list[GridCell],
    "refined_": list[GridCell],
    "sparsity_path_": list[tuple[int, float, float]],
    "zero_one_loss_": float,
    "lower_bound_": float,
    "gap_": float,
    "optimal_": bool,
    "reason_": str,
    "trace_": list[Moment],
    "local_": fitted,
    "calibration_": Calibration,
    "evidence_": Evidence | None,
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
_GENERAL = "feature_names_in_ path_ n_iter_"
_PATH = "feature_names_in_ gamma_ path_ n_iter_"
_FIT = f"{_PATH} prior_ l2_ leverage_"
_SPARSE = f"{_PATH} prior_ kernel_gamma_ n_support_ dense_dual_coef_ sparsity_path_"
_GRID = f"{_SPARSE} l2_ grid_ refined_ trials_"
_PROOF = "feature_names_in_ prior_ zero_one_loss_ lower_bound_ gap_ optimal_ reason_ trace_"

TYPES: dict[str, Entry] = {
    entry.cls.__name__: entry
    for entry in (
        Entry(bblr.BBLRClassifier, f"{_LINEAR} link_", _FIT),
        Entry(bblr.BBLRClassifierCV, f"{_LINEAR} link_", f"{_FIT} trials_"),
        Entry(dask.DaskBBLRClassifier, f"{_LINEAR} link_", _FIT),
        Entry(dask.DaskBBLRClassifierCV, f"{_LINEAR} link_", f"{_FIT} trials_"),
        Entry(bblr.KernelBBLRClassifier, _VECTORS, _SPARSE, _expansion),
        Entry(bblr.KernelBBLRClassifierCV, _VECTORS, _GRID, _expansion),
        Entry(bblr.GeneralizedLinearClassifier, f"{_LINEAR} loss_", _GENERAL),
        Entry(dask.DaskGeneralizedLinearClassifier, f"{_LINEAR} loss_", _GENERAL),
        Entry(bblr.SLAClassifier, _LINEAR, _PATH, _two),
        Entry(bblr.ZeroOneClassifier, f"{_LINEAR} link_", _PROOF, _two),
        Entry(JointModel, _JOINT, "", _joint),
        # Around any of these.
        Entry(bblr.RobustClassifier, _ROBUST, "feature_names_in_ label_quality_ kept_", _robust),
        # What a joint model takes by default.
        Entry(LogisticRegression, _LINEAR, "n_iter_", _two),
        # Plateaus check themselves.
        *map(Entry, (bblr.Plateaus, Step)),
        Entry(Link, sound=_sharp),
        Entry(KernelFunction, sound=_kernel),
        Entry(Calibration, sound=_finite),
        Entry(Evidence, sound=_rising),
        # Histories; some of their numbers are NaN.
        *map(Entry, (GridCell, Moment, Path, Stage, Trial)),
        # Losses, penalties and solvers, which are parameters.
        *(Entry(type(loss)) for loss in LOSSES.values()),
        *map(Entry, (Gaussian, GaussLaplace)),
        *map(Entry, (solvers.FisherScoring, solvers.GradientDescent, solvers.LBFGS)),
        *map(Entry, (solvers.RangeSearch, solvers.ZeroOneSearch)),
        # How features are made from a file.
        *(Entry(kind, sound=_sound) for kind in (NumberColumn, CategoryColumn, DateColumn)),
        *(Entry(kind, sound=_sound) for kind in (TextColumn, TextFeatures)),
        Entry(TableLayout, sound=_table),
        Entry(SvmlightLayout),
        Entry(Scaling, sound=_scaling),
        Entry(Typical, sound=_typical),
        Entry(SavedModel, sound=_file_model),
    )
}
