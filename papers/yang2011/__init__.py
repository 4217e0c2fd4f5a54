"""Yang (2011): one script for each table or figure."""
