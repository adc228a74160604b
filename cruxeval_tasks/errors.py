"""Errors that a user can do something about."""


class UserError(Exception):
    """What is wrong and what to do, in words for the person at the terminal. The command prints it without traceback."""
