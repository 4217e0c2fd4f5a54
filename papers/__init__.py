"""Published tables and figures, computed again: one script each, in a folder for each paper."""
