"""The figures' colours, by names that the page's style gives other values in the dark; alone, a figure is light.

Okabe and Ito's for data, which people with any colour vision can tell apart.
"""


def _named(name: str, light: str) -> str:
    return f"var(--{name},{light})"


INK, SOFT, FAINT = _named("ink", "#1b1f24"), _named("soft", "#57606a"), _named("line", "#d7dce1")
PAPER, PALE, EDGE = _named("paper", "#ffffff"), _named("pale", "#eef1f4"), _named("edge", "#8a949e")
BLUE, VERMILION, GREEN = _named("blue", "#0072B2"), _named("vermilion", "#D55E00"), _named("green", "#009E73")
PINK, ORANGE, SKY = _named("pink", "#CC79A7"), _named("orange", "#E69F00"), _named("sky", "#56B4E9")
SLATE, SILVER, YELLOW = _named("slate", "#56646f"), _named("silver", "#a9b4bd"), _named("yellow", "#F0E442")
MIST = _named("mist", "#c3cbd2")
ON_BRIGHT = "#1b1f24"
"""Words upon sky, orange, pink and mist, which are bright in the light and in the dark."""
