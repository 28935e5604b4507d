"""Record linkage: the candidate matches of each record as a group."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from bblr.datasets._remote import RemoteFile, local_copy
from bblr.datasets._text import (
    amount,
    containment,
    grams,
    jaccard,
    log_ratio,
    numbers,
    words,
)
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
# Prices within five per cent of each other are one price.
_SAME_PRICE = 0.05
_TEXT = ("words shared", "words contained", "3-grams shared", "3-grams contained", "missing")


def fetch_entity_resolution(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
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
        Raise an error instead of downloading when False. A download needs pooch:
        ``pip install 'bblr[data]'``.

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
    if not isinstance(name, str) or name not in _FILES:
        choices = ", ".join(map(repr, _FILES))
        raise ValueError(f"name={name!r} is not known; choose one of {choices}")
    paths = [
        local_copy(file, data_home, download_if_missing=download_if_missing)
        for file in _FILES[name]
    ]
    matches: dict[str, dict[str, int]] = {}
    for path in paths:
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


_COMPARISONS: dict[str, tuple[Callable[[Entry, Entry], list[float]], tuple[Any, ...]]] = {
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
