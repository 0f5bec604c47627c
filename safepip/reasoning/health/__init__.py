"""Answers about a whole environment: why, audit, doctor."""
