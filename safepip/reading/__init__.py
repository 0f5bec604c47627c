"""Looks: opens files for reading. Nothing of the target is imported or run."""
