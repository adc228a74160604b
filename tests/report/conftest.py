from __future__ import annotations

from pathlib import Path

import pytest
from pages import make_report


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `make_report`."""
    return make_report(tmp_path_factory.mktemp("report"))
