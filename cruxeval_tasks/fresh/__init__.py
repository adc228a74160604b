"""Fresh problems: the functions of a problem set with other inputs, which nobody has published.

`literals` reads and writes arguments, `mutation` changes them, `selection` runs candidates in the judge's confined
workers and decides which are kept, `report` compares the two sets, `gap` two runs on them.
"""
