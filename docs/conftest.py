"""Pages are run, their examples that is; what makes a site of them, and what is made anew, are not."""

collect_ignore_glob = ["*.py", "_site/*", "figures/*", "gallery/*", "api/*"]
