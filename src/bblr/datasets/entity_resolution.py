"""Record linkage: the candidate matches of each record as a group."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import combinations
from math import log

import numpy as np
from sklearn.utils import Bunch

from bblr._checks import check_choice
from bblr.datasets._registry import dataset
from bblr.datasets._remote import Home, RemoteFile, local_copies
from bblr.structured.groups import Group

__all__ = ["ENTITY_RESOLUTION_NAMES", "fetch_entity_resolution"]

Entry = dict[str, str]

_HOME = "https://raw.githubusercontent.com/megagonlabs/ditto/master/data/er_magellan/Structured"
_SUMS = {
    "DBLP-ACM": {
        "train": "4f757d2d5dae4f7d7d118b796c683a232b4e11bf000e2012b64f8af95a981a4e",
        "valid": "b13444a2bf1a503ed558e782f42b247cf56e16e67be2e58d92d7435161299e2e",
        "test": "ded891e469b1d08e21269038c984dc761ae2fd5b142b00c46c30fce45adc6e68",
    },
    "Amazon-Google": {
        "train": "84ef5f7747296990a3775d2c8774949e720df643106b1b447682265f41929b26",
        "valid": "baa53c43706e979441aaf653698bb477294b6fa16328fd272fcdc56ca040c094",
        "test": "fb4a50692f296435d9ecd4b310acc1318ff7d6d1e13924f0b211d1f906dacbef",
    },
}
_FOLDERS = {"dblp-acm": "DBLP-ACM", "amazon-google": "Amazon-Google"}
ENTITY_RESOLUTION_NAMES = tuple(_FOLDERS)
"""The names `fetch_entity_resolution` knows."""

_FILES = {
    name: [
        RemoteFile(
            f"entity_resolution/{folder}/{part}.txt", f"{_HOME}/{folder}/{part}.txt", digest
        )
        for part, digest in _SUMS[folder].items()
    ]
    for name, folder in _FOLDERS.items()
}
_FIELD = re.compile(r"COL (\S+) VAL ?(.*?)(?=\s*COL \S+ VAL|\s*$)")
_WORD = re.compile(r"[a-z]+|\d+(?:\.\d+)*")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?")
_GRAM = 3
# Prices within five per cent of each other are one price.
_SAME_PRICE = 0.05
_TEXT = ("words shared", "words contained", "3-grams shared", "3-grams contained", "missing")


@dataset(*ENTITY_RESOLUTION_NAMES)
def fetch_entity_resolution(
    name: str,
    *,
    data_home: Home = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load the candidate pairs of two sources as groups, one for each record on the left.

    =============  =============================  ======  =======  ====================
    name           left, right                    groups  pairs    groups with 0, 1, 2+
    =============  =============================  ======  =======  ====================
    dblp-acm       articles in DBLP, in the ACM   2,436   12,103   221, 2,215, 0
    amazon-google  software at Amazon, at Google  1,288   10,959   291, 877, 120
    =============  =============================  ======  =======  ====================

    The pairs come in three files whose split is by pair, so that candidates of one record lie in
    all of them. Here all three are taken together and grouped by the record on the left: split by
    group. Records are known by their text alone. Those with the same text are one record, and a
    pair that occurs more than once is a match if any of its labels says so (of repeated pairs 20
    in dblp-acm and 18 in amazon-google contradict each other).

    Features compare the two records field by field: words and runs of three characters shared
    and contained, numbers in titles (versions, models), years and prices. Similarities compare
    the titles of all candidates of a group by their runs of three characters.

    Parameters
    ----------
    name : {"dblp-acm", "amazon-google"}
        Which sources.
    data_home : path-like or None, default=None
        Folder with ``entity_resolution/DBLP-ACM/train.txt`` and so on; ``$BBLR_DATA_HOME`` when
        None, and a cache in the user's home where that is not set. Missing files are downloaded
        to it.
    download_if_missing : bool, default=True
        Raise an error instead of downloading when False.

    Returns
    -------
    Bunch
        `groups` (list of Group with labels and `candidates`), `left` and `right` (lists of
        records, each a dict of its fields; a group stands where its record stands in `left`, and
        `candidates` are positions in `right`), `feature_names` and `DESCR`.

    Raises
    ------
    ValueError
        If there are no sources of that name.
    OSError
        If a file is missing and cannot be downloaded, or is not the file expected.

    References
    ----------
    H. Köpcke, A. Thor, E. Rahm (2010). Evaluation of entity resolution approaches on real-world
    match problems. In the form of Y. Li et al. (2020), Deep entity matching with pre-trained
    language models.

    Examples
    --------
    >>> from bblr.datasets import fetch_entity_resolution
    >>> found = fetch_entity_resolution("dblp-acm")  # doctest: +SKIP
    >>> len(found.groups), found.groups[0].X.shape  # doctest: +SKIP
    (2436, (9, 16))
    """
    check_choice("name", name, ENTITY_RESOLUTION_NAMES)
    matches: dict[str, dict[str, int]] = {}
    for path in local_copies(_FILES[name], data_home, download_if_missing):
        for line in path.read_text(encoding="utf-8").splitlines():
            left, right, label = (text.strip() for text in line.split("\t"))
            candidates = matches.setdefault(left, {})
            candidates[right] = max(candidates.get(right, 0), int(label))
    compare, feature_names = _COMPARISONS[name]
    texts = list(dict.fromkeys(text for found in matches.values() for text in found))
    place = {text: number for number, text in enumerate(texts)}
    sources = [[dict(_FIELD.findall(text)) for text in side] for side in (matches, texts)]
    groups = [
        _group(entry, [place[text] for text in found], sources[1], list(found.values()), compare)
        for entry, found in zip(sources[0], matches.values(), strict=True)
    ]
    return Bunch(
        groups=groups,
        left=sources[0],
        right=sources[1],
        feature_names=list(feature_names),
        DESCR=fetch_entity_resolution.__doc__,
    )


def _group(
    entry: Entry,
    candidates: list[int],
    right: list[Entry],
    labels: list[int],
    compare: Callable[[Entry, Entry], list[float]],
) -> Group:
    X = np.array([compare(entry, right[number]) for number in candidates])
    titles = [grams(right[number]["title"]) for number in candidates]
    pairs = np.array(list(combinations(range(len(candidates)), 2)), dtype=np.int64)
    similarities = [jaccard(titles[a], titles[b]) for a, b in pairs]
    return Group(X, None, pairs.reshape(-1, 2), similarities, labels, candidates)


@lru_cache(maxsize=100_000)
def words(text: str) -> frozenset[str]:
    """Return the words and numbers of a text, in lower case; ``v4`` is ``v`` and ``4``."""
    return frozenset(_trimmed(word) for word in _WORD.findall(text.lower()))


def _trimmed(word: str) -> str:
    # 7.0 and 7 are one version.
    return re.sub(r"(\.0)+$", "", word)


@lru_cache(maxsize=100_000)
def numbers(text: str) -> frozenset[str]:
    """Return the words of a text that are numbers: versions, years, model numbers."""
    return frozenset(word for word in words(text) if word[0].isdigit())


@lru_cache(maxsize=100_000)
def grams(text: str) -> frozenset[str]:
    """Return all runs of three characters, blanks at both ends included."""
    padded = f" {' '.join(_WORD.findall(text.lower()))} "
    return frozenset(padded[k : k + _GRAM] for k in range(len(padded) - _GRAM + 1))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Return what two sets share, of all they hold; 0 where both are empty."""
    return len(a & b) / len(a | b) if a or b else 0.0


def containment(a: frozenset[str], b: frozenset[str]) -> float:
    """Return what two sets share, of the smaller one; 0 where one is empty."""
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def amount(text: str) -> float | None:
    """Return the first number in a text; None where there is none."""
    found = _AMOUNT.search(text)
    return float(found.group()) if found else None


def log_ratio(a: float, b: float) -> float:
    """Return |log a/b|, with both raised to at least one."""
    return abs(log(max(a, 1.0) / max(b, 1.0)))


def _text(a: str, b: str) -> list[float]:
    return [
        jaccard(words(a), words(b)),
        containment(words(a), words(b)),
        jaccard(grams(a), grams(b)),
        containment(grams(a), grams(b)),
        float(not a or not b),
    ]


def _article(a: Entry, b: Entry) -> list[float]:
    years = amount(a["year"]), amount(b["year"])
    apart = abs(years[0] - years[1]) if years[0] is not None and years[1] is not None else 0.0
    return [
        *_text(a["title"], b["title"]),
        *_text(a["authors"], b["authors"]),
        *_text(a["venue"], b["venue"])[:-1],
        float(years[0] == years[1]),
        apart,
    ]


def _product(a: Entry, b: Entry) -> list[float]:
    versions = numbers(a["title"]), numbers(b["title"])
    maker = words(a["manufacturer"])
    prices = amount(a["price"]), amount(b["price"])
    known = prices[0] is not None and prices[1] is not None
    apart = log_ratio(prices[0] or 0.0, prices[1] or 0.0) if known else 0.0
    return [
        *_text(a["title"], b["title"]),
        jaccard(*versions),
        float(all(versions) and not versions[0] & versions[1]),
        float(bool(versions[0]) != bool(versions[1])),
        containment(maker, words(f"{b['title']} {b['manufacturer']}")),
        float(not maker),
        apart,
        float(not known),
        float(known and apart < _SAME_PRICE),
    ]


def _named(field: str, kinds: tuple[str, ...] = _TEXT) -> tuple[str, ...]:
    return tuple(f"{field}: {kind}" for kind in kinds)


_COMPARISONS: dict[str, tuple[Callable[[Entry, Entry], list[float]], tuple[str, ...]]] = {
    "dblp-acm": (
        _article,
        (
            *_named("title"),
            *_named("authors"),
            *_named("venue", _TEXT[:-1]),
            *_named("year", ("same", "years apart")),
        ),
    ),
    "amazon-google": (
        _product,
        (
            *_named("title"),
            *_named("numbers", ("shared", "all different", "on one side only")),
            *_named("manufacturer", ("contained", "missing")),
            *_named("price", ("log ratio", "missing", "same")),
        ),
    ),
}
