"""How the site is built: Sphinx, MyST for Markdown, furo for looks."""

from importlib.metadata import version as installed

project = "Opwright"
author = "the Opwright authors"
copyright = "the Opwright authors, BSD-3-Clause"
version = release = installed("opwright")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Opwright {version}"
myst_heading_anchors = 3
nitpicky = True
