"""An option is said once, at the field of a model: its flag, its help, how it is read, what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from pydantic import BaseModel, Field
from typer.testing import CliRunner

from hockney.errors import RequestError
from hockney.fields import Argument, Option, Without, checked, flags_written
from hockney.terminal.options import flattened
from hockney.units import parse_time, whole, words


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
    oven: Annotated[str, Option("Which one.", panel="The kitchen")] = "gas"
    hidden: str = "not an option"


class Eating(BaseModel):
    guests: Annotated[int | None, Option("Who eat.")] = None
    drink: Annotated[Literal["water", "wine"] | None, Option("water or wine.")] = None


class Shopping(BaseModel):
    goods: Annotated[list[Path], Argument("What is bought.", metavar="GOOD")]
    at: Annotated[str, Option("Where.", flags=("--at", "-a"))]


class Travelling(BaseModel):
    to: Annotated[str, Argument("Where to.")] = "Rome"


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


@app.command("shop")
@flattened
def shop(shopping: Shopping) -> None:
    """The shopping."""
    seen.update(shopping=shopping)


@app.command("trip")
@flattened
def trip(travelling: Travelling) -> None:
    """A trip."""
    seen.update(travelling=travelling)


def call(*words: str) -> Any:
    return CliRunner().invoke(app, words, env={"COLUMNS": "120", "TERM": "dumb"})


def run(*words: str) -> Any:
    return call("dinner", *words)


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
    assert text.index("The kitchen") < text.index("Which one.")
    assert text.index("Repeat for several.") < text.index("The kitchen"), "headings come after what has none"
    for said in ("DISH", "How long. [default: 60s]", "1<=x<=9", "Repeat for several.", "Who eat.", "Sing."):
        assert said in text
    assert "--lid" not in text, "the verb sets it itself"
    assert "--hidden" not in text


def test_an_argument_that_is_a_list_takes_all_words_and_at_least_one() -> None:
    assert call("shop", "milk", "--at", "home", "bread").exit_code == 0
    assert seen["shopping"].goods == [Path("milk"), Path("bread")]
    assert call("shop", "--at", "home").exit_code == 2
    assert "{GOOD}..." in call("shop", "--help").output


def test_an_argument_with_a_default_may_be_left_out() -> None:
    assert call("trip").exit_code == 0
    assert seen["travelling"] == Travelling(to="Rome")
    assert seen["travelling"].model_fields_set == set()
    assert call("trip", "Oslo").exit_code == 0
    assert seen["travelling"].to == "Oslo"
    usage = call("trip", "--help").output
    assert "[TO]" in usage
    assert "[default: Rome]" in usage


def test_options_that_were_written_are_named_as_they_are_called() -> None:
    assert flags_written(Cooking(dish=Path("soup"), time_s=60.0)) == {"dish": "DISH", "time_s": "--time"}


def test_a_word_that_may_be_left_out_is_one_of_those_known() -> None:
    assert run("soup", "--drink", "wine").exit_code == 0
    assert seen["eating"].drink == "wine"
    done = run("soup", "--drink", "wane")
    assert isinstance(done.exception, RequestError)
    assert (done.exception.message, done.exception.hint) == (
        "unknown --drink 'wane'",
        "did you mean 'wine'? known: water, wine",
    )


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


def test_a_path_without_a_name_is_not_the_present_folder() -> None:
    done = run("")
    assert isinstance(done.exception, RequestError)
    assert done.exception.message == "DISH: '' names nothing"
    assert run(".").exit_code == 0
    assert seen["cooking"].dish == Path()


def test_one_of_several_paths_without_a_name_is_not_the_present_folder() -> None:
    done = call("shop", "milk", "", "--at", "home")
    assert isinstance(done.exception, RequestError)
    assert done.exception.message == "GOOD: '' names nothing"
    assert call("shop", "milk", ".", "--at", "").exit_code == 0
    assert seen["shopping"] == Shopping(goods=[Path("milk"), Path()], at="")


class Serving(BaseModel):
    sizes: Annotated[list[int], Option("How large.", flags=("--size",), read=whole, repeat=True, commas=True)] = (
        Field(default_factory=list)
    )
    colours: Annotated[list[str], Option("Which.", flags=("--colour",), read=words)] = ["red"]


@app.command("serve")
@flattened
def serve(serving: Serving) -> None:
    """A table."""
    seen.update(serving=serving)


@pytest.mark.parametrize("written", [["1,2", "3"], ["1", "2", "3"], ["1,2,3"]])
def test_several_are_written_with_commas_or_one_after_the_other(written: list[str]) -> None:
    sizes = [word for size in written for word in ("--size", size)]
    colours = [word for colour in written for word in ("--colour", colour)]
    assert call("serve", *sizes, *colours).exit_code == 0
    assert seen["serving"] == Serving(sizes=[1, 2, 3], colours=["1", "2", "3"])


def test_of_several_none_is_the_default_and_an_empty_one_is_refused() -> None:
    assert call("serve").exit_code == 0
    assert seen["serving"].colours == ["red"]
    for written in (["--colour", ""], ["--size", ""]):
        assert isinstance(call("serve", *written).exception, RequestError)
