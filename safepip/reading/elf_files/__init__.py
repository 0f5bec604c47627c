"""ELF objects, and how the loader that reads them is configured."""
