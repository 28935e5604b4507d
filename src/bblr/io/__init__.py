"""Classifiers fitted to files, saved, and applied to new files block by block."""

from bblr.io.model import SavedModel
from bblr.io.store import ModelFileError, load_model, save_model

__all__ = ["ModelFileError", "SavedModel", "load_model", "save_model"]
