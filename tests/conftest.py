from __future__ import annotations

import pytest
from host_copy import HostCopy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever drives the real host takes seconds."""
    for item in items:
        if item.path.parent.name == "host" or "host_copy" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def host_copy(tmp_path_factory: pytest.TempPathFactory) -> HostCopy:
    """A copy of the real host, not registered with. A test that registers unregisters as well."""
    return HostCopy(tmp_path_factory.mktemp("site"))
