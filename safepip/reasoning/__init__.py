"""Decides: plain functions from values to values. Opens nothing, runs nothing, reads no clock."""
