"""Data: the embedded UCI tables, tables read from files, and groups for joint decisions."""

from bblr.datasets.entity_resolution import ENTITY_RESOLUTION_NAMES, fetch_entity_resolution
from bblr.datasets.files import read_table
from bblr.datasets.pages import make_pages
from bblr.datasets.uci import UCI_NAMES, load_uci

__all__ = [
    "ENTITY_RESOLUTION_NAMES",
    "UCI_NAMES",
    "fetch_entity_resolution",
    "load_uci",
    "make_pages",
    "read_table",
]
