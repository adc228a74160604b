"""CRUXEval as a task package for EleutherAI's lm-evaluation-harness.

This module stays light: the confined worker processes import the package too.
"""

import os

__version__ = "0.1.0"

_HERE = os.path.dirname(os.path.abspath(__file__))

# A wheel carries the folder inside the package; a source tree and an editable install have it beside the package.
TASK_CONFIGS: str = next(
    (
        p
        for p in (os.path.join(_HERE, "task_configs"), os.path.join(os.path.dirname(_HERE), "task_configs"))
        if os.path.isdir(p)
    ),
    os.path.join(_HERE, "task_configs"),
)
"""Folder with the task definitions, for ``TaskManager(include_path=TASK_CONFIGS)``."""
