"""What can go wrong, in sentences for the user."""

from collections.abc import Sequence


class AssayError(Exception):
    """Something went wrong while a trial ran; the message is one clear sentence."""


class BadInputError(AssayError):
    """The user's input can't be used; says what, where and how to mend it. Raised before anything starts.

    `keys` are those of the experiment, or Hadoop's properties, that it may be about: the first that stands there.
    """

    def __init__(self, message: str, *keys: str) -> None:
        super().__init__(message)
        self.keys = keys


class NoAnswerError(AssayError):
    """A server gave nothing that could be used: at which address, and the `reason` in a few words."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}")
        self.reason = reason


class NoLoginError(NoAnswerError):
    """A server wants a login that there is none for: it may well be up."""


class MistakeAt(ValueError):  # noqa: N818 - what it is, in the words of those who handle it
    """What is wrong with several keys of a file together: the place of the one that it is about, and a sentence."""

    def __init__(self, keys: Sequence[str], message: str) -> None:
        super().__init__(message)
        self.keys = keys
