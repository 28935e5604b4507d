"""Torch tensors: validated and encoded where they are, with results in kind.

Small tables are fitted on the CPU, wherever they are.

With ``device`` set, other rows in memory are sent there, and results come back as arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.utils import check_array
from sklearn.utils.validation import (
    _check_n_features,
    assert_all_finite,
    check_consistent_length,
    column_or_1d,
)

from bblr._numeric.arrays import as_dense, plain_labels
from bblr._numeric.tensors import as_numpy, find_device, import_torch, is_tensor, local
from bblr.designs import Design, make_design
from bblr.designs.gram.expansion_design import Expansion
from bblr.designs.gram.kernel_function import Gram, KernelFunction
from bblr.designs.scaled import is_small_table
from bblr.inputs.adapter import Training, finite_scores
from bblr.inputs.frames import FrameAdapter
from bblr.inputs.in_memory import ArrayAdapter
from bblr.inputs.labels import Labels, encode, found_classes, naming_labels, row_weights

# Numbers of a block of similarities.
_BLOCK = 2**24


class DeviceAdapter(ArrayAdapter):
    """Arrays and frames of an estimator whose ``device`` is set."""

    @staticmethod
    def recognises(estimator: Any, X: Any) -> bool:
        """Whether the estimator has a ``device``, whatever the rows are."""
        return getattr(estimator, "device", None) is not None and not is_tensor(X)

    def __init__(self, estimator: Any, X: Any) -> None:
        super().__init__(estimator, X)
        self.device = self._place()

    def _place(self) -> Any:
        return find_device(self.estimator.device)

    def training(self, y: Any, sample_weight: Any, *, streamed: bool = False) -> Training:
        """Check rows, labels and weights, and send them to the device."""
        return super().training(local(y), local(sample_weight))

    def matrix_training(self, y: Any, sample_weight: Any, sparse: Any) -> Training:
        """Do the same for estimators that index rows, which stay in memory."""
        return super().matrix_training(local(y), local(sample_weight), sparse)

    def kernel_scores(self, expansion: Expansion) -> Any:
        """Return the scores of a kernel expansion, on the device if the kernel is known there."""
        name = expansion.function.name
        if callable(name) or name == "precomputed":
            return super().kernel_scores(expansion)
        from bblr.designs.torch.placing import as_tensor

        found = _device_scores(expansion, as_tensor(self._known()), self.device)
        return finite_scores(self.in_kind(found))

    def in_kind(self, values: Any) -> Any:
        """Return results as arrays."""
        return local(values)

    def gram(self, function: KernelFunction, X: Any) -> Gram:
        """Return the kernel of all training rows with each other, on the device."""
        from bblr.designs.torch.tensor_kernel import DeviceGram

        return DeviceGram(function, X, self.device)

    def read(self, *y: Any, sparse: Any = False, reset: bool = True) -> Any:
        """Return rows as scikit-learn checks them, and labels if there are any."""
        refuse_sparse(self.X)
        named = FrameAdapter.recognises(self.estimator, self.X)
        kind = FrameAdapter if named else ArrayAdapter
        return kind(self.estimator, local(self.X)).read(*y, sparse=False, reset=reset)

    def _design(self, X: Any) -> Design:
        # Starting the kernels of a pass takes a GPU longer than a small fit takes a core.
        return make_design(local(X)) if is_small_table(*X.shape) else self._on_device(X)

    def _on_device(self, X: Any) -> Design:
        from bblr.designs.torch.placing import as_tensor
        from bblr.designs.torch.tensor_design import TorchDesign

        return TorchDesign(as_tensor(X), self.device)


class ReadTensorAdapter(ArrayAdapter):
    """Tensors without dispatch or ``device``, which NumPy reads; results are arrays."""

    @staticmethod
    def recognises(estimator: Any, X: Any) -> bool:
        """Whether X is a tensor that need not stay one."""
        return is_tensor(X) and not TensorAdapter.recognises(estimator, X)

    def read(self, *y: Any, sparse: Any = False, reset: bool = True) -> Any:
        """Return rows as scikit-learn checks them, and labels if there are any."""
        if str(self.X.layout) != "torch.strided":
            raise TypeError(
                "X is a sparse tensor, which NumPy cannot read; use X.to_dense(), or a sparse "
                "matrix of scipy."
            )
        # NumPy cannot read tensors that require a gradient.
        return ArrayAdapter(self.estimator, self.X.detach()).read(*y, reset=reset)


class TensorAdapter(DeviceAdapter):
    """Tensors, under scikit-learn's array-API dispatch or with ``device`` set."""

    @staticmethod
    def recognises(estimator: Any, X: Any) -> bool:
        """Whether X is a tensor that is to stay one."""
        sent = getattr(estimator, "device", None) is not None
        return is_tensor(X) and (sent or bool(get_config()["array_api_dispatch"]))

    def _place(self) -> Any:
        """Return the device asked for, or where the rows are."""
        if getattr(self.estimator, "device", None) is not None:
            return super()._place()
        if self.X.device.type not in ("cpu", "cuda"):
            raise ValueError(
                f"X is on {self.X.device}, but only the CPU and CUDA devices have the float64 "
                "that sums of many rows need; use X.cpu()."
            )
        return self.X.device

    def training(self, y: Any, sample_weight: Any, *, streamed: bool = False) -> Training:
        """Check rows, labels and weights, and encode them; tensors never leave their device."""
        X = self._checked(reset=True)
        if y is None:
            name = type(self.estimator).__name__
            raise ValueError(f"{name} requires y to be passed, but y is None.")
        if is_tensor(y):
            _check_labels(y)
        check_consistent_length(X, y)
        design = self._design(X)
        known = y if design.is_remote else local(y)
        done = encode(self.estimator, _TensorLabels(design, known, sample_weight))
        return self._classes_like(y, Training(self, X, design, *done))

    def rows(self) -> Design:
        """Return rows to be scored, where they are."""
        return self._on_device(self._known())

    def matrix_training(self, y: Any, sample_weight: Any, sparse: Any) -> Training:
        """Do the same for estimators that index rows; classes have the type of the labels."""
        return self._classes_like(y, super().matrix_training(y, sample_weight, sparse))

    def _classes_like(self, y: Any, done: Training) -> Training:
        if not is_tensor(y):
            return done
        return done._replace(classes=_beside(done.classes, y).to(y.dtype))

    def in_kind(self, values: Any) -> Any:
        """Return results as tensors on the device of the rows, if they are numbers."""
        return _beside(values, self.X)

    def chosen(self, classes: Any, index: Any) -> Any:
        """Return the classes of these numbers, as tensors if classes can be."""
        beside = self.in_kind(as_numpy(classes))
        return beside[index if is_tensor(beside) else as_numpy(index)]

    def _known(self) -> Any:
        return self._checked(reset=False)

    def _checked(self, *, reset: bool) -> Any:
        """Return the rows as floats, or raise what scikit-learn raises of an array."""
        torch = import_torch()
        X = self.X
        refuse_sparse(X)
        # An array of that shape that takes no memory: scikit-learn words the errors.
        shaped = np.broadcast_to(
            np.zeros((), complex if X.is_complex() else float), tuple(X.shape)
        )
        check_array(shaped, estimator=self.estimator, ensure_all_finite=False)
        if X.dtype not in (torch.float32, torch.float64):
            X = X.double()
        X = X.detach()
        # One entry that is not finite makes the sum so; only then is each one checked.
        if not torch.isfinite(X.sum()) and not torch.isfinite(X).all():
            what = "NaN" if torch.isnan(X).any() else "infinity"
            name = type(self.estimator).__name__
            raise ValueError(f"Input X contains {what}.\n{name} takes finite numbers only.")
        _check_n_features(self.estimator, X, reset=reset)
        if reset:
            vars(self.estimator).pop("feature_names_in_", None)
        return X


def refuse_sparse(X: Any) -> None:
    """Raise a TypeError for sparse rows, of scipy or of torch."""
    if issparse(X) or (is_tensor(X) and X.layout != import_torch().strided):
        raise TypeError(
            "X is sparse, and device needs dense rows; use device=None, which takes sparse "
            "matrices, or X.toarray()."
        )


class _TensorLabels(Labels):
    """Labels and weights on the device of the rows; the labels may be an array."""

    def __init__(self, design: Design, y: Any, sample_weight: Any) -> None:
        self.y, self.rows, self.plain = y, design.rows, sample_weight is None
        empty = np.empty((design.n_rows, 0))
        self.weight = (
            self.rows.ones(empty)
            if sample_weight is None
            else self.rows.vector(row_weights(local(sample_weight), empty))
        )
        if is_tensor(y):
            # Not every type of whole numbers can be sorted and searched for; long ones can.
            self._own = (y if y.is_floating_point() else y.long()).contiguous()
        else:
            self.y = column_or_1d(plain_labels(y), warn=True)
            with naming_labels():
                assert_all_finite(self.y, input_name="y")

    def classes(self) -> NDArray[Any]:
        """Return the sorted labels of the rows of positive weight."""
        present = self.weight > 0
        if not is_tensor(self.y):
            return found_classes(self.y, self.rows.local(present))
        return as_numpy(self._own[present.to(self.y.device)].unique())

    def numbers(self, classes: NDArray[Any]) -> Any:
        """Return the class number of each label."""
        if not is_tensor(self.y):
            return super().numbers(classes)
        known = _beside(classes, self.y)
        return import_torch().searchsorted(known, self._own).clamp(max=len(known) - 1)


def _check_labels(y: Any) -> None:
    """Raise a ValueError unless a tensor has the shape and type of labels."""
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got a tensor of shape {tuple(y.shape)}.")
    if y.is_complex():
        raise ValueError("y must hold classes, got a complex tensor.")
    if y.is_floating_point():
        if not y.isfinite().all():
            raise ValueError("Input y contains NaN or infinity.")
        if bool((y != y.round()).any()):
            raise ValueError(
                "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
                "expects discrete classes, on a regression target with continuous values."
            )


def _beside(values: Any, tensor: Any) -> Any:
    """Return numbers as a tensor on the device of another one; anything else as it is."""
    if not is_tensor(values) and (issparse(values) or values.dtype.kind not in "biuf"):
        return values
    return import_torch().as_tensor(values, device=tensor.device)


def _device_scores(expansion: Expansion, rows: Any, device: Any) -> Any:
    torch = import_torch()
    from bblr.designs.torch.tensor_kernel import device_kernel

    vectors, weights, intercept = (
        torch.as_tensor(part, device=device).double()
        for part in (as_dense(expansion.vectors), expansion.weights, expansion.intercept)
    )
    # Distances do not change with the origin, but those far from it lose their digits.
    far = expansion.function.name == "rbf" and len(vectors) > 0
    origin = vectors.mean(dim=0) if far else torch.zeros(rows.shape[1], device=device)
    step = max(1, _BLOCK // max(1, len(vectors)))
    out = []
    for s in range(0, len(rows), step):
        some = rows[s : s + step].to(device).double() - origin
        values = device_kernel(expansion.function, some, vectors - origin)
        out.append(values @ weights + intercept)
    return torch.cat(out)
