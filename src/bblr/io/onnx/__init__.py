"""Classifiers as ONNX graphs; install with ``pip install "bblr[onnx]"``."""

from bblr.io.onnx.convert import register_converters, to_onnx

__all__ = ["register_converters", "to_onnx"]
