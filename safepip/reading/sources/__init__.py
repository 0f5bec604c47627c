"""Python sources: what they import, read without running any of it."""
