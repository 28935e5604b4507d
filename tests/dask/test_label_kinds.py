"""Labels of pandas' own types on a cluster: of the kind they have here."""

import dask.array as da
import pandas as pd
import pytest

from bblr import BBLRClassifier
from bblr.dask import DaskBBLRClassifier
from tests.inputs.test_labels import PLAIN, TEXTS, X, same_classes

dd = pytest.importorskip("dask.dataframe")


@pytest.mark.parametrize("kind", ["Int64", "boolean", "string"])
def test_labels_on_a_cluster_are_those_here(client, kind):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": pd.Series(PLAIN[kind]).astype(kind)})
    parts = dd.from_pandas(frame, npartitions=3)
    here = BBLRClassifier().fit(frame[["a", "b"]], frame["y"])
    there = DaskBBLRClassifier(client=client).fit(parts[["a", "b"]], parts["y"])
    same_classes(there, PLAIN[kind])
    with client.as_current():
        assert there.score(parts[["a", "b"]], parts["y"]) == here.score(frame[["a", "b"]], frame.y)
    rows = da.from_array(X, chunks=(20, -1))
    same_classes(DaskBBLRClassifier(client=client).fit(rows, frame["y"]), PLAIN[kind])


@pytest.mark.parametrize("kind", ["Int64", "string", "object"])
def test_missing_labels_on_a_cluster_are_named(client, kind):
    y = pd.Series(PLAIN.get(kind, TEXTS)).astype(kind)
    y[37] = pd.NA
    parts = dd.from_pandas(pd.DataFrame({"a": X[:, 0], "y": y}), npartitions=3)
    with pytest.raises(ValueError, match=r"partition 1 .*y contains NaN"):
        DaskBBLRClassifier(client=client).fit(parts[["a"]], parts["y"])
