"""Published tables of this family, computed again."""
