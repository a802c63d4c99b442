"""Files with a version of their form: read whole or refused, with what is wrong first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from hockney import reading, writing
from hockney.errors import RequestError
from hockney.records.answers import first_problem

SCHEMA_VERSION = 1
Form = TypeVar("Form", bound=BaseModel)


def load(kind: type[Form], path: Path, what: str, field: str, hint: str) -> Form:
    """The file as `kind`; RequestError where it cannot be read, is no JSON, is newer, or is no such thing.

    `field` is what every `what` has beside its version.
    """
    data = reading.json_file(path, hint)
    if not isinstance(data, dict) or not {"schema_version", field} <= data.keys():
        raise RequestError(f"{path} is no {what} (no schema_version and {field})", hint)
    reading.expect_version(data["schema_version"], SCHEMA_VERSION, path)
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise RequestError(f"{path}: {first_problem(error)}".replace("Value error, ", ""), hint) from error


def find(kind: type[Form], file: Path, hint: str) -> Form | None:
    """A file of a campaign's folder; None where there is none, RequestError where it is damaged."""
    try:
        return kind.model_validate_json(reading.content(file, within=file.parent))
    except reading.Absent:
        return None
    except ValidationError as error:
        raise RequestError(f"{file} is damaged ({first_problem(error)})", hint) from error


def write(file: Path, content: BaseModel) -> None:
    """NotWritten where the file cannot be."""
    writing.replace(file, json.dumps(content.model_dump(), indent=1, ensure_ascii=False) + "\n")
