"""Names and attributes that an answer may use. Read by the grammar and enforced again in the worker."""

from __future__ import annotations

PURE_BUILTINS = frozenset(
    """
    abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format frozenset
    hex int isinstance issubclass iter len list map max min next oct ord pow range repr reversed round set slice sorted
    str sum tuple zip
    """.split()
)
"""Built-ins without side effects through which neither a frame, a module, a class in the making nor an attribute by
name can be reached (so not `type`, `getattr`, `vars`, `open`, `print`, …)."""

BUILTIN_ATTRIBUTES = frozenset(
    name
    for kind in (str, bytes, bytearray, int, float, complex, bool, list, tuple, dict, set, frozenset, range, slice)
    for name in dir(kind)
    if not name.startswith("_")
) - {"format", "format_map"}  # these two read attributes by name out of a string
"""Public attributes of the built-in types."""
