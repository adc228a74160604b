"""Model types that this package adds to the host.

Importing this package loads neither torch nor the host's models: the host gets the name and the place, and imports
what is there when a run asks for it.
"""

from __future__ import annotations

# pyproject.toml names the same pair as an entry point, for hosts that read the group `lm_eval.models`.
HF_SHARED = "hf-shared"
HF_SHARED_TARGET = "cruxeval_tasks.models.hf_shared:SharedHFLM"


def register() -> None:
    """Make `--model hf-shared` known to the host in this process. Does nothing where the host knows it already."""
    import lm_eval.models  # noqa: F401  (registers the host's own model types)
    from lm_eval.api.registry import model_registry

    if HF_SHARED not in model_registry:
        model_registry.register(HF_SHARED, target=HF_SHARED_TARGET)
