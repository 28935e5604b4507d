"""Data: the embedded UCI tables, and tables read from files."""

from bblr.datasets.files import read_table
from bblr.datasets.pages import make_pages
from bblr.datasets.uci import UCI_NAMES, load_uci

__all__ = ["UCI_NAMES", "load_uci", "make_pages", "read_table"]
