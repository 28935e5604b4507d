"""The paper's tables and figures, each run again and shown next to what was printed."""
