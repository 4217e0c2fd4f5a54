"""Tan et al. (2016): one script for each table or figure."""
