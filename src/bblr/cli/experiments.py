"""Commands that compare and measure; the work is done in :mod:`bblr.experiments`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bblr.cli._app import Drop, Jobs, Seed, Target, app
from bblr.estimators.zero_one import SOLVERS
from bblr.experiments.defaults import (
    CLAIM_REPEATS,
    FOLDS,
    NOISE,
    OUT,
    PAGE_OUTLIERS,
    PROTOCOL,
    REPEATS,
)
from bblr.experiments.methods import METHODS


def _methods() -> str:
    return ", ".join(f"{method.name} ({method.estimator})" for method in METHODS.values())


@app.command()
def compare(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="breast, heart, liver, pima, or a CSV, Parquet or svmlight file; "
            "all four embedded sets when left out.",
            show_default=False,
        ),
    ] = None,
    target: Target = None,
    drop: Drop = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {_methods()}, with commas between.",
            show_default="all up to BBLR0",
        ),
    ] = None,
    noise: Annotated[
        float, typer.Option(help="Noisy rows as a fraction of the rows; 0 for clean data only.")
    ] = NOISE,
    protocol: Annotated[
        str, typer.Option(help="uniform-one-class, uniform-random or label-flip.")
    ] = PROTOCOL,
    noise_in: Annotated[
        str,
        typer.Option(help="training: in training folds only; everywhere: in all data."),
    ] = "training",
    repeats: Annotated[int, typer.Option(help="Repeats of the cross-validation.")] = REPEATS,
    folds: Annotated[int, typer.Option(help="Folds of each cross-validation.")] = FOLDS,
    jobs: Jobs = None,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="The report.")] = OUT,
    records: Annotated[
        Path | None,
        typer.Option(
            help="Results as they come, one JSON object a line; run the same command again to "
            "resume from it.",
            show_default="beside the report",
        ),
    ] = None,
) -> None:
    """Compare BBLR with logistic regression, a linear SVM and SLA, on clean and noisy data.

    Prints tables of errors, log-loss, training loss and McNemar tests, and writes a report to
    open in a browser.
    """
    from bblr.experiments.job import CompareJob, run_compare

    job = CompareJob(
        data=data,
        target=target,
        drop=tuple(drop or ()),
        methods=methods,
        noise=noise,
        protocol=protocol,
        noise_in=noise_in,
        repeats=repeats,
        folds=folds,
        jobs=jobs,
        seed=seed,
        out=out,
        records=records,
    )
    raise typer.Exit(run_compare(job))


@app.command()
def claims(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Claims to check; all when left out.", show_default=False
        ),
    ] = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="Name the claims and their bars; run nothing.")
    ] = False,
    jobs: Jobs = None,
    repeats: Annotated[int, typer.Option(help="Repeats of the cross-validation.")] = CLAIM_REPEATS,
    seed: Seed = 0,
    records: Annotated[
        Path | None,
        typer.Option(
            help="Results of the cross-validation as they come; run the same command again to "
            "resume from it.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--json", help="Write figures, seeds and versions here.", show_default=False),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 where a figure misses its bar.")
    ] = False,
) -> None:
    """Measure what the project claims of its classifiers, beside the bar of each figure.

    The claims on web8 and TREC07p need these data in the folder named by BBLR_DATA_HOME and are
    skipped without.
    """
    from bblr.experiments.claims.job import ClaimsJob, run_claims

    job = ClaimsJob(
        names=tuple(names or ()),
        list_only=list_only,
        jobs=jobs,
        repeats=repeats,
        seed=seed,
        records=records,
        out=out,
        strict=strict,
    )
    raise typer.Exit(run_claims(job))


@app.command()
def zero_one(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="breast, heart, liver, pima, or a CSV, Parquet or svmlight file.",
        ),
    ],
    target: Target = None,
    drop: Drop = None,
    solvers: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {','.join(SOLVERS)}; all that can take the data when left out.",
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="Seconds each solver may take.")
    ] = 60.0,
    seed: Annotated[int, typer.Option(help="Decides random starts.")] = 0,
    no_intercept: Annotated[
        bool, typer.Option("--no-intercept", help="Only hyperplanes through the origin.")
    ] = False,
    plot: Annotated[
        Path, typer.Option(help="Losses and bounds over time, as .png or .svg.")
    ] = Path("zero-one.png"),
    out: Annotated[
        Path | None,
        typer.Option("--json", help="Write figures, seed and versions here.", show_default=False),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Print loss, bound and gap whenever one improves."),
    ] = False,
) -> None:
    """Compare the solvers of the zero-one loss on the training errors of one data set.

    Prints a table of losses, lower bounds and times, and draws losses and bounds over time.
    """
    from bblr.experiments.zero_one import ZeroOneJob, run_zero_one

    job = ZeroOneJob(
        data=data,
        target=target,
        drop=tuple(drop or ()),
        solvers=solvers,
        time_limit=time_limit,
        seed=seed,
        intercept=not no_intercept,
        plot=plot,
        out=out,
        verbose=verbose,
    )
    raise typer.Exit(run_zero_one(job))


@app.command()
def sparsity(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="breast, heart, liver, pima, trec07p, or a CSV, Parquet or svmlight file.",
        ),
    ],
    target: Target = None,
    drop: Drop = None,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Training rows to take, with commas between.",
            show_default="up to 16,000, half of them, a quarter ...",
        ),
    ] = None,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="Decides the split, folds and draws.")] = 0,
    plot: Annotated[Path, typer.Option(help="The figure, as .png or .svg.")] = Path(
        "sparsity.png"
    ),
    out: Annotated[
        Path | None,
        typer.Option("--json", help="Write figures, seed and versions here.", show_default=False),
    ] = None,
) -> None:
    """Compare the support vectors of sparse kernel BBLR with those of an SVM as data grow.

    Prints vectors and test errors, and draws them, the error by the number of vectors, and the
    weights before and after.
    """
    from bblr.experiments.sparsity_job import SparsityJob, run_sparsity

    job = SparsityJob(
        data=data,
        target=target,
        drop=tuple(drop or ()),
        rows=rows,
        jobs=jobs,
        seed=seed,
        plot=plot,
        out=out,
    )
    raise typer.Exit(run_sparsity(job))


@app.command()
def structured(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA]...",
            help="Some of dblp-acm, amazon-google and pages; all when left out.",
            show_default=False,
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Local classifiers, some of LR,BBLR3,BBLR4; all when left out.",
            show_default=False,
        ),
    ] = None,
    outliers: Annotated[
        float, typer.Option(help="Share of faces on pages whose features lie far out.")
    ] = PAGE_OUTLIERS,
    flips: Annotated[float, typer.Option(help="Share of wrong labels in training folds.")] = 0.0,
    repeats: Annotated[int, typer.Option(help="Repeats of the cross-validation.")] = REPEATS,
    folds: Annotated[int, typer.Option(help="Folds, by group.")] = FOLDS,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="Decides pages, folds and flips.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--json", help="Write figures, seed and versions here.", show_default=False),
    ] = None,
) -> None:
    """Compare joint decisions in groups of candidates with independent ones.

    Prints the paper's table for LR, BBLR3 and BBLR4 as local classifiers: candidates and whole
    groups decided right, alone, jointly and, for records to link, one to one, with McNemar
    tests. The records are looked for in the folder named by BBLR_DATA_HOME, then downloaded.
    """
    from bblr.experiments.structured_job import StructuredJob, run_structured

    job = StructuredJob(
        data=tuple(data or ()),
        methods=methods,
        outliers=outliers,
        flips=flips,
        repeats=repeats,
        folds=folds,
        jobs=jobs,
        seed=seed,
        out=out,
    )
    raise typer.Exit(run_structured(job))
