"""Few labels, many rows without, and rows that belong to no class."""

__all__: list[str] = []
