"""Lines of shell, and the removals in them."""
