"""The harness: what all experiments share."""

__all__ = ["PAGE_OUTLIERS"]

# Far-off faces on simulated pages: about one in eight.
PAGE_OUTLIERS = 0.12
