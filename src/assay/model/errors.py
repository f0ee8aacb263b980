"""What can go wrong, as the user is told it."""


class AssayError(Exception):
    """Something went wrong while a trial ran; the message is one clear sentence."""


class BadInputError(AssayError):
    """The user's input can't be used; says what, where and how to mend it. Raised before anything starts."""
