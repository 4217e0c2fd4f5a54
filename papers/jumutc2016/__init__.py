"""Jumutc (2016): one script for each table or figure."""
