"""Data: the embedded UCI tables, research data, and groups to decide jointly."""

from bblr.datasets.biographies import make_pages
from bblr.datasets.entity_resolution import ENTITY_RESOLUTION_NAMES, fetch_entity_resolution
from bblr.datasets.reviews import REVIEW_DOMAINS, fetch_reviews
from bblr.datasets.trec07p import fetch_trec07p
from bblr.datasets.uci import UCI_NAMES, load_uci
from bblr.datasets.uci_original import fetch_uci_original
from bblr.datasets.web8 import fetch_web8
from bblr.datasets.webspam import fetch_webspam

__all__ = [
    "ENTITY_RESOLUTION_NAMES",
    "REVIEW_DOMAINS",
    "UCI_NAMES",
    "fetch_entity_resolution",
    "fetch_reviews",
    "fetch_trec07p",
    "fetch_uci_original",
    "fetch_web8",
    "fetch_webspam",
    "load_uci",
    "make_pages",
]
