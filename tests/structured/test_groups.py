"""What a group takes, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp

from bblr.structured import Group
from bblr.structured.groups import join, stack_features, stack_labels

X = [[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]]


def test_arrays_lists_and_sparse_matrices_are_alike():
    given = Group(X, ["a", "b", "a"], [[2, 0]], [0.5], [True, False, False], ["u", "v", "w"])
    assert given.X.shape == (3, 2) and given.numbers.tolist() == [0, 1, 0]
    assert given.labels.tolist() == [1, 0, 0] and len(given) == 3
    assert given.with_labels([0, 0, 1]).labels.tolist() == [0, 0, 1]
    assert given.with_labels(None).labels is None
    assert Group(sp.coo_matrix(X)).X.format == "csr"


def test_empty_and_single_groups():
    assert len(Group([])) == 0 and len(Group(np.zeros((0, 5)))) == 0
    assert len(Group([[1.0]], labels=[1])) == 1


def test_an_unknown_similarity_is_allowed():
    assert np.isnan(Group(X, pairs=[[0, 1]], similarities=[np.nan]).similarities).all()


REFUSED = {
    "one row": (dict(X=[1.0, 2.0]), "X must hold a row"),
    "containers": (dict(X=X, containers=[1, 2]), "containers must hold one name for each of"),
    "nan container": (dict(X=X, containers=[1.0, np.nan, 2.0]), "containers must not be missing"),
    "candidates": (dict(X=X, candidates=["a"]), "candidates must hold one name"),
    "labels length": (dict(X=X, labels=[0, 1]), "labels must hold one label for each of the 3"),
    "labels values": (dict(X=X, labels=[0, 1, 2]), "labels must be 1 for a target"),
    "labels -1": (dict(X=X, labels=[-1, 1, 1]), "labels must be 1 for a target"),
    "labels text": (dict(X=X, labels=["a", "b", "a"]), "labels must be 1 for a target"),
    "labels nan": (dict(X=X, labels=[0, 1, np.nan]), "labels must be 1 for a target"),
    "no similarities": (dict(X=X, pairs=[[0, 1]]), "similarities is missing"),
    "no pairs": (dict(X=X, similarities=[0.5]), "pairs is missing"),
    "lengths": (dict(X=X, pairs=[[0, 1]], similarities=[1, 2]), "one number for each of the 1"),
    "itself": (dict(X=X, pairs=[[1, 1]], similarities=[1]), "compare row 1 with itself"),
    "range": (dict(X=X, pairs=[[0, 3]], similarities=[1]), "rows between 0 and 2, got 0 to 3"),
    "negative": (dict(X=X, pairs=[[-1, 0]], similarities=[1]), "rows between 0 and 2, got -1"),
    "twice": (
        dict(X=X, pairs=[[0, 1], [1, 2], [1, 0]], similarities=[1, 2, 3]),
        "rows 0 and 1 more than once",
    ),
    "infinite": (dict(X=X, pairs=[[0, 1]], similarities=[np.inf]), "must be finite, or NaN"),
    "fractions": (dict(X=X, pairs=[[0.5, 1]], similarities=[1]), "two row numbers"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Group(**arguments)


def test_join_keeps_groups_apart():
    one = Group(X, ["a", "b", "a"], [[0, 1]], [0.5])
    network = join([one, Group([]), Group([[1, 1]]), one])
    assert network.offsets.tolist() == [0, 3, 3, 4, 7]
    assert network.pairs.tolist() == [[0, 1], [4, 5]]
    own = network.containers
    assert own[0] == own[2] and own[4] == own[6] and len(set(own.tolist())) == 5
    assert network.group.tolist() == [0, 0, 0, 2, 3, 3, 3]
    assert [part.tolist() for part in network.split(np.arange(7))] == [
        [0, 1, 2],
        [],
        [3],
        [4, 5, 6],
    ]


def test_stacking_mixes_dense_and_sparse():
    stacked = stack_features([Group(X), Group([]), Group(sp.csr_matrix(X))])
    assert sp.issparse(stacked) and stacked.shape == (6, 2)
    with pytest.raises(ValueError, match="same number of features in every group"):
        stack_features([Group(X), Group([[1.0]])])
    with pytest.raises(ValueError, match="labels are missing in group 1"):
        stack_labels([Group([]), Group(X)])


def test_pairs_of_small_integer_types():
    pairs = np.array([[0, 1], [1, 57], [100, 150]], np.uint8)
    group = Group(np.zeros((200, 1)), pairs=pairs, similarities=[1, 1, 1])
    assert group.pairs.dtype == np.int64


@pytest.mark.parametrize("name", ["containers", "candidates"])
@pytest.mark.parametrize(
    "names", [["a", None], np.array([np.nan, 1.0]), np.array(["a", np.nan], object)]
)
def test_missing_names_are_refused(name, names):
    with pytest.raises(ValueError, match=f"{name} must not be missing"):
        Group([[1], [2]], **{name: names})


def test_names_of_several_kinds_stay_apart():
    names = np.array(["1", 1, 2.5, "1"], object)
    assert Group(np.zeros((4, 1)), containers=names).numbers.tolist() == [0, 1, 2, 0]
