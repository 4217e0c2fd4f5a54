"""Multiple kernel learning: which kernels, over which features, and how much of each."""

__all__: list[str] = []
