"""Whether pip would touch the environment at all: what it refuses as a whole, whatever is named."""

from __future__ import annotations

from safepip.model.environment import Target
from safepip.model.request import PipSettings, Refused, Uninstall


def refused(request: Uninstall, settings: PipSettings, target: Target) -> Refused | None:
    """pip's refusal of the environment (cli/base_command.py:_main, utils/misc.py:check_externally_managed)."""
    if (request.require_venv or settings.require_venv) and not target.is_venv:
        return Refused("Could not find an activated virtualenv (required).", 3)
    lifted = request.break_system_packages or settings.break_system_packages
    if target.externally_managed and target.pip.release >= (23,) and not lifted:
        return Refused(
            f"externally-managed-environment: {target.place} is kept by the system's package manager"
            " (--break-system-packages overrides)",
            1,
        )
    return None
