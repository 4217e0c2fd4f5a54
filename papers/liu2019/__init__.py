"""Liu et al. (2019): one script for each table or figure."""
