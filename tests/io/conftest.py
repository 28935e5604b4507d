"""What files share with the commands that read and write them."""

from tests.cli.conftest import folder, tables

__all__ = ["folder", "tables"]
