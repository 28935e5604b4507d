"""Simulated biography pages: faces in images, of which some show the person of the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state

from bblr._checks import check_choice, check_number
from bblr.datasets._registry import dataset
from bblr.datasets._remote import DATA_HOME, Home, place
from bblr.structured.groups import Group

__all__ = ["make_pages"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_FEATURE_NAMES = (
    "name in file name",
    "name in caption",
    "other names in caption",
    "info box",
    "relative size",
    "distance from centre",
    "place in page",
    "faces in image",
    "text nearby",
    "age of file",
)
_FEWEST, _MOST = 2, 7
_OLIVETTI = "faces/olivettifaces.mat"
# Drawn faces: directions of 40 people in 30 dimensions, and how far two pictures of one differ.
_PEOPLE, _PICTURES, _DIMENSIONS, _SPREAD = 40, 10, 30, 1.1
# How far outliers lie, in standard deviations of each feature.
_FAR = 10.0


@dataset()
def make_pages(
    n_pages: int = 500,
    *,
    faces: Literal["auto", "olivetti", "drawn"] = "auto",
    outliers: float = 0.0,
    flips: float = 0.0,
    data_home: Home = None,
    random_state: Any = None,
) -> Bunch:
    """Simulate biography pages in the shape of the paper's: 2 to 7 faces over several images.

    Nothing here was found on a page. What is real are the faces, where the Olivetti faces are
    available, and with them the similarities; people, images, text and layout are drawn as
    follows.

    *Page.* 2 to 7 faces, evenly, over at least two images. The first image stands in the info box
    and shows the person of the page with probability 0.9, each other image with probability 0.6,
    never twice. One companion, the same throughout a page, is among the other faces of an image
    with probability 0.5, so that not only the person of the page recurs; the rest are strangers.

    *Similarities* compare all faces of different images: the correlation of the pixels of two
    Olivetti faces (40 people, 10 pictures each), no picture twice on a page. The same people
    occur on many pages, as targets and as others; no feature tells who they are. Drawn faces are
    40 random directions with noise, compared by cosine.

    *Features* (ten, `feature_names`) speak weakly for the person: their name stands in the file
    name or the caption of an image more often when the image shows them, whoever of the faces
    they are; their face is larger and nearer to the centre. The last two are noise.

    *Outliers* are faces, in all pages, training and test alike, whose features are replaced by
    normal draws of ten times the usual standard deviation that say nothing about the face, as
    if text and sizes had been taken from elsewhere. This is noise made for a loss with
    plateaus, not a measurement of what pages are like.

    The strengths of the features were chosen so that the accuracies with outliers come out near
    those of the paper's table; what is compared is who gains how much.

    *Flips* swap labels of `groups`. `truth` has the right ones: train on the former, score
    against the latter.

    Parameters
    ----------
    n_pages : int, default=500
        Number of pages.
    faces : {"auto", "olivetti", "drawn"}, default="auto"
        Where similarities come from; Olivetti faces where their file is available when "auto".
    outliers : float, default=0.0
        Share of outlying faces.
    flips : float, default=0.0
        Share of wrong labels.
    data_home : path-like or None, default=None
        Folder with ``faces/olivettifaces.mat``; ``$BBLR_DATA_HOME`` when None, and a cache in the
        user's home where that is not set.
    random_state : int, RandomState or None, default=None
        Decides everything that is drawn.

    Returns
    -------
    Bunch
        `groups` (list of Group with labels, containers and similarities), `truth` (list of
        arrays), `outlying` (list of arrays, which faces are outliers), `feature_names`, `faces`
        ("olivetti" or "drawn") and `DESCR`.

    Examples
    --------
    >>> from bblr.datasets import make_pages
    >>> pages = make_pages(100, faces="drawn", random_state=0)
    >>> len(pages.groups), pages.groups[0].X.shape[1]
    (100, 10)
    >>> {len(page) for page in pages.groups} == set(range(2, 8))
    True
    """
    check_number("n_pages", n_pages, low=1, integer=True)
    check_number("outliers", outliers, low=0, high=1)
    check_number("flips", flips, low=0, high=1)
    check_choice("faces", faces, ("auto", "olivetti", "drawn"))
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    path = place(_OLIVETTI, data_home)
    if faces == "olivetti" and not path.is_file():
        raise FileNotFoundError(
            f"{_OLIVETTI} is not there; set {DATA_HOME} (or data_home) to the folder that holds "
            "it, or take faces='drawn'"
        )
    use = faces != "drawn" and path.is_file()
    pictures = _olivetti(path) if use else _drawn(rng)
    pages = [_page(rng) for _ in range(n_pages)]
    X = np.concatenate([_features(page, rng) for page in pages])
    labels = np.concatenate([page.labels for page in pages])
    outlying = _chosen(outliers, len(labels), rng)
    X[outlying] = _far_out(X, int(outlying.sum()), rng)
    spoilt = np.where(_chosen(flips, len(labels), rng), 1 - labels, labels)
    bounds = np.cumsum([len(page.labels) for page in pages])[:-1]
    groups = [
        Group(x, page.images, *_similarities(page, pictures, rng), y)
        for page, x, y in zip(pages, np.split(X, bounds), np.split(spoilt, bounds), strict=True)
    ]
    return Bunch(
        groups=groups,
        truth=np.split(labels, bounds),
        outlying=np.split(outlying, bounds),
        feature_names=list(_FEATURE_NAMES),
        faces="olivetti" if use else "drawn",
        DESCR=make_pages.__doc__,
    )


@dataclass(frozen=True, eq=False)
class _Page:
    """Who is where: the image, person and label of each face."""

    images: Integers
    people: Integers
    labels: Integers


def _olivetti(path: Path) -> Floats:
    """Return unit vectors of all faces, (people, pictures, pixels)."""
    from scipy.io import loadmat

    pixels = loadmat(path)["faces"].T.astype(np.float64)
    pixels -= pixels.mean(axis=0)
    return _unit(pixels).reshape(-1, _PICTURES, pixels.shape[1])


def _drawn(rng: np.random.Generator) -> Floats:
    people = _unit(rng.normal(size=(_PEOPLE, 1, _DIMENSIONS)))
    noise = rng.normal(size=(_PEOPLE, _PICTURES, _DIMENSIONS)) / np.sqrt(_DIMENSIONS)
    return _unit(people + _SPREAD * noise)


def _unit(vectors: Floats) -> Floats:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _page(rng: np.random.Generator) -> _Page:
    n = int(rng.integers(_FEWEST, _MOST + 1))
    n_images = int(rng.integers(2, n + 1))
    further = rng.integers(n_images, size=n - n_images)
    images = np.sort(np.concatenate([np.arange(n_images), further]))
    target, companion = rng.choice(_PEOPLE, size=2, replace=False)
    people, labels = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for image in range(n_images):
        inside = rng.permutation(np.flatnonzero(images == image))
        shown = rng.random() < (0.9 if image == 0 else 0.6)
        labels[inside[:1]] = shown
        strangers = rng.choice(np.setdiff1d(np.arange(_PEOPLE), [target, companion]), len(inside))
        people[inside] = strangers
        others = inside[int(shown) :]
        if len(others) and rng.random() < 0.5:
            people[others[0]] = companion
        if shown:
            people[inside[0]] = target
    return _Page(images, people, labels)


def _features(page: _Page, rng: np.random.Generator) -> Floats:
    n, y, images = len(page.labels), page.labels, page.images
    counts = np.bincount(images)
    shown = np.bincount(images, weights=y)[images] > 0
    in_file = rng.random(len(counts))[images] < np.where(shown, 0.5, 0.25)
    in_caption = rng.random(len(counts))[images] < np.where(shown, 0.55, 0.3)
    others = rng.poisson(0.7, size=len(counts))[images]
    return np.column_stack(
        [
            in_file,
            in_caption,
            others,
            images == 0,
            rng.normal(0.4 * y, 0.8),
            rng.normal(-0.3 * y, 1.0),
            images / len(counts),
            counts[images],
            rng.normal(size=n),
            rng.normal(size=n),
        ]
    ).astype(np.float64)


def _chosen(share: float, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    mask[rng.permutation(n)[: round(share * n)]] = True
    return mask


def _far_out(X: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Return rows far out in any direction."""
    middle, spread = X.mean(axis=0), X.std(axis=0)
    return middle + _FAR * spread * rng.normal(size=(n, X.shape[1]))


def _similarities(
    page: _Page, pictures: Floats, rng: np.random.Generator
) -> tuple[Integers, Floats]:
    """Compare faces of different images; no picture of a person is taken twice."""
    taken = np.empty(len(page.people), dtype=np.int64)
    for person in np.unique(page.people):
        own = page.people == person
        taken[own] = rng.permutation(_PICTURES)[: own.sum()]
    vectors = pictures[page.people, taken]
    first, second = np.triu_indices(len(taken), k=1)
    apart = page.images[first] != page.images[second]
    first, second = first[apart], second[apart]
    return np.column_stack([first, second]), np.einsum("ij,ij->i", vectors[first], vectors[second])
