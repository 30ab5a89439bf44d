"""Figures and signs."""

from midnight.lettering.strokes import WAIST, Draw, Letter

# Figures: all of one width, so that columns and clocks stand still.


def figure(g: Letter) -> None:
    g.set(g.h * 0.6, g.BOWL)


def figure_0(g: Letter) -> None:
    figure(g)
    g.arc(g.w / 2, g.h / 2, g.w / 2, g.h / 2)


def figure_1(g: Letter) -> None:
    figure(g)
    g.stem(g.w * 0.5, 0, g.h)
    g.slant(g.w * 0.16, g.h * 0.76, g.w * 0.5 + g.line / 2, g.h)


def figure_2(g: Letter) -> None:
    figure(g)
    r = g.w / 2
    g.arc(r, g.h - r, r, r, -22, 165)
    g.bar(0, g.w, g.line / 2)
    g.slant(g.line * 0.75, g.line / 2, g.w - g.line * 0.72, g.h - r * 1.28)


def figure_3(g: Letter) -> None:
    figure(g)
    lower, upper = (g.h + g.line) * 0.27, (g.h + g.line) * 0.23
    g.arc(g.w * 0.48, g.h - upper, g.w * 0.45, upper, -90, 150)
    g.arc(g.w / 2, lower, g.w / 2, lower, -150, 90)
    g.bar(g.w * 0.32, g.w * 0.5, 2 * lower - g.line / 2)


def figure_4(g: Letter) -> None:
    figure(g)
    g.stem(g.w * 0.66, 0, g.h)
    g.bar(0, g.w, g.h * 0.24)
    g.slant(g.line * 0.55, g.h * 0.24, g.w * 0.66 + g.line * 0.4, g.h)


def figure_5(g: Letter) -> None:
    figure(g)
    r = g.h * 0.31
    g.bar(g.w * 0.1, g.w * 0.94, g.h - g.line / 2)
    g.stem(g.w * 0.1, g.h * 0.48, g.h)
    g.arc(g.w / 2, r, g.w / 2, r, -145, 130)


def figure_6(g: Letter) -> None:
    figure(g)
    r = g.w / 2
    g.arc(r, r, r, r)
    g.slant(g.line * 0.62, r * 1.15, g.w * 0.66, g.h)


def figure_7(g: Letter) -> None:
    figure(g)
    g.bar(0, g.w, g.h - g.line / 2)
    g.slant(g.w * 0.3, 0, g.w - g.line * 0.58, g.h - g.line / 2)


def figure_8(g: Letter) -> None:
    figure(g)
    lower, upper = (g.h + g.line) * 0.27, (g.h + g.line) * 0.23
    g.arc(g.w / 2, lower, g.w / 2, lower)
    g.arc(g.w / 2, g.h - upper, g.w * 0.43, upper)


def figure_9(g: Letter) -> None:
    figure(g)
    r = g.w / 2
    g.arc(r, g.h - r, r, r)
    g.slant(g.w - g.line * 0.62, g.h - r * 1.15, g.w * 0.34, 0)


FIGURES = [
    figure_0, figure_1, figure_2, figure_3, figure_4, figure_5, figure_6, figure_7, figure_8, figure_9,
]  # fmt: skip


# Signs.


def dots(*heights: float) -> Draw:
    def draw(g: Letter) -> None:
        g.set(g.line * 1.44, g.BOWL)
        for height in heights:
            g.dot(g.w / 2, g.line * 0.72 + height * g.h)

    return draw


def comma(g: Letter, top: float = 0.0) -> None:
    g.set(g.line * 1.5, g.BOWL)
    y = top * g.h
    g.slant(g.line * 0.45, y - g.h * 0.12, g.line * 1.05, y + g.line * 1.45)


def semicolon(g: Letter) -> None:
    comma(g)
    g.dot(g.line * 0.85, g.h * 0.5)


def exclamation(g: Letter) -> None:
    dots(0)(g)
    g.stem((g.w - g.line) / 2, g.h * 0.26, g.h)


def exclamation_below(g: Letter) -> None:
    dots(0.84)(g)
    g.stem((g.w - g.line) / 2, 0, g.h * 0.72)


def question(g: Letter) -> None:
    g.set(g.h * 0.52, g.BOWL)
    r = g.w / 2
    g.arc(r, g.h - r, r, r, -90, 165)
    g.stem(r - g.line / 2, g.h * 0.26, g.h - 2 * r + g.line)
    g.dot(r, g.line * 0.72)


def question_below(g: Letter) -> None:
    g.set(g.h * 0.52, g.BOWL)
    r = g.w / 2
    g.arc(r, r, r, r, 90, 345)
    g.stem(r - g.line / 2, 2 * r - g.line, g.h * 0.74)
    g.dot(r, g.h - g.line * 0.72)


def dash(width: float) -> Draw:
    def draw(g: Letter) -> None:
        g.set(g.h * width, g.BOWL)
        g.bar(0, g.w, g.h * WAIST)

    return draw


def quotes(*leaning: float) -> Draw:
    def draw(g: Letter) -> None:
        step = g.line * 1.9
        g.set(g.line * 1.5 + step * (len(leaning) - 1), g.BOWL)
        for i, lean in enumerate(leaning):
            x = g.line * 0.75 + i * step
            g.slant(x - lean * g.line, g.h * 0.72, x + lean * g.line, g.h)

    return draw


def stroke_of_pen(g: Letter) -> None:
    g.set(g.h * 0.5, g.SLANT)
    g.slant(g.line * 0.6, -g.h * 0.1, g.w - g.line * 0.6, g.h * 1.1)


def bracket(start: float) -> Draw:
    def draw(g: Letter) -> None:
        g.set(g.h * 0.24, g.BOWL)
        cx = g.h * 0.62 if start > 90 else g.w - g.h * 0.62
        g.arc(cx, g.h / 2, g.h * 0.62, g.h * 0.72, start, start + 100)

    return draw


def plus(g: Letter) -> None:
    g.set(g.h * 0.56, g.BOWL)
    g.bar(0, g.w, g.h * WAIST)
    g.stem((g.w - g.line) / 2, g.h * WAIST - g.w / 2, g.h * WAIST + g.w / 2)


def times(g: Letter) -> None:
    g.set(g.h * 0.56, g.BOWL)
    y0, y1 = g.h * WAIST - g.w / 2, g.h * WAIST + g.w / 2
    g.slant(g.line * 0.7, y0, g.w - g.line * 0.7, y1)
    g.slant(g.line * 0.7, y1, g.w - g.line * 0.7, y0)


def percent(g: Letter) -> None:
    g.set(g.h * 0.86, g.BOWL)
    r = g.h * 0.2
    g.arc(r, g.h - r, r, r)
    g.arc(g.w - r, r, r, r)
    g.slant(g.w * 0.2, 0, g.w * 0.8, g.h)


def ampersand(g: Letter) -> None:
    g.set(g.h * 0.8, g.BOWL, g.SLANT)
    lower, upper = g.h * 0.29, g.h * 0.21 + g.line / 2
    g.arc(lower, lower, lower, lower, 70, 330)
    g.arc(lower * 1.05, g.h - upper, upper, upper, -60, 240)
    g.slant(lower * 0.62, g.h * 0.66, g.w - g.line * 0.7, 0)
    g.slant(lower * 1.42, g.line * 0.9, g.w * 0.95, g.h * 0.42)


SIGNS: dict[str, Draw] = {
    ".": dots(0), ":": dots(0, 0.42), "·": dots(0.34), ",": comma, ";": semicolon, "!": exclamation,
    "¡": exclamation_below, "?": question, "¿": question_below, "-": dash(0.3), "–": dash(0.55), "—": dash(0.95),
    "'": quotes(0), "’": quotes(0.35), "‘": quotes(-0.35), '"': quotes(0, 0), "“": quotes(-0.35, -0.35),
    "”": quotes(0.35, 0.35), "/": stroke_of_pen, "(": bracket(130), ")": bracket(-50), "+": plus, "×": times,
    "%": percent, "&": ampersand,
}  # fmt: skip
