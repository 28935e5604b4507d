"""What the records of the panorama say: pooled figures, targets, and the pages that show them."""
