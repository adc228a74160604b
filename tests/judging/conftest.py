"""What the tests of the judge share."""

from __future__ import annotations

import pytest

from cruxeval_tasks.judging.confine import LAYERS
from cruxeval_tasks.judging.judge import IsolationError, Limits
from cruxeval_tasks.judging.pool import Pool


@pytest.fixture(scope="module")
def isolation() -> None:
    """Skip where answers cannot be isolated."""
    try:
        Pool(1, Limits(), LAYERS).start()
    except IsolationError as error:
        pytest.skip(f"this machine cannot isolate: {error}")
