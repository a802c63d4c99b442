"""The views of `datatypes`: the model as formulas, for each way and each cache level that its data tell."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.models.effects._layouts import (
    COPIED_TERM,
    ELEMENT_TERM,
    KERNEL_BLOCKS,
    KERNEL_TERM,
    LEAST_LAYOUTS,
    NEAR,
    PAGE_TERM,
    SETUP_TERM,
    SHORT_TERM,
    STORED_B,
    STRIDED_TERM,
    LayoutFit,
)
from hockney.models.effects._shapes import MEMORY, Shape
from hockney.models.effects._wording import above, below, latex, time, times, times_latex
from hockney.models.views import Statement, Views
from hockney.statistics import Array
from hockney.units import format_bytes

SOURCE = "Hoefler et al. 2010, section 3"


def add_views(
    views: Views, way: str, fitted: LayoutFit, bound_s: float, shapes: Sequence[Shape], time_s: Array
) -> None:
    """Adds those of one way; `bound_s`: the dearest access to a line. The bounds hold what was measured."""
    views.asymptotic.append(
        Statement(
            text="T(n, B, l, p) = Θ(n + B + l + p)",
            latex=r"T(n, B, \ell, p) = \Theta(n + B + \ell + p)",
            where=way,
        )
    )
    lines = _lines(fitted)
    if lines:
        label, line_s, page_s = lines[-1]
        views.dominant.append(
            Statement(
                text=f"T ≈ T_contiguous(n) + {time(line_s + page_s)} · l",
                latex=rf"T \approx T_c(n) + {latex(line_s + page_s)} \cdot \ell",
                where=f"{way}, blocks far apart, each in a page of its own, lines in {label}",
            )
        )
    costs, limit = fitted.costs, _limit(fitted)
    setup_s, element_s = (costs.terms.get(name, 0.0) for name in (SETUP_TERM, ELEMENT_TERM))
    common = f"T_contiguous(n) + {time(setup_s)} + {time(element_s)} · e"
    common_latex = rf"T_c(n) + {latex(setup_s)} + {latex(element_s)} \cdot e"
    measured = list(zip(shapes, time_s, strict=True))
    low = below(float(each_s) / costs.contiguous_s(shape.bytes) for shape, each_s in measured)
    high = above(float(each_s) / (costs.common_s(shape) + bound_s * shape.accesses) for shape, each_s in measured)
    least, least_latex = times(low, "T_contiguous(n)"), times_latex(low, "T_c(n)")
    most = times(high, f"{common} + {time(bound_s)} · a")
    most_latex = times_latex(high, rf"{common_latex} + {latex(bound_s)} \cdot a")
    views.bounded.append(
        Statement(
            text=f"{least} ≤ T ≤ {most}",
            latex=rf"{least_latex} \le T \le {most_latex}",
            where=f"{way}, every layout measured; e elements; a: accesses, a block and a line of 64 B that it "
            f"touches{limit}",
            source=SOURCE,
        )
    )
    for where, blocks in _blocks(fitted):
        for label, line_s, page_s in lines:
            counted = [*blocks, (line_s, "l", r"\ell")] + ([] if label in NEAR else [(page_s, "p", "p")])
            views.exact.append(
                Statement(
                    text=" + ".join(
                        [f"T = {common}", *(f"{time(each_s)} · {name}" for each_s, name, _ in counted)]
                    ),
                    latex=" + ".join(
                        [
                            rf"T = {common_latex}",
                            *(rf"{latex(each_s)} \cdot {name}" for each_s, _, name in counted),
                        ]
                    ),
                    where=f"{way}, {where}; e elements; beyond those of a contiguous message B blocks, C of them "
                    f"longer than {STORED_B} B, l lines, p pages{limit}; lines in {label}",
                )
            )


def _blocks(fitted: LayoutFit) -> list[tuple[str, list[tuple[float, str, str]]]]:
    """Which blocks, and (seconds, symbol, the same in LaTeX) of what they cost, by each protocol."""
    terms, switch_B = fitted.costs.terms, fitted.costs.switch_B
    strided, short, kernel = (
        (terms.get(name, 0.0), "B", "B") for name in (STRIDED_TERM, SHORT_TERM, KERNEL_TERM)
    )
    copied = (terms.get(COPIED_TERM, 0.0), "C", "C")
    if switch_B is None:
        return [("blocks at a stride", [strided, copied])]
    size = format_bytes(switch_B)
    return [
        (f"less than {size}", [short, copied]),
        (f"{size} or more in up to {KERNEL_BLOCKS} blocks at a stride", [kernel]),
        (f"{size} or more in more blocks at a stride", [strided, copied]),
    ]


def _limit(fitted: LayoutFit) -> str:
    names = (SETUP_TERM, ELEMENT_TERM, STRIDED_TERM, COPIED_TERM, PAGE_TERM, SHORT_TERM, KERNEL_TERM)
    untold = [name for name in names if name in fitted.entangled]
    # Their sum is right at the sizes measured, whatever share each of them has.
    return f"; only at the sizes measured, {', '.join(untold)} cannot be told apart" if untold else ""


def _lines(fitted: LayoutFit) -> list[tuple[str, float, float]]:
    """(level, seconds a line, a page) of the levels that the data tell, innermost first."""
    terms = fitted.costs.terms
    levels = [*(name for name, _ in fitted.costs.levels), MEMORY]
    return [
        (level, terms[f"line_{level}_s"], 0.0 if level in NEAR else terms.get(PAGE_TERM, 0.0))
        for level in levels
        if fitted.layouts_at.get(f"line_{level}_s", 0) >= LEAST_LAYOUTS
        and f"line_{level}_s" not in fitted.entangled
    ]
