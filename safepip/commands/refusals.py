"""Modules that raise over the version of another distribution: read only where a requirement says that it does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from safepip.commands.scene import Scene
from safepip.model.diagnosis import Ailment
from safepip.model.environment import Distribution
from safepip.model.imports import Gone, VersionCheck
from safepip.model.paths import TargetPath
from safepip.reading.sources.modules import content
from safepip.reading.sources.version_checks import checks
from safepip.reasoning.code.closure import Failing
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.code.surface import top_modules
from safepip.reasoning.health import diagnosis, failing_imports
from safepip.reasoning.requirements import requirement_key


def look(unmet: Iterable[Ailment], scene: Scene) -> dict[TargetPath, Failing]:
    """By source, the first check over which it raises. `unmet`: the requirements that are not met."""
    finder = Finder(scene.disk, scene.target)
    found: dict[TargetPath, Failing] = {}
    for user, other in _misfits(unmet, scene):
        tops = top_modules(other, scene.inventory, finder)
        sought = {path for paths in scene.modules.naming(user, tops).values() for path in paths}
        lacking = diagnosis.phantom(other, diagnosis.REFUSED, ())
        for path, check in _checks(sought):
            module = finder.find(check.module)
            if (
                module
                and check.module.partition(".")[0] in tops
                and failing_imports.holds(check, other.version)
            ):
                gone = Gone(check.module, module, None, lacking)
                found.setdefault(path, Failing(check.line, check.module, gone))
    return found


def _misfits(unmet: Iterable[Ailment], scene: Scene) -> Iterator[tuple[Distribution, Distribution]]:
    """Who requires whom in another version."""
    users = {dist.name: dist for dist in scene.inventory.distributions}
    for item in unmet:
        key = requirement_key(item.wants)
        other = None if key is None or item.mended_by else scene.inventory.find(key)
        if other is not None:
            yield users[item.distribution], other


def _checks(paths: Iterable[TargetPath]) -> Iterator[tuple[TargetPath, VersionCheck]]:
    for path in sorted(paths):
        try:
            data = content(path)
        except OSError:
            continue
        for check in checks(data):
            yield path, check
