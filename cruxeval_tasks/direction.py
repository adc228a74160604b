"""The two directions of the benchmark."""

from typing import Literal

Direction = Literal["input", "output"]
"""What is predicted: the value that a call of `f` returns ("output"), or a call of `f` that returns a value ("input")."""
