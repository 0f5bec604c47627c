"""What one's own sources lose: there each file is a beginning, and its functions are run as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from safepip.model.environment import Distribution, Unjudged
from safepip.model.imports import Condition, Gone, Import, ImportLoss, Unread
from safepip.model.paths import TargetPath
from safepip.reasoning.code.closure import Failure
from safepip.reasoning.code.imports import Imports
from safepip.reasoning.dependents import leading_to
from safepip.reasoning.libraries.losses import relative

Found = tuple[tuple[ImportLoss, ...], tuple[Unjudged, ...]]


def losses(projects: Sequence[Distribution], imports: Imports) -> Found:
    """The statements that would fail, by themselves or by what they import, and the sources that cannot be read."""
    if not projects or not imports.gone:
        return (), ()
    found: list[ImportLoss] = []
    unjudged: list[Unjudged] = []
    staying = [dist for dist in imports.inventory.everybody if dist not in imports.leaving]
    naming = [dist for dist in staying if dist.info in imports.naming]
    imports.closure.enter(leading_to(naming, staying))  # any module of theirs may be imported here
    for project in projects:
        own = frozenset(_own_names(project))
        for path in project.files or ():
            source = imports.code.read(
                None, path, "", is_package=False, whole=True
            )  # of its own it loses nothing
            if isinstance(source, Unread):
                unjudged.append(Unjudged(path, source.reason))
                continue
            for item in source.imports:
                if item.module.partition(".")[0] not in own and _counts(item, imports):
                    found += _losses(project, path, item, imports)
    return tuple(found), tuple(unjudged)


def _counts(item: Import, imports: Imports) -> bool:
    return item.condition is Condition.DEFERRED or imports.closure.stands(item)


def _losses(project: Distribution, path: TargetPath, item: Import, imports: Imports) -> Iterator[ImportLoss]:
    lost = imports.closure.lost(item, path)
    if lost is not None:
        yield _loss(project, Failure(((path, item.line),), *lost), lost[1], imports)
        return
    for name in (item.module, *(f"{item.module}.{inner}" for inner in item.names)):
        failure = imports.closure.failure(name)
        if failure is not None:
            steps = ((path, item.line), *failure.steps)
            yield _loss(project, failure._replace(steps=steps), failure.gone, imports)
            return


def _loss(project: Distribution, failure: Failure, gone: Gone, imports: Imports) -> ImportLoss:
    ways = [f"{relative(step, imports.inventory)}:{line}" for step, line in failure.steps]
    importer, line = failure.steps[0]
    return ImportLoss(
        survivor=project,
        lost=gone.dist,
        module=failure.name,
        path=gone.was.path or gone.was.folders[0],
        chain=(*ways, f"import {failure.name}"),
        importer=importer,
        line=line,
        instead=imports.closure.instead(failure.name),
    )


def _own_names(project: Distribution) -> Iterator[str]:
    """What the folder itself gives comes first on sys.path when its programs are run, and that of `src` by custom."""
    for path in project.files or ():
        first, _, rest = path.removeprefix(f"{project.location}/").partition("/")
        yield first.removesuffix(".py")
        if first == "src":
            yield rest.partition("/")[0].removesuffix(".py")
