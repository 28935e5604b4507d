"""Kernel classifiers beside scikit-learn's SVC on TREC07p: time, vectors, errors, memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC

from bblr import KernelBBLRClassifier
from bblr.evaluation import mcnemar
from research.benchmarks.cases import Bar, Measured, Settings, case
from research.benchmarks.processes import run_python
from research.benchmarks.timing import Timing, race, seconds, show
from research.claims.kernel import trec07p_normalised
from research.studies.sparsity import Parts, tuned_kernel, tuned_svc, with_vectors

MANY, MOST = 20_000, 60_000
PLAIN, TUNED, SPARSE, DENSE = "SVC()", "tuned SVC", "sparse KBBLR", "KBBLR"


class Rivals(NamedTuple):
    """Untrained classifiers whose settings were chosen on the same few thousand rows."""

    svc: Any
    sparse: Any
    dense: Any


@cache
def _parts(seed: int, rows: int) -> Parts:
    return trec07p_normalised(seed).first(rows)


@cache
def _rivals(seed: int, rows: int) -> Rivals:
    """Tune both classifiers; the sparse one gets a third of the SVM's vectors."""
    parts = _parts(seed, rows)
    svc = tuned_svc(parts.X_train, parts.y_train, seed)
    model = tuned_kernel(parts.X_train, parts.y_train, seed)
    count = int(svc.fit(parts.X_train, parts.y_train).n_support_.sum())
    sparse = with_vectors(model, max(1, count // 3), seed)
    return Rivals(svc, sparse, with_vectors(model, None, seed))


def _work(model: Any, parts: Parts) -> Callable[[], tuple[Any, Any]]:
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


@case(
    "kernel-20k",
    "fit on 20,000 rows of TREC07p and predict 10,000, beside SVC",
    Bar(f"{SPARSE}: time / {PLAIN}", "<=", 1.0),
    Bar(f"{SPARSE}: time / {TUNED}", "<=", 1.0),
    Bar(f"{SPARSE}: vectors / {TUNED}'s", "<=", 1 / 3),
    Bar(f"{SPARSE}: points above {TUNED}", "<=", 0.25),
    Bar(f"{DENSE}: time / {PLAIN}", "<=", 1.0),
    Bar(f"{DENSE}: time / {TUNED}", "<=", 1.0),
    Bar(f"{DENSE}: McNemar z, positive if it errs more than {PLAIN}", "<", 1.96),
    Bar(f"{DENSE}: McNemar z, positive if it errs more than {TUNED}", "<", 1.96),
)
def kernel_20k(settings: Settings) -> Measured:
    rows = settings.rows(MANY)
    parts, rivals = _parts(settings.seed, rows), _rivals(settings.seed, rows)
    models = {PLAIN: SVC(), TUNED: rivals.svc, SPARSE: rivals.sparse, DENSE: rivals.dense}
    timings = _race(models, parts, settings.repeats(3))
    figures = {
        f"{own}: time / {other}": timings[own].best / timings[other].best
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


@case(
    "kernel-60k",
    "fit on 60,000 rows of TREC07p and predict 10,000: speed beside SVC, and memory",
    Bar(f"{TUNED}: time / {SPARSE}", ">=", 3.0),
    Bar(f"{PLAIN}: time / {SPARSE}", ">=", 3.0),
    Bar(f"{TUNED}: time / {DENSE}", ">=", 3.0),
    Bar("peak memory of the process, GiB", "<=", 4.0),
)
def kernel_60k(settings: Settings) -> Measured:
    rows = settings.rows(MOST)
    parts, rivals = _parts(settings.seed, rows), _rivals(settings.seed, rows)
    models = {TUNED: rivals.svc, SPARSE: rivals.sparse, DENSE: rivals.dense, PLAIN: SVC()}
    timings = _race(models, parts, 1)
    options = {"kernel_gamma": rivals.dense.kernel_gamma, "l2": rivals.dense.l2}
    peak = float(run_python(MEMORY_SCRIPT, settings.seed, rows, json.dumps(options)))
    figures = {
        f"{TUNED}: time / {SPARSE}": timings[TUNED].best / timings[SPARSE].best,
        f"{PLAIN}: time / {SPARSE}": timings[PLAIN].best / timings[SPARSE].best,
        f"{TUNED}: time / {DENSE}": timings[TUNED].best / timings[DENSE].best,
        "peak memory of the process, GiB": peak,
    }
    return Measured(figures, *_details(timings, parts))
