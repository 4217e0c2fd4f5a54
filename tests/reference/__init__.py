"""The papers in NumPy: slow, dense, obvious. Written without looking at the compiled learners, which must agree."""
