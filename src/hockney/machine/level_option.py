"""The option of every verb that can take the mixture of all levels of the machine instead of its common one."""

from __future__ import annotations

from typing import Annotated

from hockney.fields import Option

AnyLevel = Annotated[bool, Option(flags=("--any-level",))]
