"""What it means that another copy of the same project, further back on sys.path, serves an import that is lost."""

from __future__ import annotations

from dataclasses import replace

from safepip.model.environment import Distribution
from safepip.model.imports import ImportLoss
from safepip.reasoning.code.imports import Imports, statements


def weighed(imports: Imports) -> tuple[ImportLoss, ...]:
    """The losses; those that such a copy makes up for, as far as statements show, are marked."""
    return tuple(
        replace(loss, made_up=_is_made_up(loss, imports)) if loss.instead else loss for loss in imports.losses
    )


def _is_made_up(loss: ImportLoss, imports: Imports) -> bool:
    """Each module that is asked of it is there. What is compiled may take C structures, which change with the major."""
    copies = [
        dist
        for dist in imports.inventory.distributions
        if dist.key == loss.lost.key
        and dist not in imports.leaving
        and (loss.instead or "").startswith(f"{dist.location}/")
    ]
    asking = [
        dist for dist in imports.inventory.everybody if loss.importer in imports.naming.get(dist.info, ())
    ]
    return (
        bool(copies and asking)
        and (_major(copies[0]) == _major(loss.lost) or not any(map(_is_compiled, (loss.survivor, *asking))))
        and all(
            imports.closure.instead(failing.name) is not None
            for dist in asking
            for _, _, failing in statements(imports, dist)
        )
    )


def _major(dist: Distribution) -> str:
    return dist.version.partition(".")[0]


def _is_compiled(dist: Distribution) -> bool:
    return any(path.endswith(".so") for path in dist.used)
