"""Command lines in options: split as a shell splits them, with `{name}` for what is only known when they run."""

import re
import shlex
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from assay.model.naming import nearest
from assay.workload.options import Options

_PLACE = re.compile(r"\{([A-Za-z][A-Za-z_-]*)\}")


def split_words(options: Options, name: str, known: Collection[str]) -> tuple[str, ...]:
    """An option's words. Raises BadInputError for open quotes and for a placeholder that is not known."""
    try:
        words = tuple(shlex.split(options.text(name)))
    except ValueError as error:
        raise options.refusal(name, f"words as a shell would split them ({str(error).lower()})") from None
    for place in _PLACE.findall(options.text(name)):
        if place == "input" and place not in known:
            raise options.refusal(name, "without {input}, since there is none: name it in the option input")
        if place not in known:
            shown = [f"{{{one}}}" for one in known]
            raise options.refusal(
                name, f"without {{{place}}}, which stands for nothing; {nearest(f'{{{place}}}', shown)}"
            )
    return words


def filled(word: str, places: Mapping[str, str]) -> str:
    """A word with what its placeholders stand for; others stay."""
    return _PLACE.sub(lambda found: places.get(found[1], found[0]), word)


def the_program(options: Options, name: str, words: Sequence[str], folder: Path) -> None:
    """Raises BadInputError when a command line has no {output}, or its program can't be run from the folder."""
    if not any("{output}" in word for word in words):
        raise options.refusal(name, "a command with {output}, which stands for a folder with the output's files")
    program = words[0]
    if "/" in program:
        if not (folder / program).is_file():
            raise options.refusal(name, f"a command whose program is there, and {folder / program} is not")
    elif shutil.which(program) is None:
        raise options.refusal(name, f"a command whose program is on the PATH, and {program} is not (./{program}?)")
