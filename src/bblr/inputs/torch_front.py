"""Torch tensors at the front door: checked and encoded where they are, results of their kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.utils.validation import _check_n_features, validate_data

from bblr._numeric.arrays import as_dense
from bblr._numeric.tensors import as_numpy, find_device, import_torch, is_tensor

Floats = NDArray[np.float64]

# Numbers of a block of similarities.
_BLOCK = 2**24


def uses_torch(estimator: Any, X: Any) -> bool:
    """Whether the estimator is to work on tensors: given some under dispatch, or a device."""
    if getattr(estimator, "device", None) is not None:
        return True
    return is_tensor(X) and bool(get_config()["array_api_dispatch"])


def device_of(estimator: Any, X: Any) -> Any:
    """Return where to compute: on the device asked for, or where the rows are."""
    name = getattr(estimator, "device", None)
    if name is not None:
        return find_device(name)
    if X.device.type not in ("cpu", "cuda"):
        raise ValueError(
            f"X is on {X.device}, but only the CPU and CUDA devices have the float64 that sums of "
            "many rows need; use X.cpu()."
        )
    return X.device


def refuse_sparse(X: Any) -> None:
    """Raise a TypeError for sparse rows, of scipy or of torch."""
    if issparse(X) or (is_tensor(X) and X.layout != import_torch().strided):
        raise TypeError(
            "X is sparse, and device needs dense rows; use device=None, which takes sparse "
            "matrices, or X.toarray()."
        )


def check_tensor(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return a tensor of rows as floats, or raise what scikit-learn raises of an array."""
    torch = import_torch()
    refuse_sparse(X)
    name = type(estimator).__name__
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D tensor of shape {tuple(X.shape)} instead. Reshape "
            "it to one row a sample."
        )
    for axis, what in enumerate(("sample", "feature")):
        if X.shape[axis] == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={tuple(X.shape)}) while a minimum of 1 is "
                f"required by {name}."
            )
    if X.is_complex():
        raise ValueError("Complex data not supported: X is a complex tensor.")
    if X.dtype not in (torch.float32, torch.float64):
        X = X.double()
    X = X.detach()
    # One infinite or undefined entry makes the sum so; only then it pays to look at each.
    if not torch.isfinite(X.sum()) and not torch.isfinite(X).all():
        what = "NaN" if torch.isnan(X).any() else "infinity"
        raise ValueError(f"Input X contains {what}.\n{name} takes finite numbers only.")
    _check_n_features(estimator, X, reset=reset)
    if reset:
        vars(estimator).pop("feature_names_in_", None)
    return X


def encode_tensor(y: Any, present: Any) -> tuple[Any, Any]:
    """Return the classes of the rows that count, and the class number of every row."""
    torch = import_torch()
    if y.is_floating_point():
        if not torch.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity.")
        if bool((y != y.round()).any()):
            raise ValueError(
                "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
                "expects discrete classes, on a regression target with continuous values."
            )
    # Not every type of whole numbers can be sorted and searched for; long ones can.
    own = (y if y.is_floating_point() else y.long()).contiguous()
    known = own[present.to(y.device)].unique()
    return known.to(y.dtype), torch.searchsorted(known, own).clamp(max=len(known) - 1)


def check_labels(y: Any) -> None:
    """Raise a ValueError unless a tensor has the shape and type of labels."""
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got a tensor of shape {tuple(y.shape)}.")
    if y.is_complex():
        raise ValueError("y must hold classes, got a complex tensor.")


def like(array: NDArray[Any], X: Any) -> Any:
    """Return an array as it is, or as a tensor beside X where X is one."""
    if not is_tensor(X) or array.dtype.kind not in "biuf":
        return array
    return import_torch().as_tensor(array, device=X.device)


def chosen_classes(classes: Any, index: Any) -> Any:
    """Return the classes of these numbers, as tensors where the numbers are and classes can be."""
    if not is_tensor(index):
        return as_numpy(classes)[index]
    beside = like(as_numpy(classes), index)
    return beside[index] if is_tensor(beside) else beside[as_numpy(index)]


def device_decision(model: Any, X: Any) -> Any:
    """Return the scores of a kernel expansion, a column each, worked out on the device."""
    torch = import_torch()
    from bblr.designs.torch.placing import as_tensor
    from bblr.designs.torch.tensor_kernel import device_kernel

    device = device_of(model, X)
    if is_tensor(X):
        rows = check_tensor(model, X, reset=False)
    else:
        refuse_sparse(X)
        rows = as_tensor(validate_data(model, X, dtype=[np.float64, np.float32], reset=False))
    vectors, weights, intercept = (
        torch.as_tensor(as_numpy(part), device=device).double()
        for part in (_dense(model.support_vectors_), model.dual_coef_, model.intercept_)
    )
    # Distances do not change with the origin, but those far from it lose their digits.
    far = model._function.name == "rbf" and len(vectors) > 0
    origin = vectors.mean(dim=0) if far else torch.zeros(rows.shape[1], device=device)
    step = max(1, _BLOCK // max(1, len(vectors)))
    out = []
    for s in range(0, len(rows), step):
        some = rows[s : s + step].to(device).double() - origin
        values = device_kernel(model._function, some, vectors - origin)
        out.append(values @ weights.T + intercept)
    found = torch.cat(out)
    return found.to(X.device) if is_tensor(X) else as_numpy(found)


def _dense(vectors: Any) -> Any:
    return vectors if is_tensor(vectors) else as_dense(vectors)


def tensor_design(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return new rows as a design on the device, and what turns its vectors into results."""
    from bblr.designs.torch.placing import as_tensor
    from bblr.designs.torch.tensor_design import TorchDesign

    device = device_of(estimator, X)
    if is_tensor(X):
        X = check_tensor(estimator, X, reset=False)
        return TorchDesign(X, device), lambda vector: vector.to(X.device)
    refuse_sparse(X)
    X = validate_data(estimator, X, dtype=[np.float64, np.float32], reset=False)
    return TorchDesign(as_tensor(X), device), as_numpy
