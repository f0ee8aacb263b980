"""What can go wrong, in sentences for the user."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class AssayError(Exception):
    """Something went wrong while a trial ran; the message is one clear sentence."""


class BadInputError(AssayError):
    """The user's input can't be used; says what, where and how to mend it. Raised before anything starts.

    `keys` are those of the experiment, or Hadoop's properties, that it may be about: the first that stands there.
    """

    def __init__(self, message: str, *keys: str) -> None:
        super().__init__(message)
        self.keys = keys


class NoMainClassError(BadInputError):
    """Nobody names the main class of a jar; the history of its job may."""


class SeveralMistakesError(BadInputError):
    """Several mistakes in the user's input, each a sentence, the gravest first; its own text is all of them."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = tuple(sentences)


class Mistakes:
    """Collects mistakes in the user's input, so that all are said at once."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def attempt(self, make: Callable[[], T], otherwise: T) -> T:
        """Return what is made; `otherwise`, and note the mistake, where that raises BadInputError."""
        with self.noted():
            return make()
        return otherwise

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note the mistakes of a BadInputError that is raised within the scope, which ends there."""
        try:
            yield
        except SeveralMistakesError as error:
            self.sentences += error.sentences
        except BadInputError as error:
            self.sentences.append(str(error))

    def refuse(self) -> None:
        """Raise BadInputError with all of them, if there are any."""
        if self.sentences:
            raise self.error()

    def error(self) -> BadInputError:
        """Return an error with all of them: a single one as it is."""
        return BadInputError(self.sentences[0]) if len(self.sentences) == 1 else SeveralMistakesError(self.sentences)


class NoAnswerError(AssayError):
    """A server gave nothing that could be used: at which address, and the `reason` in a few words."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}")
        self.reason = reason


class NoLoginError(NoAnswerError):
    """A server wants a login that there is none for: it may well be up."""


class MistakeAt(ValueError):  # noqa: N818 - what it is, in the words of those who handle it
    """What is wrong with several keys of a file together: the place of the one that it is about, and a sentence."""

    def __init__(self, keys: Sequence[int | str], message: str) -> None:
        super().__init__(message)
        self.keys = keys
