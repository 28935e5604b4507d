"""The paper's tables and figures, each run anew and shown beside what was printed."""
