"""The font that the drawings make."""

from pathlib import Path
from typing import Any

from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.fontBuilder import FontBuilder
from fontTools.misc.timeTools import timestampFromString
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen

from midnight.lettering.letters import LETTERS, MARKS, Mark, letter_ss
from midnight.lettering.signs import FIGURES, SIGNS, figure_0
from midnight.lettering.strokes import LINE, Draw, Letter

FILE = Path(__file__).parent.parent / "static" / "midnight" / "deco.woff2"
EM = 1000
CAPITAL, SMALL = 700.0, 575.0
ASCENT, DESCENT = 960, 260
# A font says when it was made; ours is the same bytes from the same drawing.
BORN = timestampFromString("Wed Nov 18 00:00:00 2026")

# Pairs that would gape, closed by so many units of a capital.
PAIRS = {
    "AT": -70, "TA": -70, "AV": -70, "VA": -70, "AW": -45, "WA": -45, "AY": -80, "YA": -80, "LT": -80, "LV": -80,
    "LY": -90, "PA": -75, "FA": -60, "TO": -40, "OT": -40, "RT": -30, "RY": -40, "RV": -30, "LO": -40, "YO": -50,
    "OY": -50, "VO": -40, "OV": -40, "OA": -40, "AO": -40, "AC": -40, "CA": -30, "AG": -40, "KO": -40, "DA": -35,
    "TC": -40, "TG": -40, "EO": -15, "FO": -20, "XO": -40, "TJ": -60,
}  # fmt: skip


def drawn(draw: Draw, h: float) -> Letter:
    # A smaller letter has a slightly thinner line, or it would look bolder than its neighbours.
    g = Letter(h=h, line=LINE * (h / CAPITAL) ** 0.3)
    draw(g)
    return g


def marked(base: Letter, mark: Mark) -> Letter:
    over = Letter(h=base.h, line=base.line)
    mark(over, base.h)
    middle = base.w / 2
    # A mark that is wider than its letter needs room of its own.
    lack = max(0.0, base.line * 2.1 - middle - base.left)
    base.left, base.right = base.left + lack, base.right + lack
    base.contours += [
        [(word, *((x + middle, y) for x, y in points)) for word, *points in contour] for contour in over.contours
    ]
    return base


def alphabet() -> dict[str, Letter]:
    """Every character we draw."""
    glyphs: dict[str, Letter] = {}
    for height, case in ((CAPITAL, str.upper), (SMALL, str.lower)):
        for char, draw in LETTERS.items():
            glyphs[case(char)] = drawn(draw, height)
        for mark, made in MARKS.items():
            for char, base in made.items():
                glyphs[case(char)] = marked(drawn(LETTERS[base], height), mark)
    glyphs |= {"ẞ": drawn(letter_ss, CAPITAL), "ß": drawn(letter_ss, SMALL)}
    glyphs |= {str(number): drawn(draw, CAPITAL) for number, draw in enumerate(FIGURES)}
    glyphs |= {char: drawn(draw, CAPITAL) for char, draw in SIGNS.items()}
    for space, width in {" ": 0.36, "\u00a0": 0.36, "\u202f": 0.22}.items():
        glyphs[space] = Letter(h=CAPITAL, w=width * CAPITAL)
    return glyphs


def outline(letter: Letter) -> Any:
    pen = TTGlyphPen(None)
    curves = Cu2QuPen(pen, max_err=0.6, reverse_direction=False)
    for contour in letter.contours:
        for word, *points in contour:
            moved = [(x + letter.left, y) for x, y in points]
            {"move": curves.moveTo, "line": curves.lineTo, "curve": curves.curveTo}[word](*moved)
        curves.closePath()
    return pen.glyph()


def named(char: str) -> str:
    return f"uni{ord(char):04X}"


def kerning() -> str:
    """OpenType's words for PAIRS: capital to capital, capital to small, small to small."""
    lines = [
        f"pos {named(first)} {named(second)} {round(by * scale)};"
        for (one, two), by in ((tuple(pair), by) for pair, by in PAIRS.items())
        for first, second, scale in (
            (one, two, 1.0),
            (one, two.lower(), 0.9),
            (one.lower(), two.lower(), SMALL / CAPITAL),
        )
    ]
    return "feature kern {\n" + "\n".join(lines) + "\n} kern;"


def build() -> Any:
    """The font, as fontTools holds it."""
    glyphs = alphabet()
    builder = FontBuilder(EM, isTTF=True)
    builder.setupGlyphOrder([".notdef", *map(named, glyphs)])
    builder.setupCharacterMap({ord(char): named(char) for char in glyphs})
    shapes = {".notdef": outline(drawn(figure_0, CAPITAL)), **{named(char): outline(g) for char, g in glyphs.items()}}
    builder.setupGlyf(shapes)
    widths = {char: round(g.left + g.w + g.right) for char, g in glyphs.items()}
    sides = {named(char): (widths[char], round(g.left)) for char, g in glyphs.items()}
    builder.setupHorizontalMetrics({".notdef": (widths["0"], 0), **sides})
    builder.setupHorizontalHeader(ascent=ASCENT, descent=-DESCENT)
    builder.setupNameTable({"familyName": "Midnight Deco", "styleName": "Regular"})
    builder.setupOS2(
        sTypoAscender=ASCENT,
        sTypoDescender=-DESCENT,
        version=4,
        usWinAscent=ASCENT,
        usWinDescent=DESCENT,
        sCapHeight=round(CAPITAL),
        sxHeight=round(SMALL),
        fsSelection=0x40 | 0x80,
    )
    builder.setupPost()
    addOpenTypeFeaturesFromString(builder.font, kerning())
    builder.updateHead(created=BORN, modified=BORN)
    builder.font.recalcTimestamp = False
    for shape in builder.font["glyf"].glyphs.values():
        if shape.numberOfContours > 0:
            shape.flags[0] |= 0x40  # its contours overlap
    return builder.font
