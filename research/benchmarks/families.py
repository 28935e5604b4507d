"""The other families: kernels, the zero-one loss, joint decisions and audits of labels."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC

from bblr import KernelBBLRClassifier, SLAClassifier, ZeroOneClassifier
from bblr.datasets import UCI_NAMES, load_uci
from bblr.evaluation import add_noise, mcnemar
from bblr.structured import Group, JointModel
from research.benchmarks import benchmark
from research.benchmarks.timing import Timing, Work, as_measured, race, run_python, seconds, show
from research.claims.kernel import trec07p_normalised
from research.claims.zero_one import PUBLISHED
from research.core.cases import Measured, Run
from research.core.parts import Parts
from research.core.thresholds import Threshold
from research.studies.audit import FLIPS, baseline_ranking, load_audited, own_ranking
from research.studies.sparsity import tuned_kernel, tuned_svc, with_vectors

MANY, MOST = 20_000, 60_000
PLAIN, TUNED, SPARSE, DENSE = "SVC()", "tuned SVC", "sparse KBBLR", "KBBLR"


class Tuned(NamedTuple):
    """Untrained classifiers whose settings were chosen on the same few thousand rows."""

    svc: Any
    sparse: Any
    dense: Any


@cache
def _parts(seed: int, rows: int) -> Parts:
    return trec07p_normalised(seed).first(rows)


@cache
def _tuned(seed: int, rows: int) -> Tuned:
    """Tune both classifiers; the sparse one gets a third of the SVM's vectors."""
    parts = _parts(seed, rows)
    svc = tuned_svc(parts.X_train, parts.y_train, seed)
    model = tuned_kernel(parts.X_train, parts.y_train, seed)
    count = int(svc.fit(parts.X_train, parts.y_train).n_support_.sum())
    sparse = with_vectors(model, max(1, count // 3), seed)
    return Tuned(svc, sparse, with_vectors(model, None, seed))


def _work(model: Any, parts: Parts) -> Work:
    def run() -> tuple[Any, Any]:
        model.fit(parts.X_train, parts.y_train)
        return model, model.predict(parts.X_test)

    return run


def _race(models: dict[str, Any], parts: Parts, repeats: int) -> dict[str, Timing]:
    KernelBBLRClassifier().fit(parts.X_train[:200], parts.y_train[:200])  # loads the kernels
    return race({name: _work(model, parts) for name, model in models.items()}, repeats)


def _errors(timing: Timing, parts: Parts) -> float:
    return 100.0 * float(np.mean(timing.result[1] != parts.y_test))


def _vectors(timing: Timing) -> int:
    return int(timing.result[0].n_support_.sum())


def _details(timings: dict[str, Timing], parts: Parts) -> tuple[list[str], dict[str, Any]]:
    found = {
        name: {"vectors": _vectors(timing), "error %": _errors(timing, parts)}
        for name, timing in timings.items()
    }
    shown = (f"{name} {v['vectors']} vectors, {v['error %']:.2f} %" for name, v in found.items())
    return [show(timings), "; ".join(shown)], {"seconds": seconds(timings), **found}


@benchmark(
    "kernel-20k",
    "fit on 20,000 rows of TREC07p and predict 10,000, against SVC",
    Threshold(f"{SPARSE}: time / {PLAIN}", "<=", 1.0),
    Threshold(f"{SPARSE}: time / {TUNED}", "<=", 1.0),
    Threshold(f"{SPARSE}: vectors / {TUNED}'s", "<=", 1 / 3),
    Threshold(f"{SPARSE}: points above {TUNED}", "<=", 0.25),
    Threshold(f"{DENSE}: time / {PLAIN}", "<=", 1.0),
    Threshold(f"{DENSE}: time / {TUNED}", "<=", 1.0),
    Threshold(f"{DENSE}: McNemar z, positive if it errs more than {PLAIN}", "<", 1.96),
    Threshold(f"{DENSE}: McNemar z, positive if it errs more than {TUNED}", "<", 1.96),
)
def kernel_20k(run: Run) -> Measured:
    rows = run.rows(MANY)
    parts, tuned = _parts(run.seed, rows), _tuned(run.seed, rows)
    models = {PLAIN: SVC(), TUNED: tuned.svc, SPARSE: tuned.sparse, DENSE: tuned.dense}
    timings = _race(models, parts, run.times(3))
    figures = {
        f"{own}: time / {other}": timings[own] / timings[other]
        for own in (SPARSE, DENSE)
        for other in (PLAIN, TUNED)
    }
    figures[f"{SPARSE}: vectors / {TUNED}'s"] = _vectors(timings[SPARSE]) / _vectors(
        timings[TUNED]
    )
    figures[f"{SPARSE}: points above {TUNED}"] = _errors(timings[SPARSE], parts) - _errors(
        timings[TUNED], parts
    )
    for other in (PLAIN, TUNED):
        test = mcnemar(parts.y_test, timings[other].result[1], timings[DENSE].result[1])
        figures[f"{DENSE}: McNemar z, positive if it errs more than {other}"] = test.z
    return Measured(figures, *_details(timings, parts))


# In a process of its own: the peak is that of a process.
MEMORY_SCRIPT = """
import json, resource, sys
from research.claims.kernel import trec07p_normalised
from bblr import KernelBBLRClassifier

seed, rows, options = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
parts = trec07p_normalised(seed).first(rows)
model = KernelBBLRClassifier(**options).fit(parts.X_train, parts.y_train)
model.predict(parts.X_test)
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30))
"""


@benchmark(
    "kernel-60k",
    "fit on 60,000 rows of TREC07p and predict 10,000: speed against SVC, and memory",
    Threshold(f"{TUNED}: time / {SPARSE}", ">=", 3.0),
    Threshold(f"{PLAIN}: time / {SPARSE}", ">=", 3.0),
    Threshold(f"{TUNED}: time / {DENSE}", ">=", 3.0),
    Threshold("peak memory of the process, GiB", "<=", 4.0),
)
def kernel_60k(run: Run) -> Measured:
    rows = run.rows(MOST)
    parts, tuned = _parts(run.seed, rows), _tuned(run.seed, rows)
    models = {TUNED: tuned.svc, SPARSE: tuned.sparse, DENSE: tuned.dense, PLAIN: SVC()}
    timings = _race(models, parts, 1)
    options = {"kernel_gamma": tuned.dense.kernel_gamma, "l2": tuned.dense.l2}
    peak = float(run_python(MEMORY_SCRIPT, run.seed, rows, json.dumps(options)))
    figures = {
        f"{TUNED}: time / {SPARSE}": timings[TUNED] / timings[SPARSE],
        f"{PLAIN}: time / {SPARSE}": timings[PLAIN] / timings[SPARSE],
        f"{TUNED}: time / {DENSE}": timings[TUNED] / timings[DENSE],
        "peak memory of the process, GiB": peak,
    }
    return Measured(figures, *_details(timings, parts))


SEEDS = 5


def _seconds_to(loss: float, X: Any, y: Any, seed: int) -> float:
    model = ZeroOneClassifier(time_limit=0.05, random_state=seed).fit(X, y)
    return min((moment.seconds for moment in model.trace_ if moment.loss <= loss), default=np.inf)


@benchmark(
    "zero-one-sla",
    "search until it has SLA's published loss, against SLA to its end (median of five seeds)",
    *(Threshold(f"{name}: time of SLA / time of search", ">=", 20) for name in UCI_NAMES),
)
def zero_one_sla(run: Run) -> Measured:
    figures, notes, details = {}, [], {}
    X, y = load_uci("liver", return_X_y=True)
    SLAClassifier().fit(X, y)  # compiled code is loaded before the clock runs
    _seconds_to(0, X, y, 0)
    for name in UCI_NAMES:
        X, y = load_uci(name, return_X_y=True)
        target = PUBLISHED["sla"][name]
        rounds = []
        for _ in range(run.times(25)):  # in turns: few runs of SLA go undisturbed
            sla = race({"SLA": partial(SLAClassifier().fit, X, y)}, 1, warm_up=False)["SLA"]
            times = [_seconds_to(target, X, y, seed) for seed in range(run.times(SEEDS))]
            rounds.append([sla.best, *times])
        least, *times = np.min(rounds, axis=0)
        reached = int(np.sum(sla.result.predict(X) != y))
        middle = float(np.median(times))
        figures[f"{name}: time of SLA / time of search"] = least / middle
        notes.append(
            f"{name}: SLA {1000 * least:.1f} ms to {reached} errors, "
            f"search {1000 * middle:.1f} ms to {target}"
        )
        details[name] = {"sla": least, "search": times}
    return Measured(figures, notes, details)


GROUPS, SIZE, IMAGES = 100_000, 7, 3
# One at a time is too slow for all of them.
FEW = 500


def _groups(n: int, seed: int) -> list[Group]:
    """Pages of seven faces in three images, all faces of different images compared."""
    rng = np.random.default_rng(seed)
    labels = (rng.random((n, SIZE)) < 0.3).astype(int)
    X = rng.normal(size=(n, SIZE, 5)) + labels[:, :, None]
    extra = rng.integers(IMAGES, size=(n, SIZE - IMAGES))
    images = np.concatenate([np.tile(np.arange(IMAGES), (n, 1)), extra], axis=1)
    every = np.array([(i, j) for i in range(SIZE) for j in range(i)])
    apart = images[:, every[:, 0]] != images[:, every[:, 1]]
    close = rng.normal(0.4 + 0.3 * labels[:, every].prod(axis=2), 0.15)
    return [
        Group(X[k], images[k], every[apart[k]], close[k][apart[k]], labels[k]) for k in range(n)
    ]


@benchmark(
    "structured-inference",
    "labels and probabilities of 100,000 groups of 7 with similarities, features included",
    Threshold("labels, ms per group", "<=", 0.05),
    Threshold("probabilities, ms per group", "<=", 0.05),
    Threshold("labels of all groups, seconds", "<=", 10.0),
    Threshold("probabilities of all groups, seconds", "<=", 10.0),
    Threshold("batched / one at a time, per group", "<=", 0.2),
)
def structured_inference(run: Run) -> Measured:
    groups = _groups(run.rows(GROUPS), run.seed)
    model = JointModel(random_state=run.seed).fit(groups[:500])
    few = groups[:FEW]
    timings = race(
        {
            "labels": lambda: model.predict(groups),
            "probabilities": lambda: model.predict_proba(groups),
            "one at a time": lambda: [model.predict([group]) for group in few],
        },
        run.times(3),
    )
    scale = GROUPS / len(groups)
    single = timings["one at a time"].best / len(few)
    figures = {"batched / one at a time, per group": timings["labels"].best / len(groups) / single}
    for what in ("labels", "probabilities"):
        figures[f"{what}, ms per group"] = 1000 * timings[what].best / len(groups)
        figures[f"{what} of all groups, seconds"] = timings[what].best * scale
    return as_measured(timings, figures)


TIME_RATIO = "time / cleanlab's"


def time_audits(run: Run, names: tuple[str, ...], repeats: int) -> Measured:
    """Time audits of tables with 10 % flipped labels against cleanlab's, at default settings."""
    own, baseline, notes, record = 0.0, 0.0, [], {}
    for name in names:
        X, y = load_audited(name)
        n = run.rows(len(y))
        X, y = add_noise(
            X[:n], y[:n], protocol="label-flip", fraction=FLIPS, random_state=run.seed
        )
        timings = race(
            {
                "bblr": partial(own_ranking, X, y, run.seed),
                "cleanlab": partial(baseline_ranking, X, y, run.seed),
                # By default it starts processes, which small tables do not repay.
                "cleanlab n_jobs=1": partial(baseline_ranking, X, y, run.seed, 1),
            },
            run.times(repeats),
            warm_up=repeats > 2,
        )
        own, baseline = own + timings["bblr"].best, baseline + timings["cleanlab"].best
        notes.append(f"{name}: {show(timings)}")
        record[name] = seconds(timings)
    return Measured({TIME_RATIO: own / baseline}, notes, {"seconds": record})


FILE_ROWS, FILE_FEATURES = 20_000, 300


@benchmark(
    "audit-file",
    f"bblr audit of a file of {FILE_ROWS:,} × {FILE_FEATURES}, from the start of the program on",
    Threshold("seconds", "<=", 30.0),
    Threshold("MB written", "<=", 2.0),
)
def audit_file(run: Run) -> Measured:
    """Time the command in a process of its own."""
    rng, rows = np.random.default_rng(run.seed), run.rows(FILE_ROWS)
    X = rng.normal(size=(rows, FILE_FEATURES))
    y = X[:, :5].sum(axis=1) + rng.normal(size=rows) > 0
    y ^= rng.random(rows) < 0.03
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        header = ",".join([*(f"c{j}" for j in range(FILE_FEATURES)), "y"])
        table = np.column_stack([X, y])
        np.savetxt(folder / "data.csv", table, "%.5g", ",", header=header, comments="")
        command = [sys.executable, "-c", "from _bblr_command import main; main()", "audit"]
        command += [str(folder / "data.csv"), "--out", str(folder / "audit.csv")]
        work = partial(subprocess.run, command, check=True, capture_output=True)
        timings = race({"bblr audit": work}, run.times(2))
        written = sum((folder / f"audit.{end}").stat().st_size for end in ("csv", "html"))
    figures = {"seconds": timings["bblr audit"].best, "MB written": written / 1e6}
    return as_measured(timings, figures)


for _name, _about, _sets, _repeats in (
    ("uci", "four small sets", UCI_NAMES, 7),
    ("digits", "1,797 digits", ("digits",), 5),
    ("trec07p", "75,399 messages", ("trec07p",), 2),
):
    benchmark(
        f"audit-{_name}",
        f"labels of {_about}, 10 % of them flipped",
        Threshold(TIME_RATIO, "<=", 0.5),
    )(partial(time_audits, names=_sets, repeats=_repeats))
