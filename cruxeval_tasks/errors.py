"""Errors that a user can do something about."""


class UserError(Exception):
    """What is wrong and what to do, in words for the person at the terminal.

    The command prints it as one line, without a traceback, and ends with status 1.
    """
