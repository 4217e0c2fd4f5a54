"""Classes, and rows that belong to none of them."""

__all__: list[str] = []
