"""Acts: the only package that changes the system."""
