"""What a case of the fuzz is: a few words and a seed, from which all data are made.

A case is printed as Python writes it, and `python -m tests.fuzz --repeat "Case(...)"` runs it
again. Words that no fit may stumble over are "plain"; those that every fit must refuse are
"wrong"; of the rest, either a finite answer or a clear refusal is right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PLAIN_COLUMNS = (
    "signal", "normal", "integer", "indicator", "constant", "zero", "copy", "far", "rare", "micro",
    "kilo",
)  # fmt: skip
ODD_COLUMNS = (
    "heavy", "wide", "big", "small", "large", "vanishing", "huge", "tiny", "denormal", "span",
    "edge", "drowned", "spike",
)  # fmt: skip
WRONG_COLUMNS = ("nan", "inf")
# Layouts of whole numbers: what is not finite was lost on the way into them.
WITHOUT_NAN = ("int64", "uint64", "int8", "bool", "csr_int", "csr_bool", "frame_bools",
               "frame_nullable", "dates", "tensor_int64", "tensor_bool")  # fmt: skip

PLAIN_LABELS = (
    "ints", "signs", "uint8", "floats", "strings", "objects", "list", "series",
    "categorical", "empty_text", "big_ints",
)  # fmt: skip
ODD_LABELS = (
    "bools", "object_ints", "singletons", "bytes", "column", "dates", "numbers_of_all_kinds",
    "nullable", "tuples", "float16", "object_bools",
)  # fmt: skip
WRONG_LABELS = (
    "none", "nan", "continuous", "mixed", "two_columns", "missing", "one", "complex", "short",
    "absent", "inf", "na",
)  # fmt: skip

PLAIN_WEIGHTS = ("none", "ones", "small_ints", "some_zero", "list", "tenths")
ODD_WEIGHTS = ("wide", "heavy", "light", "huge", "vanishing", "scalar", "frame", "float16")
WRONG_WEIGHTS = ("zero", "negative", "nan", "inf", "short", "text", "square", "object_none")


@dataclass(frozen=True)
class Case:
    """One fit: an estimator, its parameters, and words for the data."""

    estimator: str
    params: tuple[tuple[str, Any], ...] = ()
    n: int = 20
    columns: tuple[str, ...] = ("signal", "normal")
    layout: str = "rows"
    labels: str = "ints"
    classes: int = 2
    weights: str = "none"
    twist: str = "none"
    seed: int = 0

    @property
    def plain_data(self) -> bool:
        """Whether nothing in the data is out of the ordinary."""
        return (
            bool(self.columns)
            and set(self.columns) <= set(PLAIN_COLUMNS)
            and self.labels in PLAIN_LABELS
            and self.weights in PLAIN_WEIGHTS
            and self.n >= 4 * self.classes
        )

    @property
    def wrong_data(self) -> bool:
        """Whether no fit may take the data."""
        return (
            self.labels in WRONG_LABELS
            or self.weights in WRONG_WEIGHTS
            or not self.columns
            or (bool(set(self.columns) & set(WRONG_COLUMNS)) and self.layout not in WITHOUT_NAN)
        )


def make_codes(case: Case, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a class number for each row; every class occurs where rows suffice."""
    if case.labels == "one":
        return np.zeros(case.n, dtype=np.intp)
    if case.labels == "singletons":
        codes = np.zeros(case.n, dtype=np.intp)
        codes[: case.classes] = np.arange(case.classes)[: case.n]
    else:
        codes = np.arange(case.n) % case.classes
    return rng.permutation(codes)


def make_table(case: Case, codes: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    """Return the numbers of X."""
    made: list[Floats] = []
    for kind in case.columns:
        column = made[-1] if kind == "copy" and made else _column(kind, codes, rng)
        made.append(column)
    return np.column_stack(made) if made else np.empty((len(codes), 0))


def _column(kind: str, codes: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    n = len(codes)
    z = rng.standard_normal(n)
    signal = z + 1.5 * codes
    made: dict[str, Callable[[], Any]] = {
        "signal": lambda: signal,
        "normal": lambda: z,
        "copy": lambda: signal,
        "integer": lambda: np.round(2.0 * signal),
        "indicator": lambda: (signal > 1.0) * 1.0,
        "constant": lambda: np.full(n, 3.7),
        "zero": lambda: np.zeros(n),
        "far": lambda: 1e6 + signal,
        "rare": lambda: np.where(rng.random(n) < 0.2, signal, 0.0),
        "micro": lambda: 1e-6 * signal,
        "kilo": lambda: 1e3 * signal,
        "heavy": lambda: signal * rng.standard_cauchy(n) ** 3,
        "wide": lambda: signal * 10.0 ** rng.uniform(-12, 12, n),
        "big": lambda: 1e100 * signal,
        "small": lambda: 1e-100 * signal,
        "large": lambda: 1e155 * signal,
        "vanishing": lambda: 1e-155 * signal,
        "huge": lambda: 1e300 * signal,
        "tiny": lambda: 1e-300 * signal,
        "denormal": lambda: np.round(100.0 * signal) * 5e-324,
        "span": lambda: signal * 10.0 ** rng.uniform(-300, 300, n),
        "edge": lambda: np.where(codes == 0, -1.0, 1.0) * np.finfo(np.float64).max,
        "drowned": lambda: 1e15 + np.round(signal),
        "spike": lambda: np.where(np.arange(n) == 0, 1e300, signal),
        "nan": lambda: np.where(np.arange(n) == n // 2, np.nan, signal),
        "inf": lambda: np.where(np.arange(n) == n // 2, -np.inf, signal),
    }
    return np.asarray(made[kind](), dtype=np.float64)


def make_labels(case: Case, codes: NDArray[np.intp]) -> Any:
    """Return y."""
    n = len(codes)
    names = np.array(["no", "yes", "perhaps", "never", "so so"])
    made: dict[str, Callable[[], Any]] = {
        "ints": lambda: codes,
        "singletons": lambda: codes,
        "one": lambda: codes,
        "signs": lambda: np.array([-1, 1, 7, 3, -9])[codes],
        "uint8": lambda: codes.astype(np.uint8) * 50,
        "floats": lambda: codes * 2.0 - 3.0,
        "float16": lambda: codes.astype(np.float16),
        "strings": lambda: names[codes],
        "objects": lambda: names[codes].astype(object),
        "object_ints": lambda: codes.astype(object),
        "object_bools": lambda: (codes > 0).astype(object),
        "list": lambda: names[codes].tolist(),
        "series": lambda: pd.Series(codes, index=np.arange(n)[::-1] * 3),
        "categorical": lambda: pd.Series(pd.Categorical(names[codes], categories=names)),
        "empty_text": lambda: np.array(["", " ", "é", "ß\n", "1"])[codes],
        "big_ints": lambda: np.array([-(2**62), 2**62, 0, 2**62 - 1, 1])[codes],
        "bools": lambda: codes > 0,
        "bytes": lambda: names[codes].astype("S"),
        "column": lambda: codes[:, None],
        "dates": lambda: np.datetime64("2020-01-01") + codes,
        "numbers_of_all_kinds": lambda: _objects([[0, 1.0, True, 2][c % 4] for c in codes]),
        "nullable": lambda: pd.Series(codes, dtype="Int64"),
        "tuples": lambda: _objects([(c,) for c in codes.tolist()]),
        "none": lambda: _objects([None if c else 1 for c in codes.tolist()]),
        "missing": lambda: _objects([*names[codes].tolist()[:-1], np.nan]),
        "nan": lambda: np.where(np.arange(n) == 0, np.nan, codes),
        "inf": lambda: np.where(np.arange(n) == 0, np.inf, codes),
        "na": lambda: pd.Series([pd.NA, *codes[1:].tolist()], dtype="Int64"),
        "continuous": lambda: codes + np.linspace(0.0, 0.4, n) + 0.25,
        "mixed": lambda: _objects([["a", 1, 2.5][c % 3] for c in codes.tolist()]),
        "two_columns": lambda: np.column_stack([codes, codes]),
        "complex": lambda: codes + 1j,
        "short": lambda: codes[:-1],
        "absent": lambda: None,
    }
    return made[case.labels]()


def _objects(values: list[Any]) -> NDArray[Any]:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def make_weights(case: Case, rng: np.random.Generator) -> Any:
    """Return sample_weight."""
    n = case.n
    some = rng.integers(1, 4, n)
    made: dict[str, Callable[[], Any]] = {
        "none": lambda: None,
        "ones": lambda: np.ones(n),
        "small_ints": lambda: some,
        "tenths": lambda: 0.1 * some,
        "list": lambda: some.tolist(),
        # Some examples of every class are left: classes stand in turn before they are mixed.
        "some_zero": lambda: np.where(rng.random(n) < 0.15, 0, some),
        "wide": lambda: 10.0 ** rng.uniform(-12, 12, n),
        "heavy": lambda: 1e12 * some,
        "light": lambda: 1e-12 * some,
        "huge": lambda: 1e300 * some,
        "vanishing": lambda: 1e-310 * some,
        "scalar": lambda: 2.0,
        "frame": lambda: pd.Series(some, index=np.arange(n)[::-1]),
        "float16": lambda: some.astype(np.float16),
        "zero": lambda: np.zeros(n),
        "negative": lambda: np.where(np.arange(n) == 0, -1.0, some),
        "nan": lambda: np.where(np.arange(n) == 0, np.nan, some),
        "inf": lambda: np.where(np.arange(n) == 0, np.inf, some),
        "short": lambda: some[:-1],
        "text": lambda: ["heavy"] * n,
        "square": lambda: np.ones((n, n)),
        "object_none": lambda: _objects([None] * n),
    }
    return made[case.weights]()
