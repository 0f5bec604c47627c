"""Modules that raise over the version of another distribution.

Sources are read only where a requirement says that it does not fit. Compiled modules, where they may be built for an
earlier version: what they were built with, no requirement had to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from safepip.commands.scene import Scene
from safepip.model.arrival import Partner
from safepip.model.diagnosis import Ailment
from safepip.model.environment import Distribution
from safepip.model.imports import Found, Gone, VersionCheck
from safepip.model.paths import TargetPath
from safepip.reading.sites import partners
from safepip.reading.sources.contents import readable
from safepip.reading.sources.version_checks import checks
from safepip.reasoning.code.closure import Failing
from safepip.reasoning.code.finder import Finder
from safepip.reasoning.code.surface import top_modules
from safepip.reasoning.health import diagnosis, failing_imports
from safepip.reasoning.requirements import requirement_key


def look(unmet: Iterable[Ailment], scene: Scene) -> dict[TargetPath, Failing]:
    """By module, over what it raises. `unmet`: the requirements that are not met."""
    finder = Finder(scene.disk, scene.target)
    found = dict(_built_for_another(finder, scene))
    for user, other in _misfits(unmet, scene):
        tops = top_modules(other, scene.inventory, finder)
        sought = {path for paths in scene.modules.naming(user, tops).values() for path in paths}
        for path, check in _checks(sought):
            module = finder.find(check.module)
            if (
                module
                and check.module.partition(".")[0] in tops
                and failing_imports.holds(check, other.version)
            ):
                found.setdefault(
                    path, Failing(check.line, check.module, _refused(check.module, module, other))
                )
    return found


def _refused(name: str, module: Found, dist: Distribution) -> Gone:
    return Gone(name, module, None, diagnosis.phantom(dist, diagnosis.REFUSED, ()))


def _built_for_another(finder: Finder, scene: Scene) -> Iterator[tuple[TargetPath, Failing]]:
    for partner in partners.read():
        other = scene.inventory.find(partner.distribution) if partner.since else None
        module = finder.find(partner.distribution)
        if other is None or module is None:
            continue
        if failing_imports.holds(VersionCheck(0, other.key, ">=", partner.since), other.version):
            failing = Failing(0, other.key, _refused(other.key, module, other))
            for dist in scene.inventory.distributions:
                for path in _holding(partner, dist, scene):
                    yield path, failing
                    package, _, name = path.rpartition("/")
                    if package.endswith(f"/{name.partition('.')[0]}"):  # its core, loaded by name (cv2.cv2)
                        yield TargetPath(f"{package}/__init__.py"), failing


def _holding(partner: Partner, dist: Distribution, scene: Scene) -> Iterator[TargetPath]:
    if any(requirement_key(line) == partner.distribution for line in dist.requires):
        held = scene.modules.compiled_naming(dist, [partner.unless, partner.holds])
        yield from (path for path, name in held if name == partner.holds)


def _misfits(unmet: Iterable[Ailment], scene: Scene) -> Iterator[tuple[Distribution, Distribution]]:
    """Who requires whom in another version."""
    users = {dist.name: dist for dist in scene.inventory.distributions}
    for item in unmet:
        key = requirement_key(item.wants)
        other = None if key is None or item.mended_by else scene.inventory.find(key)
        if other is not None:
            yield users[item.distribution], other


def _checks(paths: Iterable[TargetPath]) -> Iterator[tuple[TargetPath, VersionCheck]]:
    for path, data in readable(sorted(paths)):
        for check in checks(data):
            yield path, check
