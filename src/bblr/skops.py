"""What skops must trust to load models of bblr; install with ``pip install "bblr[skops]"``.

>>> import skops.io
>>> from bblr import BBLRClassifier
>>> from bblr.skops import TRUSTED_TYPES
>>> model = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
>>> saved = skops.io.dumps(model)
>>> skops.io.loads(saved, trusted=TRUSTED_TYPES).predict([[0.5], [2.5]])
array([0, 1])
"""

from bblr._saved import TRUSTED_TYPES

__all__ = ["TRUSTED_TYPES"]
