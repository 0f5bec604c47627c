"""The loader: what glibc or musl would load for an object, by which step, and what a change takes from whom."""
