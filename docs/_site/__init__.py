"""What makes a site of these pages: API pages, pages of the repository, the command line, formulas, links to names."""
