"""How fast pages are on a phone, scored as Lighthouse does; with `--long` every kind of page, else one of them."""

import json
from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async

from tests.browser import scores
from tests.browser.addresses import page_addresses, sort_by_role
from tests.browser.conftest import OpenPage
from tests.browser.loading import PHONE, Load, load, slow_down
from tests.browser.watch import SCREENSHOTS
from tests.games.everybody import house

# Beside other work a page is slower: only --long, alone on a quiet machine, holds us to it.
LEAST = 95
LOADS = 3


@pytest.mark.parametrize(
    ("curve", "figure", "expected"),
    [
        (scores.FIRST_PAINT, 1_800, 0.9),
        (scores.LARGEST_PAINT, 4_000, 0.5),
        (scores.BLOCKED, 0, 1.0),
        (scores.SHIFT, 0.1, 0.9),
        (scores.SPEED_INDEX, 5_800, 0.5),
    ],
)
async def test_a_figure_is_scored_by_its_curve(curve: scores.Curve, figure: float, expected: float) -> None:
    assert curve.score(figure) == pytest.approx(expected, abs=0.001)


@pytest.mark.alone
async def test_pages_are_as_fast_on_a_phone_as_promised(
    open_page: OpenPage, so_often: Callable[[int, int], int]
) -> None:
    there = await sync_to_async(house)()
    page = await open_page(**PHONE)
    found = await sort_by_role(await sync_to_async(page_addresses)(there), {"visitor": page})
    await slow_down(page, scores.LINE, scores.SLOWER)
    told: dict[str, dict[str, float]] = {}
    for where in found["visitor"][: so_often(1, len(found["visitor"]))]:
        loads = [await load(page, where, quiet_ms=500) for _ in range(so_often(1, LOADS))]
        told[where] = _figures(sorted(loads, key=scores.score)[len(loads) // 2])
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    (SCREENSHOTS.parent / "scores.json").write_text(json.dumps(told, indent=1))
    assert all(one["shift"] <= 0.02 and one["first paint"] > 0 for one in told.values()), told
    slow = {where: one for where, one in told.items() if one["score"] < so_often(0, LEAST)}
    assert not slow, slow


def _figures(one: Load) -> dict[str, float]:
    return {
        "score": scores.score(one),
        "first paint": round(one.first_paint),
        "largest paint": round(one.largest_paint),
        "blocked": round(one.blocked_ms),
        "shift": round(one.shift, 3),
    }
