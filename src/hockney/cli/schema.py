"""`hockney schema`: print the JSON Schema of a verb's `--json` output."""

from __future__ import annotations

from hockney import api
from hockney.options.schema import SchemaOptions
from hockney.terminal import JsonOption, say, verb


@verb("schema", examples="hockney schema\nhockney schema fit\nhockney schema predict bcast > bcast.schema.json")
def schema_(options: SchemaOptions, as_json: JsonOption = False) -> None:
    """Print the JSON Schema (draft 2020-12) of what a verb prints with --json, its errors included.

    A schema's version grows where a key goes or changes what it means; keys may be added within a version.
    """
    if options.words:
        say.json(api.schema_of(" ".join(options.words)))
        return
    answer = api.schemas()
    if as_json:
        say.json(answer)
    else:
        for name in answer.verbs:
            say.line(name)
