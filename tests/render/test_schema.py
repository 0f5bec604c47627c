"""The shipped JSON Schema: every report that a journey reads is held against it (support.sandbox); here, that it can fail."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from safepip.errors import SafepipError
from safepip.render import document

ERROR = json.loads(document.dump_error(SafepipError("odd", "it is odd", "")))


@pytest.fixture
def schema() -> Any:
    return json.loads((files("safepip.render") / "schema.json").read_text("utf-8"))


def test_the_schema_is_one_and_takes_an_error(schema: Any) -> None:
    Draft202012Validator.check_schema(schema)
    assert Draft202012Validator(schema).is_valid(ERROR)


@pytest.mark.parametrize("odd", [{"schema": 2}, {"error": {"reference": "odd"}}, {"error": "odd"}])
def test_a_report_that_lacks_or_alters_a_key_does_not_fit(schema: Any, odd: dict[str, object]) -> None:
    assert not Draft202012Validator(schema).is_valid({**ERROR, **odd})
