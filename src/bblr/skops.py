"""What skops must trust to load models of bblr; install with ``pip install "bblr[skops]"``.

>>> import skops.io
>>> from bblr import BBLRClassifier
>>> from bblr.skops import TRUSTED_TYPES
>>> model = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
>>> saved = skops.io.dumps(model)
>>> skops.io.loads(saved, trusted=TRUSTED_TYPES).predict([[0.5], [2.5]])
array([0, 1])
"""

from bblr.io.registry import TYPES

__all__ = ["TRUSTED_TYPES"]

# Every class that a fitted estimator may hold, and no other; bblr.io has those of files besides.
TRUSTED_TYPES: tuple[str, ...] = (
    *sorted(
        f"{entry.cls.__module__}.{entry.cls.__qualname__}"
        for entry in TYPES.values()
        if entry.cls.__module__.startswith("bblr.")
        and not entry.cls.__module__.startswith(("bblr.io.", "bblr.datasets."))
    ),
    # Support vectors of sparse rows.
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
)
