"""A fit on a cluster is the fit on one machine, whatever the partitioning."""

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import dask
from bblr import BBLRClassifier, BBLRClassifierCV, Plateaus
from bblr.dask import DaskBBLRClassifier, DaskBBLRClassifierCV
from bblr.designs.dask import actors, vectors

SAME = {"rtol": 1e-8, "atol": 0.0}


def cut(X, y, n_parts, *, empty=False):
    """X and y as Dask arrays of some partitions, an empty one in the middle if asked for."""
    sizes = [len(part) for part in np.array_split(np.arange(len(y)), n_parts)]
    if empty:
        sizes.insert(n_parts // 2, 0)
    chunks = tuple(sizes)
    return da.from_array(X, chunks=(chunks, (X.shape[1],))), da.from_array(y, chunks=(chunks,))


def sparse_chunks(X, y, n_parts, form=sparse.csr_matrix):
    X, y = cut(X, y, n_parts)
    return X.map_blocks(form), y


def values(model):
    return [stage.value for stage in model.path_]


def assert_same_fit(model, local):
    assert_allclose(values(model), values(local), **SAME)
    assert_allclose(model.coef_, local.coef_, rtol=1e-5, atol=1e-7)
    assert np.array_equal(model.classes_, local.classes_)
    assert_allclose(
        [stage.errors for stage in model.path_], [stage.errors for stage in local.path_], **SAME
    )


@pytest.mark.parametrize(("n_parts", "empty"), [(1, False), (2, True), (7, False), (50, True)])
def test_any_partitioning_gives_the_local_fit(client, rows, n_parts, empty):
    local = BBLRClassifier().fit(*rows)
    model = DaskBBLRClassifier(client=client).fit(*cut(*rows, n_parts, empty=empty))
    assert_same_fit(model, local)


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": "lbfgs", "leverage": 3.0},
        {"solver": "fisher", "fit_intercept": False},
        {"prior": "empirical", "class_weight": "balanced"},
        {"prior": "weak", "class_weight": {1: 3.0}, "l2": 30.0},
        {"class_weight": {0: 1.0, 1: 3.0, 2: 0.0}},
        {"prior": Plateaus.binary(0.1, 0.7)},
        {"prior": "learned"},
    ],
    ids=str,
)
def test_every_setting_gives_the_local_fit(client, rows, parameters):
    weight = np.random.default_rng(3).integers(0, 3, len(rows[1])).astype(float)
    local = BBLRClassifier(**parameters).fit(*rows, weight)
    model = DaskBBLRClassifier(**parameters, client=client)
    X, y = cut(*rows, 3)
    model.fit(X, y, da.from_array(weight, chunks=y.chunks))
    assert_same_fit(model, local)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_chunks(client, rows, form):
    X, y = rows
    X = np.delete(X, 1, axis=1)  # a sparse design does not centre what is far from zero
    X = X * (np.abs(X) > 1)
    local = BBLRClassifier().fit(form(X), y)
    model = DaskBBLRClassifier(client=client).fit(*sparse_chunks(X, y, 3, form))
    assert_same_fit(model, local)


def test_float32_stays_float32(client, rows):
    X, y = rows[0].astype(np.float32), rows[1]
    local = BBLRClassifier().fit(X, y)
    model = DaskBBLRClassifier(client=client).fit(*cut(X, y, 3))
    assert_same_fit(model, local)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_early_stages_run_on_the_same_sample(client, rows, form, monkeypatch):
    from bblr.training import sampled as _sampled

    monkeypatch.setattr(_sampled, "_MIN_ROWS", 1_000)
    X = np.delete(rows[0], 1, axis=1)
    fixed = {"prior": "robust", "l2": 3.0}
    local = BBLRClassifier(**fixed).fit(form(X), rows[1])
    assert "on 1,000 rows" in local.path_[0].reason
    model = DaskBBLRClassifier(**fixed, client=client).fit(*sparse_chunks(X, rows[1], 4, form))
    assert_same_fit(model, local)
    settled = DaskBBLRClassifier(client=client).fit(*sparse_chunks(X, rows[1], 4, form))
    assert_same_fit(settled, BBLRClassifier().fit(form(X), rows[1]))
    assert [stage.reason for stage in model.path_] == [stage.reason for stage in local.path_]


@pytest.mark.parametrize("prior", ["robust", "empirical", "learned"])
def test_many_classes(client, three, prior):
    local = BBLRClassifier(prior).fit(*three)
    model = DaskBBLRClassifier(prior, client=client).fit(*cut(*three, 4, empty=True))
    assert_same_fit(model, local)


@pytest.fixture
def short_search(monkeypatch):
    """A search of so few lines that a test has time for the round trips."""
    from bblr.solvers import ZeroOneSearch

    monkeypatch.setattr("bblr.linear.classifier.ZeroOneSearch", lambda: ZeroOneSearch(200))


@pytest.mark.parametrize("solver", ["search", "sla"])
def test_searches_take_the_same_steps(client, few, solver, short_search):
    X, y = few[0][:120, :2], few[1][:120]
    settings = {"solver": solver, "l2": 0.1, "gamma_max": 2.0, "random_state": 0}
    local = BBLRClassifier(**settings).fit(X, y)
    model = DaskBBLRClassifier(**settings, client=client).fit(*cut(X, y, 3))
    assert_same_fit(model, local)


def test_search_of_many_classes(client, three, short_search):
    X, y = three[0][:90, :2], three[1][:90]
    settings = {"solver": "search", "gamma_max": 2.0, "random_state": 0}
    local = BBLRClassifier(**settings).fit(X, y)
    model = DaskBBLRClassifier(**settings, client=client).fit(*cut(X, y, 3))
    assert_same_fit(model, local)


@pytest.mark.parametrize("many", [False, True])
def test_cross_validation_chooses_the_same(client, rows, many):
    X, y = rows[0][:2_100], rows[1][:2_100]
    if many:
        y = y + (X[:, 4] > 0)
    settings = {"l2s": (1.0, 10.0), "cv": 2, "gamma_limit": 2.0, "random_state": 0}
    local = BBLRClassifierCV(**settings).fit(X, y)
    model = DaskBBLRClassifierCV(**settings, n_jobs=2, client=client).fit(*cut(X, y, 3))
    assert_same_fit(model, local)
    assert (model.l2_, model.gamma_, model.leverage_) == (local.l2_, local.gamma_, local.leverage_)
    assert [trial.path for trial in model.trials_] == [trial.path for trial in local.trials_]
    assert_allclose(
        [trial.error for trial in model.trials_], [trial.error for trial in local.trials_]
    )
    assert_allclose(model.predict_proba(X), local.predict_proba(X), rtol=1e-6)


def test_workers_reduce_among_themselves(rows, monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(actors, "FAN_OUT", 2)
    local = BBLRClassifier().fit(*rows)
    with (
        LocalCluster(
            n_workers=5, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y = (part.persist() for part in cut(*rows, 10))
        model = DaskBBLRClassifier(client=client).fit(X, y)
    assert_same_fit(model, local)


@pytest.mark.parametrize("persisted", [False, True])
def test_rows_stay_where_they_are_and_are_dealt_out_evenly(client, rows, persisted):
    from bblr.inputs import adapter_of

    X, y = cut(*rows, 6)
    workers = sorted(client.nthreads())
    if persisted:
        where = [workers[k] for k in (0, 1, 1, 1, 0, 1)]
        futures = [
            client.submit(np.asarray, rows[0][1500 * k : 1500 * (k + 1)], workers=[place])
            for k, place in enumerate(where)
        ]
        parts = [da.from_delayed(dask.delayed(f), (1500, 5), dtype=float) for f in futures]
        X = client.persist(da.concatenate(parts))
    with adapter_of(DaskBBLRClassifier(client=client), X) as given:
        training = given.training(y, None)
        found = list(training.design.rows.session.places.values())
    if persisted:
        held = client.who_has(X)
        assert found == [held[key][0] for key in sorted(held)]
    else:
        assert found == [workers[0]] * 3 + [workers[1]] * 3


def test_warm_start_goes_on_from_the_last_fit(client, few):
    settings = {"warm_start": True, "tol": 1e-8}
    model = DaskBBLRClassifier(**settings, client=client).fit(*cut(*few, 2))
    local = BBLRClassifier(**settings).fit(*few)
    model.fit(*cut(*few, 3))
    assert_same_fit(model, local.fit(*few))


def test_labels_and_weights_in_memory_are_cut_as_the_rows_are(client, few):
    X, y = few
    weight = np.linspace(0.0, 2.0, len(y))
    names = np.array(["no", "yes"])[y]
    local = BBLRClassifier().fit(X, names, weight)
    model = DaskBBLRClassifier(client=client).fit(cut(X, y, 4)[0], names, weight)
    assert_same_fit(model, local)
    assert model.predict(X).tolist() == local.predict(X).tolist()


def test_labels_of_another_partitioning_are_cut_anew(client, few):
    X, y = cut(*few, 4)
    model = DaskBBLRClassifier(client=client).fit(X, y.rechunk(77))
    assert_same_fit(model, BBLRClassifier().fit(*few))


def test_partitions_of_one_class_and_of_no_weight(client, few):
    order = np.argsort(few[1], kind="stable")
    X, y = few[0][order], few[1][order]
    weight = np.ones(len(y))
    weight[:60] = 0.0
    local = BBLRClassifier(class_weight="balanced").fit(X, y, weight)
    model = DaskBBLRClassifier(class_weight="balanced", client=client)
    dX, dy = cut(X, y, 5)
    assert_same_fit(model.fit(dX, dy, weight), local)


def test_a_class_of_weight_0_is_left_out(client, few):
    X, y = few
    y = np.where(X[:, 0] > 0.8, 1, 2 * y)
    local = BBLRClassifier(class_weight={1: 0.0, 2: 3.0}).fit(X, y)
    model = DaskBBLRClassifier(class_weight={1: 0.0, 2: 3.0}, client=client)
    assert_same_fit(model.fit(*cut(X, y, 4)), local)
    assert model.classes_.tolist() == [0, 2]


def test_columns_in_several_chunks_are_joined(client, few):
    X, y = cut(*few, 2)
    model = DaskBBLRClassifier(client=client).fit(X.rechunk({1: 2}), y)
    assert_same_fit(model, BBLRClassifier().fit(*few))


def test_dataframes_of_unknown_length(client, few):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X = pd.DataFrame(few[0], columns=list("abcd"))
    X["d"] = X["d"] > 0
    frame = dd.from_pandas(X, npartitions=3)
    frame = frame[frame["a"] > -0.5]
    kept = X["a"] > -0.5
    labels = dd.from_pandas(pd.Series(few[1]), npartitions=3)
    y = labels[dd.from_pandas(kept, npartitions=3)]
    local = BBLRClassifier().fit(X[kept], few[1][kept])
    model = DaskBBLRClassifier(client=client).fit(frame, y)
    assert_same_fit(model, local)
    assert model.feature_names_in_.tolist() == list("abcd")
    probability = model.predict_proba(frame)
    assert isinstance(probability, da.Array) and np.isnan(probability.shape[0])
    assert_allclose(client.compute(probability).result(), local.predict_proba(X[kept]), rtol=1e-6)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])


@pytest.mark.parametrize("many", [False, True])
def test_lines_over_many_rows_find_the_best_step(client, few, three, many, monkeypatch):
    from bblr.designs.dask import DaskRows
    from bblr.designs.rows import Rows
    from bblr.inputs import adapter_of

    X, y = three if many else few
    rng = np.random.default_rng(5)
    weight = rng.random(len(y)).round(1)
    estimator = DaskBBLRClassifier(client=client)
    parts, labels = cut(X, y, 5, empty=True)
    with adapter_of(estimator, parts) as given:
        training = given.training(labels, None)
        rows: DaskRows = training.design.rows
        local_y = rows.local(training.y)
        shape = (len(y), 3) if many else len(y)
        raw, *changes = rng.standard_normal((9, *np.atleast_1d(shape)))
        if not many:  # many rows change their side at the same step
            raw, changes = raw.round(1), np.round(changes, 1)
        sent = [rows.vector(change) for change in changes]
        where = (rows.vector(raw), sent, training.y, rows.vector(weight))
        monkeypatch.setattr(vectors, "FEW_ROWS", 0)
        found = rows.lines(*where)
    wanted = Rows().lines(raw, changes, local_y, weight)
    for line, best in zip(found, wanted, strict=True):
        assert_allclose(line, best, rtol=1e-9, atol=1e-12)


def test_outlier_scores_are_those_of_the_local_classifier(client, few):
    parts, labels = cut(*few, 3)
    model = DaskBBLRClassifier(client=client).fit(parts, labels)
    plain = model.to_local().outlier_scores(*few)
    assert_allclose(model.outlier_scores(parts, labels), plain)
    assert_allclose(model.outlier_scores(*few), plain)
