"""Every example of the gallery runs without a warning, and its numbers say what its text says."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="the gallery draws with Matplotlib")

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"
Names = dict[str, Any]
CLAIMS: dict[str, Callable[[Names], None]] = {}

OURS, LR = "BBLRClassifier", "logistic regression"


def claim(check: Callable[[Names], None]) -> Callable[[Names], None]:
    CLAIMS[check.__name__] = check
    return check


@claim
def plot_outliers(names):
    errors, shares, curves = names["errors"], names["shares"], names["curves"]
    clean = [error for (_, kind), error in errors.items() if kind == "clean"]
    assert max(clean) - min(clean) < 0.3
    assert abs(errors[OURS, "6 % strays"] - errors[OURS, "clean"]) < 0.5
    for baseline in (LR, "linear SVM"):
        assert errors[baseline, "6 % strays"] > 2 * errors[OURS, "6 % strays"]
    ours = dict(zip(shares, curves[OURS], strict=True))
    assert abs(ours[0.3] - ours[0.0]) < 0.5
    assert abs(ours[0.4] - curves[LR][-1]) < 2 and ours[0.4] > 20


@claim
def plot_dirty_labels(names):
    mean, shares = names["mean"], list(names["shares"])
    assert f"{mean[LR, 'at random'][0]:.1f} against {mean[OURS, 'at random'][0]:.1f} %" in (
        source("plot_dirty_labels")
    )
    ratio = mean[OURS, "at random"] / mean[LR, "at random"]
    assert np.all((ratio[2:] > 0.5) & (ratio[2:] < 0.7))
    at = shares.index(0.075)
    assert mean[OURS, "the plain ones"][at] < mean[LR, "the plain ones"][at] / 3
    assert mean[OURS, "one-sided"][-1] > 20 and mean[LR, "one-sided"][-1] > 20
    assert mean[OURS, "the plain ones"][-1] < mean[LR, "the plain ones"][-1] / 3
    harm = [mean[LR, kind][at] for kind in ("at random", "one-sided", "the plain ones")]
    assert harm == sorted(harm)


@claim
def plot_asymmetric_costs(names):
    found, one_sided = names["found"], names["one_sided"]
    middle, half = found["α ≠ β, a + b/2"], found["α ≠ β, 1/2"]
    missed = [pair[0] for pair in middle]
    assert missed == sorted(missed, reverse=True) and missed[-1] < missed[0] / 2
    assert missed[0] - half[-1][0] < (missed[0] - missed[-1]) / 2
    clean = sum(half[0])
    assert sum(one_sided["logistic regression"]) > clean + 5
    assert abs(sum(one_sided["α ≠ β from the rates"]) - clean) < 1
    assert abs(sum(one_sided["LR, threshold (1 − 0.3)/2"]) - clean) < 1


@claim
def plot_calibration(names):
    figures = names["figures"]
    gap = {key: value[1] for key, value in figures.items()}
    loss = {key: value[2] for key, value in figures.items()}
    learned, cv = 'BBLRClassifier("learned")', "BBLRClassifierCV()"
    assert all(loss["clean", LR] <= value for (kind, _), value in loss.items() if kind == "clean")
    assert max(value for (kind, _), value in gap.items() if kind == "clean") < 0.02
    for name in ("BBLRClassifier()", learned, cv):
        assert gap["10 % outliers", name] / gap["10 % outliers", LR] < 0.2
        assert figures["10 % outliers", name][0] < figures["10 % outliers", LR][0] - 3
    flipped = [value[0] for (kind, _), value in figures.items() if "flipped" in kind]
    assert max(flipped) - min(flipped) < 0.5


@claim
def plot_sparse_kernels(names):
    errors, vectors, growth = names["errors"], names["vectors"], names["growth"]
    ours = "KernelBBLRClassifierCV, backward"
    assert vectors["SVC"] >= 7 * vectors[ours]
    assert errors[ours] < errors["SVC"] + 0.3
    assert growth["SVC"][-1] > 5 * growth["SVC"][0]
    assert max(growth["backward"]) < 20
    assert abs(names["by_count"][-1] - names["dense_error"]) < 0.3


@claim
def plot_proofs(names):
    proved, still_open, table = names["proved"], names["still_open"], names["table"]
    assert proved.optimal_ and proved.zero_one_loss_ == proved.lower_bound_ == 11
    assert not still_open.optimal_ and 0 < still_open.lower_bound_ < still_open.zero_one_loss_
    counted, argued = names["counted"], names["argued"]
    assert counted.optimal_ and argued.optimal_
    assert counted.zero_one_loss_ == argued.zero_one_loss_
    assert table["ZeroOneClassifier"][0] == min(training for training, _ in table.values())
    assert table["ZeroOneClassifier"][1] == max(held_out for _, held_out in table.values())
    assert abs(table[LR][1] - table[OURS][1]) < 6


@claim
def plot_entity_resolution(names):
    share, n_yes = names["share"], names["n_yes"]
    for name, ways in share.items():
        alone, offer, linked = ways.values()
        assert offer > alone + 3
        assert abs(linked - offer) < 1.5
        assert n_yes[name] < names["n_matches"]
    first, second = share.values()
    assert first["one pair at a time"] < second["one pair at a time"]


@claim
def plot_digits(names):
    ours, theirs = names["mean"][OURS], names["mean"][LR]
    assert theirs[0] < ours[0] < theirs[0] + 1
    assert np.all(ours[1:] < theirs[1:])
    assert 0.65 < ours[-1] / theirs[-1] < 0.85
    assert min(names["let_go"].values()) > 85


@claim
def plot_label_errors(names):
    found, flipped, hits = names["found"], names["flipped"], names["hits"]
    assert abs(found.n_errors - len(flipped)) < 20
    ours, plain, n = hits["digits, random mistakes"]
    assert abs(ours - plain) <= 3 and ours > 0.9 * n
    ours, plain, n = hits["tumours, a misfiled batch"]
    assert ours > 0.9 * n and plain < 0.6 * n


def source(name: str) -> str:
    return (GALLERY / f"{name}.py").read_text(encoding="utf-8")


def test_every_example_has_a_claim():
    assert {path.stem for path in GALLERY.glob("plot_*.py")} == set(CLAIMS)


@pytest.mark.parametrize("name", sorted(CLAIMS))
def test_example_runs_and_keeps_its_word(name, monkeypatch, capsys):
    import matplotlib.pyplot as plt

    drawn = []

    def show() -> None:
        for number in plt.get_fignums():
            figure = plt.figure(number)
            # What cannot be laid out or has no letter in the font warns only when it is drawn.
            figure.canvas.draw()
            drawn.append(number)
        plt.close("all")

    plt.switch_backend("agg")
    monkeypatch.setattr(plt, "show", show)
    with matplotlib.rc_context():
        names = runpy.run_path(str(GALLERY / f"{name}.py"))
    assert drawn and not plt.get_fignums()
    assert capsys.readouterr().out.strip()
    CLAIMS[name](names)
