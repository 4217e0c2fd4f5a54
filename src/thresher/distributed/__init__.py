"""The same learners on many machines."""
