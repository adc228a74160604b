"""CRUXEval as a task package for EleutherAI's lm-evaluation-harness.

This module stays light: the confined worker processes import the package too.
"""

import os

__version__ = "0.1.0"

_HERE = os.path.dirname(os.path.abspath(__file__))

# A wheel carries the folder inside the package; a source tree and an editable install have it beside it.
_INSIDE = os.path.join(_HERE, "task_configs")
_BESIDE = os.path.join(os.path.dirname(_HERE), "task_configs")
TASK_CONFIGS: str = _INSIDE if os.path.isdir(_INSIDE) else _BESIDE
"""Folder with the task definitions, for ``TaskManager(include_path=TASK_CONFIGS)``."""
