"""The command line: arguments only; the work is done in other parts."""

from bblr.cli._app import app

# isort: split
# After the above, which says what to install where typer is missing.
from bblr.cli import experiments, files, reproduce  # noqa: F401

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    app()
