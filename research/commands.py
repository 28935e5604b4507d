"""Commands of the research harness, added to ``bblr`` by the entry point of this package."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from bblr.cli.app import Data, Drop, Jobs, Seed, Target, app, settings_of
from bblr.comparison.methods import FOLDS, REPEATS
from research.core import PAGE_OUTLIERS

Names = Annotated[list[str] | None, typer.Argument(metavar="NAME", show_default=False)]
Repeats = Annotated[int, typer.Option(help="Repeats of the cross-validation.")]
Plot = Annotated[Path, typer.Option(help="The figure, as .png or .svg.")]
Json = Annotated[
    Path | None,
    typer.Option("--json", help="Write figures, seed and versions here.", show_default=False),
]
Records = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.jsonl",
        help="Results as they come; run the same command again to resume from it.",
        show_default=False,
    ),
]


def _exit(work: Callable[[], int], **arguments: str) -> None:
    """Do the work of a command and end with its status."""
    from bblr.comparison.session import guarded

    raise typer.Exit(guarded(work, **arguments))


@app.command(rich_help_panel="Research")
def reproduce(
    names: Names = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A part of each protocol, in minutes; the default.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's protocols, in hours.")] = False,
    list_only: Annotated[
        bool, typer.Option("--list", help="Say what each is, needs and costs, and stop.")
    ] = False,
    jobs: Jobs = None,
    seed: Seed = 0,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Folder for report.html, tables.md and records.jsonl; run the same command "
            "again to resume from the records.",
        ),
    ] = Path("reproduction"),
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="FILE",
            help="Python file with METHODS or DATA of your own to add to every table.",
            show_default=False,
        ),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Fetch data that are not available.")
    ] = False,
) -> None:
    """Run the paper's tables and figures again and show them next to what was printed.

    NAME is a table or a figure, as --list names them; all when left out. Research data are
    looked for in the folder named by BBLR_DATA_HOME; what is missing is left out and named.
    Writes one report to open in a browser.
    """
    settings = settings_of(locals(), "names", "files")
    if settings.pop("quick") and full:
        typer.echo("Error: --quick and --full exclude each other; name one", err=True)
        raise typer.Exit(2)
    from research.paper.job import run_reproduce

    level: Any = "full" if settings.pop("full") else "quick"
    _exit(partial(run_reproduce, level=level, **settings), name="NAME")


@app.command(rich_help_panel="Research")
def claims(
    names: Names = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="Name the claims and their thresholds; run nothing.")
    ] = False,
    jobs: Jobs = None,
    repeats: Repeats = 10,
    seed: Seed = 0,
    records: Records = None,
    out: Json = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 where a figure misses its threshold.")
    ] = False,
) -> None:
    """Measure what the project claims of its classifiers, each figure against its threshold.

    NAME is a claim, a pattern or a family of claims; all when left out. The claims on web8 and
    TREC07p need these data in the folder named by BBLR_DATA_HOME and are skipped without.
    """
    settings = settings_of(locals(), "names")
    from research.claims import run_claims

    _exit(partial(run_claims, **settings), name="NAME")


@app.command(rich_help_panel="Research")
def zero_one(
    data: Data,
    target: Target = None,
    drop: Drop = None,
    solvers: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Solvers of bblr.ZeroOneClassifier, separated by commas; all that can take the "
            "data when left out.",
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="Seconds each solver may take.")
    ] = 60.0,
    seed: Annotated[int, typer.Option(help="Seed of random starts.")] = 0,
    intercept: Annotated[
        bool, typer.Option(" /--no-intercept", help="Only hyperplanes through the origin.")
    ] = True,
    plot: Plot = Path("zero-one.png"),
    records: Records = None,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Print loss, bound and gap whenever one improves."),
    ] = False,
) -> None:
    """Compare the solvers of the zero-one loss on the training errors of one data set.

    Prints a table of losses, lower bounds and times, and draws losses and bounds over time.
    """
    settings = settings_of(locals(), "drop")
    from research.studies.zero_one import run_zero_one

    _exit(partial(run_zero_one, **settings), data="DATA")


@app.command(rich_help_panel="Research")
def sparsity(
    data: Data,
    target: Target = None,
    drop: Drop = None,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="Numbers of training rows, separated by commas.",
            show_default="up to 16,000, half of them, a quarter ...",
        ),
    ] = None,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="Seed of the split, folds and draws.")] = 0,
    plot: Plot = Path("sparsity.png"),
    records: Records = None,
) -> None:
    """Compare the support vectors of sparse kernel BBLR with those of an SVM as data grow.

    DATA may be trec07p, too. Prints vectors and test errors, and draws them, the error by the
    number of vectors, and the weights before and after.
    """
    settings = settings_of(locals(), "drop")
    from research.studies.sparsity_job import run_sparsity

    _exit(partial(run_sparsity, **settings), data="DATA")


@app.command(rich_help_panel="Research")
def structured(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA",
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
    repeats: Repeats = REPEATS,
    folds: Annotated[int, typer.Option(help="Folds, by group.")] = FOLDS,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="Seed of pages, folds and flips.")] = 0,
    records: Records = None,
) -> None:
    """Compare joint decisions in groups of candidates with independent ones.

    Prints the paper's table for LR, BBLR3 and BBLR4 as local classifiers: candidates and whole
    groups decided right, alone, jointly and, for records to link, one to one, with McNemar
    tests. The records are looked for in the folder named by BBLR_DATA_HOME, then downloaded.
    """
    settings = settings_of(locals(), "data")
    from research.studies.structured import run_structured

    _exit(partial(run_structured, **settings), data="DATA")
