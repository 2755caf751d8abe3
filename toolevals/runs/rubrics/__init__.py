"""Keep a project's rubrics, and try them on a few cases before they are used."""
