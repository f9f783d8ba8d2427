"""What pytest is not to import here."""

collect_ignore = ["under_atheris.py"]
"""It needs atheris, which is not everywhere."""
