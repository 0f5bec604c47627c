"""Tests that fetch gigabytes: run by hand, `pytest -m large tests/large`."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "large" not in (config.getoption("-m") or ""):
        for item in items:
            if item.get_closest_marker("large"):
                item.add_marker(pytest.mark.skip(reason="fetches gigabytes; run with -m large"))
