"""Data and methods of the reproduction by name, those of the user's own files included."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bblr._settings import SettingError
from bblr.comparison.methods import METHODS, Method
from bblr.comparison.sources import Table, load_table, make_table
from bblr.datasets._remote import place
from research.paper.trainers import TRAINERS

__all__ = ["DATA", "Library", "Source", "own"]

_TEST_SHARE = 0.2
_SPLIT_SEED = 0
# Tables a process keeps: those of one exhibit at most.
_KEPT = 8


@dataclass(frozen=True)
class Source:
    """A data set by name.

    Parameters
    ----------
    name, title : str
        What records hold and what tables show.
    load : callable
        ``load(download=...)`` returns a Table, or Groups, or raises OSError where its files are
        missing.
    """

    name: str
    title: str
    load: Callable[..., Any]


def own(name: str, title: str, X: Any, y: Any, test: Any = None) -> Source:
    """Make a source of arrays, for files of the user.

    Parameters
    ----------
    name, title : str
        What records hold and what tables show.
    X : {array-like, sparse matrix} of shape (n_rows, n_features)
        Features.
    y : array-like of shape (n_rows,)
        Two classes.
    test : array-like of int or None
        Rows set apart to test on, for tables with a given split.
    """

    def load(download: bool = False) -> Table:
        from sklearn.utils import check_X_y

        checked, labels = check_X_y(X, y, accept_sparse="csr")
        return _table(name, checked, labels, _test_rows(test, len(labels)))

    return Source(name, title, load)


def _test_rows(test: Any, n: int) -> Any:
    if test is None:
        return None
    rows = np.asarray(list(test))
    whole = rows.dtype.kind in "iu" and rows.ndim == 1 and len(np.unique(rows)) == len(rows)
    if not whole or not 0 < len(rows) < n or rows.min() < 0 or rows.max() >= n:
        raise ValueError(f"test must hold numbers of some of the {n} rows, each once, from 0")
    return rows


def _table(name: str, X: Any, y: Any, test: Any = None) -> Table:
    table = make_table(name, X, y)
    if len(table.classes) != 2:
        raise ValueError(f"y has {len(table.classes)} classes; two are needed")
    rows = None if test is None else np.asarray(test, dtype=np.int64)
    return Table(name, table.X, table.y, table.classes, rows)


def _embedded(name: str, download: bool = False) -> Table:
    return load_table(name)


def _with_number(download: bool = False) -> Table:
    from bblr.datasets import fetch_uci_original

    X, y = fetch_uci_original(
        "breast", with_id=True, download_if_missing=download, return_X_y=True
    )
    return _table("breast-id", X, y)


def _joined(name: str, train: tuple[Any, Any], test: tuple[Any, Any]) -> Table:
    """Put a training and a test part into one table that remembers which is which."""
    import scipy.sparse as sp

    X = sp.vstack([train[0], test[0]], format="csr")
    y = np.concatenate([train[1], test[1]])
    return _table(name, X, y, np.arange(len(train[1]), len(y)))


def _web8(name: str, leak_free: bool, download: bool = False) -> Table:
    from bblr.datasets import fetch_web8

    fetch = partial(fetch_web8, download_if_missing=download, return_X_y=True)
    return _joined(name, fetch(leak_free=leak_free), fetch(subset="test"))


def _random_fifth(y: Any) -> Any:
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(y))
    return np.sort(train_test_split(rows, test_size=_TEST_SHARE, random_state=_SPLIT_SEED)[1])


def _webspam(download: bool = False) -> Table:
    from bblr.datasets import fetch_webspam

    X, y = fetch_webspam(download_if_missing=download, return_X_y=True)
    return _table("webspam", X, y, _random_fifth(y))


def _trec07p(name: str, in_order: bool, download: bool = False) -> Table:
    from bblr.datasets import fetch_trec07p

    X, y = fetch_trec07p(return_X_y=True)
    last = np.arange(len(y) - int(np.ceil(_TEST_SHARE * len(y))), len(y))
    return _table(name, X, y, last if in_order else _random_fifth(y))


def _reviews(domain: str, download: bool = False) -> Table:
    from bblr.datasets import fetch_reviews

    X, y = fetch_reviews(domain, download_if_missing=download, return_X_y=True)
    return _table(domain, X, y)


_SOURCES = (
    *(Source(name, name.capitalize(), partial(_embedded, name))
      for name in ("breast", "heart", "liver", "pima")),
    Source("breast-id", "Breast with patient number", _with_number),
    Source("web8", "web8, official split", partial(_web8, "web8", False)),
    Source("web8-leak-free", "web8, leak-free", partial(_web8, "web8-leak-free", True)),
    Source("webspam", "webspam-unigram", _webspam),
    Source("trec07p-random", "TREC07p, random fifth", partial(_trec07p, "trec07p-random", False)),
    Source(
        "trec07p-delivery",
        "TREC07p, delivery order",
        partial(_trec07p, "trec07p-delivery", True),
    ),
    Source("books", "Books", partial(_reviews, "books")),
    Source("dvd", "DVDs", partial(_reviews, "dvd")),
    Source("electronics", "Electronics", partial(_reviews, "electronics")),
    Source("kitchen", "Kitchen", partial(_reviews, "kitchen")),
)  # fmt: skip
DATA: dict[str, Source] = {source.name: source for source in _SOURCES}


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups to decide jointly, of which only a hash of the contents is needed here."""

    source: Any
    fingerprint: str


def _groups(name: str, download: bool = False) -> Groups:
    from research.studies.structured import load_source

    source = load_source(name, 0, download=download)
    digest = hashlib.sha256()
    for group in source.groups:
        for part in (group.X, group.similarities, group.labels):
            digest.update(np.ascontiguousarray(part).tobytes())
    return Groups(source, digest.hexdigest()[:16])


GROUPS: dict[str, Source] = {
    name: Source(name, title, partial(_groups, name))
    for name, title in (
        ("pages", "Pages (simulated)"),
        ("amazon-google", "Amazon-Google"),
        ("dblp-acm", "DBLP-ACM"),
    )
}


# What a file of the user may define.
_LISTS: tuple[tuple[str, type[Any]], ...] = (("METHODS", Method), ("DATA", Source))


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    except OSError:
        return ""


@cache
def _module(path: str, digest: str) -> ModuleType:
    """Run a file of the user, once a process, with its folder on the path for imports."""
    if _digest(path) != digest:
        raise SettingError("with", f"{path!r} changed during the run; run the same command again")
    name = f"bblr_added_{digest}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SettingError("with", f"{path!r} is not a Python file; name one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(Path(path).parent) not in sys.path:
        sys.path.append(str(Path(path).parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        message = " ".join(str(error).split())
        raise SettingError(
            "with", f"{path!r} cannot be run: {type(error).__name__}: {message}"
        ) from error
    return module


def _added(path: str, digest: str, name: str, kind: type[Any]) -> list[Any]:
    found = getattr(_module(path, digest), name, [])
    if not isinstance(found, list | tuple):
        raise SettingError("with", f"{path!r}: {name} must be a list, got {type(found).__name__}")
    for item in found:
        if not isinstance(item, kind):
            raise SettingError(
                "with",
                f"{path!r}: {name} must list {kind.__name__} objects, got {type(item).__name__}",
            )
        words = (item.name, item.title) if isinstance(item, Source) else (item.name, item.label)
        if not all(isinstance(word, str) and word for word in words):
            raise SettingError("with", f"{path!r}: names and what tables show must be words")
    return list(found)


@lru_cache(maxsize=_KEPT)
def _load(library: Library, name: str, home: Path) -> Any:
    # The folder of the data is a key alone: another may hold other files, or none.
    return library.sources[name].load(download=False)


@dataclass(frozen=True)
class Library:
    """Where tasks look up data and methods.

    Parameters
    ----------
    files : tuple of str
        Python files of the user; each may define ``METHODS``, a list of Method, and ``DATA``, a
        list of Source.
    """

    files: tuple[str, ...] = ()
    digests: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Take the files as they are now: a worker that finds another one refuses it."""
        object.__setattr__(self, "digests", tuple(map(_digest, self.files)))

    @property
    def added_methods(self) -> dict[str, Method]:
        """The methods of the user's files."""
        return {method.name: method for method in self._all("METHODS", Method)}

    @property
    def added_sources(self) -> dict[str, Source]:
        """The data sets of the user's files."""
        return {source.name: source for source in self._all("DATA", Source)}

    def _all(self, name: str, kind: type[Any]) -> list[Any]:
        pairs = zip(self.files, self.digests, strict=True)
        return [item for path, digest in pairs for item in _added(path, digest, name, kind)]

    @property
    def sources(self) -> Mapping[str, Source]:
        """All data sets by name."""
        return {**DATA, **GROUPS, **self.added_sources}

    def method(self, name: str) -> Method:
        """Look a method up."""
        return {**METHODS, **TRAINERS, **self.added_methods}[name]

    def title(self, data: str) -> str:
        """Say what tables show for a data set."""
        return self.sources[data].title

    def table(self, data: str, *, download: bool = False) -> Any:
        """Load a data set; the last few are kept."""
        if download:
            self.sources[data].load(download=True)
        return _load(self, data, place(""))

    def digest(self, method: str) -> str:
        """Return a hash of the user's file that a method comes from; empty for one of ours."""
        for path, digest in zip(self.files, self.digests, strict=True):
            if any(added.name == method for added in _added(path, digest, "METHODS", Method)):
                return digest
        return ""

    def check(self) -> None:
        """Refuse files that cannot be used.

        Raises
        ------
        SettingError
            If a file is missing, fails, defines neither list, or takes a name, a label or a title
            that is in use.
        """
        ours = [*METHODS.values(), *TRAINERS.values()]
        known = [*DATA.values(), *GROUPS.values()]
        titles = {*(s.title for s in known), "Total"}
        # Figures are found by these words, so none may stand for two things.
        taken: dict[type[Any], dict[str, set[str]]] = {
            Method: {"name": {m.name for m in ours}, "label": {m.label for m in ours}},
            Source: {
                "name": {s.name for s in known},
                "title": titles,
            },
        }
        for path, digest in zip(self.files, self.digests, strict=True):
            if not Path(path).is_file():
                raise SettingError("with", f"{path!r} is no file; check the path")
            added = [item for name, kind in _LISTS for item in _added(path, digest, name, kind)]
            if not added:
                raise SettingError("with", f"{path!r} defines neither METHODS nor DATA")
            for item in added:
                for kind, words in taken[type(item)].items():
                    word = getattr(item, kind)
                    if word in words:
                        raise SettingError(
                            "with", f"{path!r}: the {kind} {word!r} is taken; choose another"
                        )
                    words.add(word)
