"""The letters, and the marks over and under them."""

from collections.abc import Callable

from midnight.lettering.strokes import WAIST, Draw, Letter

Mark = Callable[[Letter, float], None]


def letter_a(g: Letter) -> None:
    g.set(g.h * 0.9, g.SLANT)
    t = g.across(g.w / 2 - g.line / 2, g.h)
    g.slant(t / 2, 0, g.w / 2, g.h)
    g.slant(g.w - t / 2, 0, g.w / 2, g.h)
    inset = (g.w - t) / 2 * 0.3
    g.bar(inset + t / 2, g.w - inset - t / 2, g.h * 0.27)


def letter_b(g: Letter) -> None:
    g.set(g.h * 0.62, g.STEM, g.BOWL)
    middle = g.h * 0.47
    lower, upper = (middle + g.line / 2) / 2, (g.h - middle + g.line / 2) / 2
    g.stem(0, 0, g.h)
    for cy, r, w in ((lower, lower, g.w), (g.h - upper, upper, g.w - g.h * 0.05)):
        g.arc(w - r, cy, r, r, -90, 90)
        for y in (cy - r + g.line / 2, cy + r - g.line / 2):
            g.bar(0, w - r, y)


def letter_c(g: Letter) -> None:
    g.set(g.h * 0.92, g.BOWL, g.SLANT)
    r = g.h / 2
    g.arc(r, r, r, r, 42, 318)


def letter_d(g: Letter) -> None:
    g.set(g.h * 0.8, g.STEM, g.BOWL)
    r = g.h / 2
    g.stem(0, 0, g.h)
    g.arc(g.w - r, r, r, r, -90, 90)
    for y in (g.line / 2, g.h - g.line / 2):
        g.bar(0, g.w - r, y)


def letter_e(g: Letter) -> None:
    letter_f(g)
    g.bar(0, g.w, g.line / 2)


def letter_f(g: Letter) -> None:
    g.set(g.h * 0.55, g.STEM, g.BOWL)
    g.stem(0, 0, g.h)
    g.bar(0, g.w, g.h - g.line / 2)
    g.bar(0, g.w * 0.88, g.h * WAIST)


def letter_g(g: Letter) -> None:
    g.set(g.h * 0.98, g.BOWL)
    r = g.h / 2
    g.arc(r, r, r, r, 42, 360)
    g.bar(r * 1.1, 2 * r, r - g.line / 2)


def letter_h(g: Letter) -> None:
    g.set(g.h * 0.74, g.STEM)
    g.stem(0, 0, g.h)
    g.stem(g.w - g.line, 0, g.h)
    g.bar(0, g.w, g.h * WAIST)


def letter_i(g: Letter) -> None:
    g.set(g.line, g.STEM)
    g.stem(0, 0, g.h)


def letter_j(g: Letter) -> None:
    g.set(g.h * 0.42, g.SLANT, g.STEM)
    r = g.h * 0.3
    g.stem(g.w - g.line, r, g.h)
    g.arc(g.w - r, r, r, r, 230, 360)


def letter_k(g: Letter) -> None:
    g.set(g.h * 0.66, g.STEM, g.SLANT)
    g.stem(0, 0, g.h)
    t = g.across(g.w - g.line, g.h * (1 - WAIST))
    g.slant(g.line * 0.7, g.h * 0.32, g.w - t / 2, g.h)
    g.slant(g.line * 2.3, g.h * 0.5, g.w - t / 2, 0)


def letter_l(g: Letter) -> None:
    g.set(g.h * 0.52, g.STEM, g.SLANT)
    g.stem(0, 0, g.h)
    g.bar(0, g.w, g.line / 2)


def letter_m(g: Letter) -> None:
    g.set(g.h * 0.96, g.STEM)
    g.stem(0, 0, g.h)
    g.stem(g.w - g.line, 0, g.h)
    t = g.across(g.w / 2, g.h * 0.8)
    g.slant(t / 2, g.h, g.w / 2, g.h * 0.2)
    g.slant(g.w - t / 2, g.h, g.w / 2, g.h * 0.2)


def letter_n(g: Letter) -> None:
    g.set(g.h * 0.8, g.STEM)
    g.stem(0, 0, g.h)
    g.stem(g.w - g.line, 0, g.h)
    t = g.across(g.w - g.line, g.h)
    g.slant(t / 2, g.h, g.w - t / 2, 0)


def letter_o(g: Letter) -> None:
    g.set(g.h, g.BOWL)
    g.arc(g.h / 2, g.h / 2, g.h / 2, g.h / 2)


def letter_p(g: Letter) -> None:
    g.set(g.h * 0.62, g.STEM, g.SLANT)
    low = g.h * 0.36
    r = (g.h - low) / 2
    g.stem(0, 0, g.h)
    g.arc(g.w - r, g.h - r, r, r, -90, 90)
    for y in (low + g.line / 2, g.h - g.line / 2):
        g.bar(0, g.w - r, y)


def letter_q(g: Letter) -> None:
    letter_o(g)
    g.slant(g.h * 0.6, g.h * 0.28, g.h * 0.92, -g.h * 0.06)


def letter_r(g: Letter) -> None:
    letter_p(g)
    t = g.across(g.w * 0.5, g.h * 0.36)
    g.slant(g.w * 0.42, g.h * 0.38, g.w * 1.02 - t / 2, 0)


def letter_s(g: Letter) -> None:
    g.set(g.h * 0.58, g.BOWL)
    lower, upper = (g.h + g.line) * 0.265, (g.h + g.line) * 0.235
    wide = g.w / 2
    narrow = wide * 0.92
    g.arc(wide, g.h - upper, narrow, upper, 35, 270)
    g.arc(wide, lower, wide, lower, -145, 90)


def letter_t(g: Letter) -> None:
    g.set(g.h * 0.68, g.SLANT)
    g.stem((g.w - g.line) / 2, 0, g.h)
    g.bar(0, g.w, g.h - g.line / 2)


def letter_u(g: Letter) -> None:
    g.set(g.h * 0.74, g.STEM * 0.95)
    r = g.w / 2
    g.stem(0, r, g.h)
    g.stem(g.w - g.line, r, g.h)
    g.arc(r, r, r, r, 180, 360)


def letter_v(g: Letter) -> None:
    g.set(g.h * 0.88, g.SLANT)
    t = g.across(g.w / 2 - g.line / 2, g.h)
    g.slant(t / 2, g.h, g.w / 2, 0)
    g.slant(g.w - t / 2, g.h, g.w / 2, 0)


def letter_w(g: Letter) -> None:
    g.set(g.h * 1.34, g.SLANT)
    t = g.across(g.w / 4, g.h)
    one, middle, three = g.w * 0.27, g.w / 2, g.w * 0.73
    g.slant(t / 2, g.h, one, 0)
    g.slant(one, 0, middle, g.h)
    g.slant(middle, g.h, three, 0)
    g.slant(three, 0, g.w - t / 2, g.h)


def letter_x(g: Letter) -> None:
    g.set(g.h * 0.78, g.SLANT)
    t = g.across(g.w - g.line, g.h)
    g.slant(t / 2, 0, g.w - t / 2, g.h)
    g.slant(t / 2, g.h, g.w - t / 2, 0)


def letter_y(g: Letter) -> None:
    g.set(g.h * 0.8, g.SLANT)
    t = g.across(g.w / 2, g.h * 0.58)
    g.slant(t / 2, g.h, g.w / 2, g.h * 0.4)
    g.slant(g.w - t / 2, g.h, g.w / 2, g.h * 0.4)
    g.stem((g.w - g.line) / 2, 0, g.h * 0.46)


def letter_z(g: Letter) -> None:
    g.set(g.h * 0.7, g.BOWL * 0.8)
    g.bar(0, g.w, g.h - g.line / 2)
    g.bar(0, g.w, g.line / 2)
    t = g.across(g.w, g.h)
    g.slant(t / 2, g.line / 2, g.w - t / 2, g.h - g.line / 2)


def letter_ae(g: Letter) -> None:
    g.set(g.h * 1.02, g.SLANT, g.BOWL)
    middle = g.h * 0.52
    t = g.across(middle, g.h)
    g.slant(t / 2, 0, middle, g.h)
    g.stem(middle - g.line / 2, 0, g.h)
    g.bar(middle * 0.3, middle, g.h * 0.27)
    for y, reach in ((g.line / 2, 1.0), (g.h * WAIST, 0.95), (g.h - g.line / 2, 1.0)):
        g.bar(middle, g.w * reach, y)


def letter_oe(g: Letter) -> None:
    g.set(g.h * 1.22, g.BOWL)
    r = g.h / 2
    g.arc(r, r, r, r, 90, 270)
    middle = g.h * 0.72
    g.stem(middle, 0, g.h)
    for y, reach in ((g.line / 2, 1.0), (g.h - g.line / 2, 1.0)):
        g.bar(r, g.w * reach, y)
    g.bar(middle, g.w * 0.95, g.h * WAIST)


def letter_ss(g: Letter) -> None:
    letter_s(g)
    first, width = list(g.contours), g.w
    step = width + g.h * 0.09
    g.contours += [[(word, *((x + step, y) for x, y in points)) for word, *points in contour] for contour in first]
    g.w = step + width


LETTERS: dict[str, Draw] = {
    "A": letter_a, "B": letter_b, "C": letter_c, "D": letter_d, "E": letter_e, "F": letter_f, "G": letter_g,
    "H": letter_h, "I": letter_i, "J": letter_j, "K": letter_k, "L": letter_l, "M": letter_m, "N": letter_n,
    "O": letter_o, "P": letter_p, "Q": letter_q, "R": letter_r, "S": letter_s, "T": letter_t, "U": letter_u,
    "V": letter_v, "W": letter_w, "X": letter_x, "Y": letter_y, "Z": letter_z, "Æ": letter_ae, "Œ": letter_oe,
}  # fmt: skip


# Marks over and under letters, drawn about x = 0 on top of a letter.


def grave(g: Letter, top: float) -> None:
    g.slant(g.line * 0.6, top + g.line * 0.95, -g.line * 0.6, top + g.line * 2.25)


def acute(g: Letter, top: float) -> None:
    g.slant(-g.line * 0.6, top + g.line * 0.95, g.line * 0.6, top + g.line * 2.25)


def circumflex(g: Letter, top: float) -> None:
    for side in (-1, 1):
        g.slant(side * g.line * 1.35, top + g.line * 0.95, 0, top + g.line * 2.25)


def diaeresis(g: Letter, top: float) -> None:
    for side in (-1, 1):
        g.dot(side * g.line * 1.3, top + g.line * 1.7)


def tilde(g: Letter, top: float) -> None:
    r = g.line * 1.12
    g.arc(-r + g.line / 2, top + g.line * 1.2, r, r, 10, 170)
    g.arc(r - g.line / 2, top + g.line * 2.0, r, r, 190, 350)


def cedilla(g: Letter, top: float) -> None:
    g.stem(-g.line / 2, -g.line * 0.9, g.line)
    g.arc(-g.line * 0.3, -g.line * 1.75, g.line * 1.25, g.line * 1.25, -110, 90)


MARKS: dict[Mark, dict[str, str]] = {
    grave: {"À": "A", "È": "E", "Ì": "I", "Ò": "O", "Ù": "U"},
    acute: {"Á": "A", "É": "E", "Í": "I", "Ó": "O", "Ú": "U"},
    circumflex: {"Â": "A", "Ê": "E", "Î": "I", "Ô": "O", "Û": "U"},
    diaeresis: {"Ä": "A", "Ë": "E", "Ï": "I", "Ö": "O", "Ü": "U", "Ÿ": "Y"},
    tilde: {"Ã": "A", "Ñ": "N", "Õ": "O"},
    cedilla: {"Ç": "C"},
}
