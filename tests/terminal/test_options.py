"""An option is said once, at the field of a model: its flag, its help, how it is read, what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from pydantic import BaseModel, Field
from typer.testing import CliRunner

from hockney.errors import RequestError
from hockney.options import Argument, Option, checked
from hockney.terminal.options import Without, flattened
from hockney.units import parse_time


class Cooking(BaseModel):
    dish: Annotated[Path, Argument("What is cooked.", metavar="DISH")]
    time_s: Annotated[
        float, Option("How long.", flags=("--time",), read=parse_time, show="{:g}s".format), Field(gt=0)
    ] = 60.0
    cooks: Annotated[int, Option("How many."), Field(ge=1, le=9)] = 2
    spices: Annotated[list[str], Option("Repeat for several.", flags=("--spice", "-s"))] = Field(
        default_factory=list
    )
    heat: Annotated[Literal["low", "high"], Option("low or high.")] = "low"
    lid: Annotated[bool, Option("Put it on.")] = True
    hidden: str = "not an option"


class Eating(BaseModel):
    guests: Annotated[int | None, Option("Who eat.")] = None


seen: dict[str, Any] = {}
app = typer.Typer()


@app.callback()
def root() -> None: ...


@app.command("dinner")
@flattened
def dinner(
    cooking: Annotated[Cooking, Without("lid")],
    eating: Eating,
    loud: Annotated[bool, typer.Option("--loud", help="Sing.")] = False,
) -> None:
    """A dinner."""
    seen.update(cooking=cooking, eating=eating, loud=loud)


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["dinner", *words], env={"COLUMNS": "120", "TERM": "dumb"})


def test_what_was_written_reaches_the_models_and_nothing_else() -> None:
    done = run("soup", "--time", "3min", "-s", "salt", "--spice", "pepper", "--guests", "4", "--loud")
    assert done.exit_code == 0, done.output
    cooking, eating = seen["cooking"], seen["eating"]
    assert (cooking.dish, cooking.time_s, cooking.spices) == (Path("soup"), 180.0, ["salt", "pepper"])
    assert (cooking.cooks, cooking.heat, cooking.lid) == (2, "low", True)
    assert cooking.model_fields_set == {"dish", "time_s", "spices"}
    assert (eating.guests, seen["loud"]) == (4, True)


def test_a_default_that_is_written_counts_as_written() -> None:
    run("soup", "--cooks", "2")
    assert seen["cooking"].model_fields_set == {"dish", "cooks"}


def test_the_help_says_what_the_models_say() -> None:
    text = run("--help").output
    for said in ("DISH", "How long. [default: 60s]", "1<=x<=9", "Repeat for several.", "Who eat.", "Sing."):
        assert said in text
    assert "--lid" not in text, "the verb sets it itself"
    assert "--hidden" not in text


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"time_s": "soon"}, "--time: 'soon' is not a time"),
        ({"time_s": "0s"}, "--time '0s': Input should be greater than 0"),
        ({"heat": "hot"}, "unknown --heat 'hot'"),
    ],
)
def test_an_error_names_the_option_as_it_is_written(written: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError) as error:
        checked(Cooking, {"dish": "soup", **written}, "dinner")
    assert error.value.message == message
