"""The plot of `balance`, as SVG: plans' wins against their share, a panel for each rulebook."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from .balance import SHARES, Balance, average
from .prospects import PLANS

WIDTH, TOP, HEIGHT, GAP = 760, 72, 200, 90
LEFT, BAR = 60, 40
MOST = 2.0  # shares on the axis
TITLE = "How often each plan wins, against its share"
COLOURS = {"garage": "#2f6fd0", "office": "#7b3fb5", "safe": "#d9792b", "bags": "#8a6a3b"}
INK, FAINT = "#14213d", "#9aa3b5"


def drawn(balances: Sequence[Balance]) -> str:
    """The whole plot; what it says is in the table too."""
    rulebooks = list(dict.fromkeys(balance.rulebook for balance in balances))
    height = TOP + len(rulebooks) * (HEIGHT + GAP) - GAP // 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
        f'font-size="13" fill="{INK}">',
        f"<title>{TITLE}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fdf9ec"/>',
        f'<text x="{LEFT}" y="28" font-size="16" font-weight="bold">{TITLE}</text>',
    ]
    for row, rulebook in enumerate(rulebooks):
        parts += _panel(row * (HEIGHT + GAP) + TOP, [one for one in balances if one.rulebook == rulebook])
    return "\n".join([*parts, "</svg>\n"])


def _panel(top: int, balances: Sequence[Balance]) -> list[str]:
    parts = [f'<text x="{LEFT}" y="{top - 12}" font-weight="bold">{escape(balances[0].rulebook)}</text>']
    for share in (0.0, SHARES[0], 1.0, SHARES[1], MOST):
        y = _height_of(top, share)
        dashes = ' stroke-dasharray="4 4"' if share in SHARES else ""
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - 20}" stroke="{FAINT}"{dashes}/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{share:g}</text>')
    step = (WIDTH - LEFT - 20) / len(balances)
    for column, balance in enumerate(balances):
        parts += _bars(top, LEFT + column * step + (step - BAR * len(PLANS)) / 2, balance)
    return parts


def _bars(top: int, left: float, balance: Balance) -> list[str]:
    parts = []
    ground = _height_of(top, 0)
    for number, plan in enumerate(PLANS):
        share = balance.share(plan)
        x, y = left + number * BAR, _height_of(top, share.value)
        middle = x + BAR / 2
        low, high = _height_of(top, share.value - share.off), _height_of(top, share.value + share.off)
        parts.append(f'<rect x="{x + 3:.1f}" y="{y:.1f}" width="{BAR - 6}" height="{ground - y:.1f}" '
                     f'fill="{COLOURS[plan]}"><title>{plan}: {share}</title></rect>')  # fmt: skip
        parts.append(f'<path d="M{middle:.1f} {low:.1f}V{high:.1f}" stroke="{INK}"/>')
        parts.append(f'<text x="{middle:.1f}" y="{ground + 14:.1f}" text-anchor="middle" font-size="10">{plan}</text>')
    middle = left + BAR * len(PLANS) / 2
    words = f"{balance.players} players, {average(balance.rounds).value:.1f} rounds"
    parts.append(f'<text x="{middle:.1f}" y="{ground + 34:.1f}" text-anchor="middle">{words}</text>')
    return parts


def _height_of(top: int, share: float) -> float:
    return top + HEIGHT * (1 - min(max(share, 0.0), MOST) / MOST)
