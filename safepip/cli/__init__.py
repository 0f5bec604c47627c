"""A command line into a command, and a report onto a stream."""
