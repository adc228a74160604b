"""From an answer to a verdict. Nothing outside this folder executes anything.

The public names are in `cruxeval_tasks.judging.judge`; this module stays empty because the confined worker imports it.
"""
