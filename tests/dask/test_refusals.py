"""Data and clients that a fit on the cluster refuses, with the partition or the remedy."""

import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed

from bblr.dask import DaskBBLRClassifier, DaskBBLRClassifierCV
from tests.dask.parts import arrays, broken_at


def test_a_partition_that_cannot_be_read_is_named(client, few):
    X, y = arrays(*few, 50)
    X = broken_at(3, X, OSError("disk on fire"))
    with pytest.raises(RuntimeError, match=r"partition 3 .*cannot be read: OSError: disk on fire"):
        DaskBBLRClassifier(client=client).fit(X, y)


def with_value(X, row, value):
    X = X.copy()
    X[row] = value
    return X


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (with_value(X, 170, np.nan), y), "partition 3 .* X contains NaN"),
        (lambda X, y: (X, with_value(y.astype(float), 70, np.nan)), "partition 1 .* y contains"),
        (lambda X, y: (X, np.zeros(300)), "one class only"),
        (lambda X, y: (X, np.array(["a", 1] * 150, dtype=object)), "labels of one kind"),
        (lambda X, y: (X, np.fromiter(((k,) for k in y), object)), "legacy multi-label"),
        (lambda X, y: (X, X[:, 0]), "Unknown label type: continuous"),
        (lambda X, y: (X.astype(complex), y), "must hold real numbers"),
    ],
    ids=["X", "y", "one class", "mixed", "tuples", "regression", "complex"],
)
def test_bad_values_are_named_with_their_partition(client, few, change, message):
    X, y = change(*few)
    with pytest.raises(ValueError, match=message):
        DaskBBLRClassifier(client=client).fit(*arrays(X, y, 50))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.zeros(300), "every weight is zero"),
        (np.full(300, -1.0), "Negative values in sample_weight"),
        (np.full(300, np.inf), "sample_weight contains infinity"),
        (np.ones(299), "sample_weight .* 299"),
    ],
    ids=["zero", "negative", "infinite", "short"],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_bad_weights(client, few, weight, message, lazy):
    X, y = arrays(*few, 50)
    weight = da.from_array(weight, chunks=50) if lazy else weight
    with pytest.raises(ValueError, match=message):
        DaskBBLRClassifier(client=client).fit(X, y, weight)


def test_partitions_that_do_not_match(client, few):
    X, y = arrays(*few, 50)
    unknown = X[X[:, 0] > 0]
    with pytest.raises(ValueError, match="X has 6 partitions, y has 3"):
        DaskBBLRClassifier(client=client).fit(unknown, y.rechunk(100))
    with pytest.raises(ValueError, match=r"partition 0 .*X has .* rows, y has 50"):
        DaskBBLRClassifier(client=client).fit(unknown, y)
    with pytest.raises(ValueError, match="300 rows of X, got 250"):
        DaskBBLRClassifier(client=client).fit(X, y[:250])
    with pytest.raises(ValueError, match="X has 300 rows, y has 250"):
        DaskBBLRClassifier(client=client).fit(X, few[1][:250])


def test_columns_that_are_not_numbers(client, few):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(few[0][:, :2], columns=["a", "b"])
    frame["kind"] = pd.Categorical(["x", "y", "z"] * 100)
    with pytest.raises(ValueError, match=r"kind \(category\)\. Encode"):
        DaskBBLRClassifier(client=client).fit(dd.from_pandas(frame, npartitions=2), few[1])


@pytest.mark.parametrize(
    ("value", "words"), [(1e155, "root mean square"), (np.inf, "X contains infinity")]
)
def test_columns_out_of_range_are_refused_without_a_warning(client, few, value, words):
    # What a worker says of overflow is an error here: its thread has NumPy's settings of its own.
    X = few[0] * [1.0, 1.0, 1.0, 1e155]
    X[150, 0], X[151, 0] = value, -value
    with pytest.raises(ValueError, match=words):
        DaskBBLRClassifier(client=client).fit(*arrays(X, few[1], 100))


def test_data_in_memory_are_refused_with_the_remedy(client, few):
    with pytest.raises(TypeError, match=r"use bblr\.BBLRClassifierCV, or dask"):
        DaskBBLRClassifierCV(client=client).fit(*few)
    with pytest.raises(TypeError, match="X must be a Dask array of two dimensions"):
        DaskBBLRClassifier(client=client).fit(delayed(few[0]), few[1])
    with pytest.raises(ValueError, match="requires y"):
        DaskBBLRClassifier(client=client).fit(arrays(*few, 100)[0], None)


def test_clients_that_will_not_do(few, monkeypatch):
    with pytest.raises(RuntimeError, match="no Dask client"):
        DaskBBLRClassifier().fit(*arrays(*few, 100))
    with pytest.raises(TypeError, match=r"must be a distributed\.Client"):
        DaskBBLRClassifier(client="tcp://somewhere").fit(*arrays(*few, 100))


def test_an_asynchronous_client_is_refused(few):
    from distributed import Client
    from distributed.utils_test import gen_test

    @gen_test()
    async def attempt():
        async with Client(
            processes=False, asynchronous=True, dashboard_address=":0", set_as_default=False
        ) as client:
            with pytest.raises(TypeError, match="asynchronous"):
                DaskBBLRClassifier(client=client).fit(*arrays(*few, 100))

    attempt()


def test_a_fit_inside_a_task_is_refused(client, few):
    def inside():
        DaskBBLRClassifier().fit(*arrays(*few, 100))

    with pytest.raises(RuntimeError, match="inside a Dask task"):
        client.submit(inside, pure=False).result()
