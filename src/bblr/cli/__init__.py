"""The command line: arguments only; the work is done in other parts."""

from importlib.metadata import entry_points

from bblr.cli.app import app

# isort: split
# After the above, which says what to install where typer is missing.
from bblr.cli import compare_command, file_commands  # noqa: F401

__all__ = ["app", "main"]

# Other packages add commands of their own: a module of this group is imported and registers them.
for _added in entry_points(group="bblr.commands"):
    _added.load()


def main() -> None:
    """Run the command line."""
    app()
