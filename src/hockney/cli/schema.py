"""`hockney schema`: the JSON Schema of what a verb prints with `--json`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from hockney.errors import RequestError
from hockney.fields import Argument
from hockney.registry import did_you_mean
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later

with later():
    from hockney.api.answers.base import VERSION, answers, schema


class SchemaOptions(BaseModel):
    """Which verb."""

    words: Annotated[
        list[str], Argument("A verb, such as `fit` or `predict bcast`. [default: name all]", metavar="VERB")
    ] = Field(default_factory=list)


@verb("schema", examples="hockney schema\nhockney schema fit\nhockney schema predict bcast > bcast.schema.json")
def schema_(options: SchemaOptions, as_json: JsonOption = False) -> None:
    """Print the JSON Schema (draft 2020-12) of what a verb prints with --json, its errors included.

    A schema's version grows where a key goes or changes what it means; keys may be added within a version.
    """
    known, wanted = answers(), " ".join(options.words)
    if not wanted:
        if as_json:
            say.json({"version": VERSION, "verbs": list(known)})
        else:
            for name in known:
                say.line(name)
        return
    if wanted not in known:
        raise RequestError(
            f"there is no verb {wanted!r}", f"{did_you_mean(wanted, known)}`hockney schema` names all"
        )
    say.json(schema(wanted))
