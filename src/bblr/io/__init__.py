"""Tables in, models out: files read and encoded, models saved and loaded without pickle."""

from bblr.io.model import SavedModel
from bblr.io.store import ModelFileError, load_model, save_model
from bblr.io.tables.reading import read_table

__all__ = ["ModelFileError", "SavedModel", "load_model", "read_table", "save_model"]
