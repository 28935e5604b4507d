"""The order of the examples in the gallery: what most people come for first."""

from __future__ import annotations

__all__ = ["InOrder"]

ORDER = (
    "outliers",
    "dirty_labels",
    "label_errors",
    "calibration",
    "digits",
    "asymmetric_costs",
    "sparse_kernels",
    "proofs",
    "entity_resolution",
)


class InOrder:
    """A key to sort file names by; one that is not named above comes after them all."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> tuple[int, str]:
        """Return the place of a file."""
        stem = name.removeprefix("plot_").removesuffix(".py")
        return (ORDER.index(stem) if stem in ORDER else len(ORDER), name)

    def __repr__(self) -> str:
        return "InOrder"
