"""The command that runs the paper anew; the work is done in :mod:`bblr.experiments.paper`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bblr.cli._app import Jobs, Seed, app
from bblr.experiments.defaults import REPRODUCTION


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Tables and figures, as --list names them; all when left out.",
            show_default=False,
        ),
    ] = None,
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
    ] = REPRODUCTION,
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
        bool, typer.Option("--download", help="Fetch data that are not at hand.")
    ] = False,
) -> None:
    """Run the paper's tables and figures anew and show them beside what was printed.

    Research data are looked for in the folder named by BBLR_DATA_HOME; what is missing is left
    out and named. Writes one report to open in a browser.
    """
    if quick and full:
        typer.echo("Error: --quick and --full exclude each other; name one", err=True)
        raise typer.Exit(2)
    from bblr.experiments.paper.job import ReproduceJob, run_reproduce

    job = ReproduceJob(
        names=tuple(names or ()),
        level="full" if full else "quick",
        list_only=list_only,
        jobs=jobs,
        seed=seed,
        out=out,
        files=tuple(files or ()),
        download=download,
    )
    raise typer.Exit(run_reproduce(job))
