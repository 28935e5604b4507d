"""Ten files as people have them, each with rows to learn from and later ones to decide.

``python -m research.studies.strangers FOLDER`` writes them all.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Frame = pd.DataFrame
CITIES = [f"{a}{b}" for a in ("Aln", "Bex", "Cor", "Dun") for b in
          ("by", "dale", "field", "ford", "ham", "hill", "mere", "mouth", "pool", "port", "sea",
           "stead", "stoke", "thorpe", "ton", "wall", "well", "wich", "wick", "wood", "worth",
           "bridge", "burn", "bury", "combe", "cott", "ditch", "dean", "end", "gate")]  # fmt: skip


def _dates(rng: Any, n: int, form: str) -> Any:
    days = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    return days, days.strftime(form)


def _rarest(score: np.ndarray, share: float) -> np.ndarray:
    """Mark the share of the rows that score highest."""
    return score > np.quantile(score, 1.0 - share)


def churn(rng: Any, n: int) -> Frame:
    """Customers: an id, dates, 120 cities, gaps, 5.7 % of them gone."""
    _days, joined = _dates(rng, n, "%Y-%m-%d")
    calls = rng.poisson(2.0, n).astype(float)
    city = rng.choice(CITIES, n)
    score = calls + (np.char.startswith(city.astype(str), "Dun")) + rng.normal(0, 0.7, n)
    return pd.DataFrame(
        {
            "customer": [f"C{k:06d}" for k in rng.permutation(n)],
            "joined": joined,
            "city": city,
            "calls": np.where(rng.random(n) < 0.08, np.nan, calls),
            "plan": rng.choice(["basic", "plus", "family"], n),
            "fee": rng.gamma(4.0, 8.0, n).round(2),
            "churned": np.where(_rarest(score, 0.057), "yes", "no"),
        }
    )


def european(rng: Any, n: int) -> Frame:
    """Measurements with decimal commas and umlauts."""
    druck, weg = rng.normal(7.5, 1.5, n), rng.normal(0.0, 1.0, n)
    score = (druck - 7.5) / 1.5 + weg + rng.normal(0, 0.4, n)
    return pd.DataFrame(
        {
            "Prüfung": rng.choice(["früh", "spät", "nachts"], n),
            "Druck": druck.round(3),
            "Länge": weg.round(3),
            "Ergebnis": np.where(score > 0.3, "ausgefallen", "in Ordnung"),
        }
    )


def names(rng: Any, n: int) -> Frame:
    """Texts of three scripts, as a spreadsheet saves them in UTF-16."""
    kind = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "città": rng.choice(["Roma", "Αθήνα", "Київ"], n),
            "score": (kind + rng.normal(0, 0.6, n)).round(3),
            "years": rng.integers(18, 80, n),
            "label": np.where(kind == 1, "да", "нет"),
        }
    )


def sensors(rng: Any, n: int) -> Frame:
    """Numbers alone, and a column that never changes."""
    X = rng.normal(size=(n, 6)).round(4)
    frame = pd.DataFrame(X, columns=[f"s{k}" for k in range(6)]).assign(unit="m/s")
    return frame.assign(fault=(X[:, 0] - X[:, 1] + rng.normal(0, 0.5, n) > 0.8).astype(int))


def workbook(rng: Any, n: int) -> Frame:
    """An Excel sheet with real dates and empty cells."""
    days, _ = _dates(rng, n, "%Y-%m-%d")
    amount = rng.gamma(2.0, 100.0, n).round(2)
    late = days.month.to_numpy() / 6.0 + amount / 200.0 + rng.normal(0, 0.5, n)
    return pd.DataFrame(
        {
            "Invoice": np.arange(1, n + 1),
            "Date": days,
            "Amount": np.where(rng.random(n) < 0.05, np.nan, amount),
            "Branch": rng.choice(["North", "South"], n),
            "Paid late": np.where(late > 2.3, "Yes", "No"),
        }
    )


def wide(rng: Any, n: int) -> Frame:
    """More columns than a person reads."""
    X = rng.normal(size=(n, 120)).round(4)
    frame = pd.DataFrame(X, columns=[f"gene {k}" for k in range(120)])
    return frame.assign(tumour=X[:, :6].sum(axis=1) + rng.normal(0, 1.0, n) > 0.0)


def ten_classes(rng: Any, n: int) -> Frame:
    """Ten kinds, two of which look alike."""
    kind = rng.integers(0, 10, n)
    X = rng.normal(size=(n, 8))
    X[np.arange(n), np.minimum(kind, 8) % 8] += 3.0 + (kind >= 8)
    frame = pd.DataFrame(X.round(3), columns=[f"v{k}" for k in range(8)])
    return frame.assign(kind=[f"kind {k}" for k in kind])


def tickets(rng: Any, n: int) -> Frame:
    """An id, dates and what people wrote."""
    _, opened = _dates(rng, n, "%d/%m/%Y %H:%M")
    words = ["please", "invoice", "wrong", "broken", "screen", "refund", "thanks", "again",
             "delivery", "late", "password", "login"]  # fmt: skip
    said = rng.choice(words, (n, 7))
    urgent = ((said == "broken") | (said == "refund")).sum(axis=1) + rng.normal(0, 0.3, n)
    return pd.DataFrame(
        {
            "ticket": [f"T-{k}" for k in rng.permutation(10 * n)[:n]],
            "opened": opened,
            "message": [" ".join(each) for each in said],
            "urgent": np.where(urgent > 1.4, "yes", "no"),
        }
    )


def leaking(rng: Any, n: int) -> Frame:
    """A column that is filled in only once the answer is known."""
    X = rng.normal(size=(n, 3)).round(3)
    gone = X[:, 0] + rng.normal(0, 1.0, n) > 0.5
    reason = np.where(gone, rng.choice(["price", "moved"], n), "none yet")
    frame = pd.DataFrame(X, columns=["age", "visits", "spend"])
    return frame.assign(closing_reason=reason, gone=np.where(gone, "gone", "here"))


def rare(rng: Any, n: int) -> Frame:
    """One positive in a hundred."""
    X = rng.normal(size=(n, 4)).round(3)
    fraud = _rarest(X[:, 0] + X[:, 1] + rng.normal(0, 0.5, n), 0.01)
    frame = pd.DataFrame(X, columns=["amount", "speed", "age", "distance"])
    return frame.assign(country=rng.choice(["AT", "BE", "CH"], n), fraud=fraud.astype(int))


@dataclass(frozen=True)
class Stranger:
    """A file: what it holds, how it is written, and the column of categories it has, if any."""

    make: Callable[[Any, int], Frame]
    target: str
    name: str
    write: Callable[[Frame, Path], Any]
    category: str | None = None
    rows: int = 400

    def written(self, folder: Path) -> tuple[Path, Path]:
        """Write rows to learn from, and others with new categories and gaps; return both paths."""
        frame = self.make(np.random.default_rng(7), self.rows + 60)
        train, new = frame[: self.rows], frame[self.rows :].reset_index(drop=True)
        new = new.astype({c: object for c in new.columns if c != self.target})
        features = [c for c in new.columns if c != self.target]
        for k, column in enumerate(features):
            new.loc[5 + k % 3, column] = None
        if self.category is not None:
            new.loc[10:12, self.category] = "never seen"
        paths = folder / self.name, folder / f"new-{self.name}"
        for path, rows in zip(paths, (train, new.infer_objects()), strict=True):
            self.write(rows, path)
        return paths


def _csv(**options: Any) -> Callable[[Frame, Path], Any]:
    return lambda frame, path: frame.to_csv(path, index=False, **options)


def _utf16(frame: Frame, path: Path) -> None:
    path.write_bytes(frame.to_csv(index=False, sep="\t").encode("utf-16"))


def _gz(frame: Frame, path: Path) -> None:
    path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))


STRANGERS = {
    "churn": Stranger(churn, "churned", "churn.csv", _csv(), "plan", 600),
    "european": Stranger(
        european, "Ergebnis", "messung.csv",
        _csv(sep=";", decimal=",", encoding="latin-1"), "Prüfung",
    ),
    "utf-16": Stranger(names, "label", "names.txt", _utf16, "città"),
    "gz": Stranger(sensors, "fault", "sensors.csv.gz", _gz),
    "xlsx": Stranger(
        workbook, "Paid late", "invoices.xlsx", lambda f, p: f.to_excel(p, index=False), "Branch",
    ),
    "wide parquet": Stranger(wide, "tumour", "genes.parquet", lambda f, p: f.to_parquet(p)),
    "ten classes": Stranger(ten_classes, "kind", "kinds.csv", _csv(), None, 500),
    "id, dates, text": Stranger(tickets, "urgent", "tickets.csv", _csv()),
    "leakage": Stranger(leaking, "gone", "accounts.csv", _csv(), "closing_reason"),
    "1 % positives": Stranger(rare, "fraud", "payments.csv", _csv(), "country", 1500),
}  # fmt: skip


if __name__ == "__main__":
    for each in STRANGERS.values():
        print(*each.written(Path(sys.argv[1])))
