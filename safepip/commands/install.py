"""`safepip install --dry-run`: what pip announces, read from the wheels and judged without laying anything down."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from safepip.acting import arriving
from safepip.commands import arrived_code, between, departed_code
from safepip.commands.scene import Scene
from safepip.commands.target import Found
from safepip.model.arrival import Announced, Content, Turn, Wheel
from safepip.model.environment import Target
from safepip.model.paths import DistKey, TargetPath
from safepip.model.policy import Policy
from safepip.model.report import Finding, FindingKind, Severity, Verdict
from safepip.reading.pythons import interpreter
from safepip.reading.sites import pip_report, wheel
from safepip.reasoning.changes import arrivals
from safepip.reasoning.libraries.objects import is_object_name
from safepip.reasoning.verdict import install_findings
from safepip.reasoning.verdict.finding import finding
from safepip.reasoning.verdict.judge import weigh
from safepip.world import Arrived, Changed


@dataclass(frozen=True, slots=True)
class Lacking:
    """A distribution whose wheel cannot be looked into."""

    announced: Announced
    reason: str


def assess(words: Sequence[str], found: Found, environ: Mapping[str, str]) -> Verdict:
    """What `pip WORDS` would do, which begin with pip's own options and `install`."""
    with arriving.workshop() as folder:
        interpreter.refuse_foreign_target(found.target)
        report = arriving.announce(words, found.target, environ, folder)
        return _judged(pip_report.read(report), words, found, Scene(found.target, environ), folder)


def assess_plan(report: str, found: Found, scene: Scene) -> Verdict:
    """What an install would do whose report by pip (`install --report`) lies at `report`. pip fetches the wheels."""
    with arriving.workshop() as folder:
        interpreter.refuse_foreign_target(found.target)
        announced = pip_report.read(report)
        words = ("install", *(f"{item.name}=={item.version}" for item in announced if item.requested))
        return _judged(announced, words, found, scene, folder)


def _judged(
    announced: Sequence[Announced], words: Sequence[str], found: Found, scene: Scene, folder: str
) -> Verdict:
    paths = arriving.fetch(announced, found.target, scene.environ, folder)
    ordered = arrivals.in_order(announced, scene.inventory, dependencies="--no-deps" not in words)
    wheels: list[Wheel] = []
    lacking: list[Lacking] = []
    replaces = any(scene.inventory.find(item.key) for item in announced)

    def asked(place: TargetPath) -> bool:
        """Sources are where a version is replaced, or a file of another is overwritten."""
        is_source = place.endswith(".py") and (replaces or scene.disk.kind(place) is not None)
        return is_object_name(place) or is_source

    for item in ordered:
        read = _wheel(item, paths, found.target, folder, asked)
        (wheels if isinstance(read, Wheel) else lacking).append(read)  # type: ignore[arg-type]
    return verdict_of(_both(wheels, announced, scene), found.policy, words, tuple(lacking))


def verdict_of(
    both: between.Both, policy: Policy, words: Sequence[str], lacking: Sequence[Lacking] = ()
) -> Verdict:
    """The judgement of an install, whether it is still to come or done."""
    compared = between.compare(both)
    departed = departed_code.look(both)
    told = {(loss.survivor.key, loss.chain[0]) for loss in departed.losses}
    absent = (loss for loss in arrived_code.losses(both) if (loss.survivor.key, loss.chain[0]) not in told)
    evidence = replace(compared.evidence, imports=(*departed.losses, *absent))
    both.scene.modules.keep()
    overwrites = (*compared.overwrites, *departed.shadowed)
    found = [
        *install_findings.of(evidence, both.turn, overwrites, compared.bound, policy),
        *map(_cannot_tell, lacking),
    ]
    verdict = replace(weigh(evidence, found, policy), installing=both.turn.installed)
    return replace(verdict, remedies=install_findings.remedies(verdict, both.turn, words))


def _both(wheels: Sequence[Wheel], announced: Sequence[Announced], scene: Scene) -> between.Both:
    laid = arrivals.lay(wheels, scene.inventory, scene.disk)
    after = Arrived(Changed(scene.disk, laid.gone), laid.contents)
    there = frozenset(path for path in laid.contents if scene.disk.kind(path) is not None)
    turn = Turn(
        was=scene.inventory,
        now=arrivals.inventory_after(scene.inventory, laid, wheels),
        replaced=laid.replaced,
        arriving=tuple(item.dist for item in wheels),
        requested=frozenset(item.key for item in announced if item.requested),
        taken=laid.taken,
        altered=there,
        fresh=frozenset(laid.contents) - there,
    )
    claims = {(item.dist.info, path): claim for item in wheels for path, claim in item.claims.items()}
    copies = {path: content.copy for path, content in laid.contents.items() if content.copy is not None}
    return between.Both(
        turn,
        scene.disk,
        after,
        scene,
        claims,
        bytes_before=lambda path: path,
        bytes_after=lambda path: copies.get(path, path),
    )


def _wheel(
    item: Announced,
    paths: Mapping[DistKey, str],
    target: Target,
    folder: str,
    asked: Callable[[TargetPath], bool],
) -> Wheel | Lacking:
    path = paths.get(item.key)
    if path is None:
        is_wheel = item.url.partition("#")[0].endswith(".whl")
        reason = (
            "its wheel cannot be had" if is_wheel else "it is no wheel, and building it would run its code"
        )
        return Lacking(item, reason)
    try:
        opened = wheel.open_wheel(path, item, target, _site(target))
    except wheel.WheelError as error:
        return Lacking(item, error.message)
    wanted = {place: info for place, info in opened.members.items() if asked(place)}
    copies = arriving.unpack(path, wanted, folder)
    contents = {place: Content(info.file_size, copies.get(place)) for place, info in opened.members.items()}
    contents |= {place: Content(0) for place in opened.dist.files or () if place not in contents}
    return Wheel(item, opened.dist, contents, opened.claims)


def _site(target: Target) -> TargetPath:
    """The first folder for distributions that is the environment's own."""
    prefix = os.path.realpath(target.prefix)
    real = [TargetPath(os.path.realpath(site)) for site in target.sites]
    return next((site for site in real if site.startswith(f"{prefix}/")), real[0])


def _cannot_tell(item: Lacking) -> Finding:
    name = f"{item.announced.name} {item.announced.version}"
    return finding(
        FindingKind.CANNOT_TELL,
        item.announced.name,
        f"what {name} brings cannot be told: {item.reason}",
        severity=Severity.REFUSE,
    )
