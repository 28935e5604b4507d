"""Tools to compare classifiers: noise protocols, McNemar's test, calibration."""

from bblr.evaluation.calibration import expected_calibration_error
from bblr.evaluation.mcnemar import McNemarResult, mcnemar, pooled_mcnemar
from bblr.evaluation.noise import NOISE_PROTOCOLS, add_noise

__all__ = [
    "NOISE_PROTOCOLS",
    "McNemarResult",
    "add_noise",
    "expected_calibration_error",
    "mcnemar",
    "pooled_mcnemar",
]
