from __future__ import annotations

import pytest
from host_copy import HostCopy


@pytest.fixture(scope="session")
def host_copy(tmp_path_factory: pytest.TempPathFactory) -> HostCopy:
    """A copy of the real host, not registered with. A test that registers unregisters as well."""
    return HostCopy(tmp_path_factory.mktemp("site"))
