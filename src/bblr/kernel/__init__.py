"""Kernel classifiers, dense or with few support vectors."""

from bblr.kernel.kernel_classifier import KernelBBLRClassifier
from bblr.kernel.kernel_classifier_cv import KernelBBLRClassifierCV

__all__ = ["KernelBBLRClassifier", "KernelBBLRClassifierCV"]
