"""The doctor's checks: each takes what was looked up and says what ails whom. None decides by itself what breaks.

Needs are the survey's answers, imports are followed by the same closure that guards a removal: what is missing
is put to it as if it had just been removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.elf import Rule
from safepip.model.environment import Distribution, Install, Inventory
from safepip.model.imports import ImportLoss
from safepip.model.paths import DistKey, TargetPath
from safepip.model.survey import Answer, Need, Objects, Standing, Survey
from safepip.reasoning.dependents import users_of
from safepip.reasoning.libraries.losses import chain_to, relative
from safepip.reasoning.libraries.objects import module_name
from safepip.reasoning.requirements import requirement_key, requires_closure, unmet

PHANTOM = "#"  # ends the info of a distribution that stands for what is missing
# What such a distribution has, but not with a name that is taken of it, or not in a version that is taken.
UNBOUND, REFUSED = "unbound", "refused"


def missing_libraries(
    survey: Survey,
    objects: Objects,
    inventory: Inventory,
    imported: Collection[TargetPath],
    missing: Mapping[str, Distribution],
) -> Iterator[Ailment]:
    """Needs that nothing meets, folded by owner and name. `imported`: broken modules that an import comes to;
    `missing`: by file name, who lists a file that is not there.
    """
    groups: dict[tuple[str, str], list[tuple[Need, Answer]]] = {}
    for need, answer in survey.answers.items():
        owner = objects.owner.get(need.root)
        if answer.standing < Standing.PRELOADED and owner is not None:
            groups.setdefault((owner.name, need.wants), []).append((need, answer))
    for (name, wants), found in groups.items():
        roots = {need.root for need, _ in found}
        need, answer = min(
            found,
            key=lambda row: (
                row[0].root not in imported,
                not module_name(row[0].root, inventory.target),
                row[0].root.count("/"),
                row[0].root,
            ),
        )
        owner = objects.owner[need.root]
        bringer = missing.get(wants.rpartition("/")[2])
        required = bringer is not None and bringer in requires_closure(owner, inventory)
        broken = bool(roots.intersection(imported)) or required
        module = module_name(need.root, inventory.target)  # nothing shows that an import comes to it
        doubtful = Level.WARN if module else Level.NOTE
        how = "is missing" if answer.standing is Standing.MISSING else "is not found, though it is there"
        yield Ailment(
            Check.MISSING_LIBRARY,
            Level.ERROR if broken else doubtful,
            name,
            f"{wants} {how}: {need.consumer.rpartition('/')[2]} of {name} needs it",
            need.consumer,
            wants,
            answer.standing,
            (*chain_to(survey.loadings[need.root], need.consumer, inventory), wants),
            tuple(sorted(roots)),
            (bringer.key,) if bringer else (),
        )


def missing_symbols(
    lacking: Iterable[tuple[Need, Answer, tuple[str, ...]]], objects: Objects
) -> Iterator[Ailment]:
    for need, answer, names in lacking:
        owner, provider = objects.owner.get(need.consumer), answer.provider
        if owner is None or provider is None:
            continue
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        yield Ailment(
            Check.MISSING_SYMBOL,
            Level.ERROR,
            owner.name,
            f"{need.consumer.rpartition('/')[2]} of {owner.name} binds {need.wants}, which lacks {shown}",
            need.consumer,
            need.wants,
            answer.standing,
            paths=(provider,),
        )


def missing_modules(
    losses: Iterable[ImportLoss], inventory: Inventory, unmet: Collection[Ailment] = ()
) -> Iterator[Ailment]:
    """Imports that fail for want of a module; those that fail in a library, or with all there, are told by others.

    `unmet`: requirements, of which one may bring what is nowhere.
    """
    losses = tuple(losses)
    failing = {loss.survivor.key for loss in losses}
    for loss in losses:
        what = loss.lost.info.rpartition(PHANTOM)[2]
        if what in {"broken", UNBOUND, REFUSED}:
            continue
        begins = loss.chain[0] if loss.chain else loss.survivor.name
        where = f"{relative(loss.importer, inventory)}:{loss.line}"
        wants = loss.lost.name if what == "absent" else ""
        yield Ailment(
            Check.MISSING_MODULE,
            level_of(loss, begins, inventory, failing) if what == "nowhere" else Level.ERROR,
            loss.survivor.name,
            f"{begins} fails: {where} imports {loss.module}, which is not there",
            loss.importer,
            chain=loss.chain,
            mended_by=() if what in {"absent", "nowhere"} else (loss.lost.key,),
            wants=_bringing(loss, inventory, unmet) if what == "nowhere" else wants,
        )


def level_of(loss: ImportLoss, begins: str, inventory: Inventory, failing: Collection[DistKey]) -> Level:
    """Some are shipped with modules that only an extra makes work, or that none of those who require them imports.

    Hosts pass over plugins that do not load, and their failure is nobody's then.
    """
    kind, _, name = begins.partition(" ")
    if kind == "plugin" or _is_extra(loss, inventory):
        return Level.NOTE
    users = users_of(loss.survivor, inventory.distributions)
    passed_over = bool(users) and not any(user.key in failing for user in users)
    return Level.WARN if kind == "command" or "." in name or passed_over else Level.ERROR


def _is_extra(loss: ImportLoss, inventory: Inventory) -> bool:
    """Whether the importer lists something of the module's name under an extra."""
    top = loss.module.partition(".")[0].lower()
    owners = inventory.owners([loss.importer]).get(loss.importer, ())
    return any(
        "extra ==" in line and top in (requirement_key(line) or "").replace("-", "_")
        for dist in owners
        for line in dist.requires
    )


def _bringing(loss: ImportLoss, inventory: Inventory, unmet: Collection[Ailment]) -> str:
    """What the importer requires and nobody installed, where that is one thing, or one has the module's name in its own."""
    owners = {dist.name for dist in inventory.owners([loss.importer]).get(loss.importer, ())}
    wanted = [
        item.wants
        for item in unmet
        if item.distribution in owners and not item.mended_by and not _is_there(item.wants, inventory)
    ]
    named = [wants for wants in wanted if loss.module.partition(".")[0].lower() in wants.lower()]
    best = named or wanted
    return best[0] if len(best) == 1 else ""


def _is_there(wants: str, inventory: Inventory) -> bool:
    key = requirement_key(wants)
    return key is not None and inventory.find(key) is not None


def unmet_requirements(
    inventory: Inventory, hollow: Collection[TargetPath], failing: Collection[tuple[str, DistKey]] = ()
) -> Iterator[Ailment]:
    """Requires-Dist lines that count for this interpreter and that nothing installed meets.

    `hollow` (by info) meet nothing. `failing`: whose imports fail for want of which distribution; a declaration
    by itself breaks nothing.
    """
    for user in inventory.distributions:
        for item in unmet(user, inventory, hollow):
            empty = item.found if item.found is not None and item.found.info in hollow else None
            said = (
                f"requires {empty.name}, of which nothing but the metadata is there" if empty else item.said
            )
            breaks = empty is not None or (user.name, requirement_key(item.name)) in failing
            yield Ailment(
                Check.UNMET_REQUIREMENT,
                Level.ERROR if breaks else Level.WARN,
                user.name,
                f"{user.name} {said}",
                mended_by=(empty.key,) if empty else (),
                wants=f"{item.name}{item.extras}{item.versions}",
            )


def env_reliant(now: Survey, bare: Survey, objects: Objects) -> Iterator[Ailment]:
    """Needs that are met in `now` and not in `bare`, the same without LD_LIBRARY_PATH, of the roots that it touches.

    What only a library of the variable's folders needs is nobody's need without it: told where it lies there too.
    """
    told = set()
    for need, answer in now.answers.items():
        there = bare.answers.get(need)
        owner = objects.owner.get(need.consumer)
        by_variable = answer.binding.how is not None and answer.binding.how.rule is Rule.LIBRARY_PATH
        lost = by_variable if there is None else there.standing < Standing.PRELOADED
        met = answer.standing >= Standing.PRELOADED
        if met and lost and owner is not None and (owner.name, need.wants) not in told:
            told.add((owner.name, need.wants))
            yield Ailment(
                Check.ENV_RELIANT,
                Level.WARN,
                owner.name,
                f"{need.consumer.rpartition('/')[2]} of {owner.name} finds {need.wants} through LD_LIBRARY_PATH only",
                need.consumer,
                need.wants,
                answer.standing,
                paths=(answer.provider,) if answer.provider else (),
            )


def absent(key: DistKey, site: TargetPath) -> Distribution:
    """A distribution of this name that is not installed: it is taken to give a module of its own name."""
    return _giving(key, key.replace("-", "_"), site, "absent")


def nowhere(module: str, site: TargetPath) -> Distribution:
    """Whatever would give a module of this name."""
    return _giving(DistKey(module), module, site, "nowhere")


def _giving(key: DistKey, module: str, site: TargetPath, what: str) -> Distribution:
    dist = Distribution(key, key, "", site, TargetPath(f"{site}/{module}"), Install.DIST_INFO, ())
    return phantom(dist, what, [TargetPath(f"{site}/{module}.py")])


def phantom(dist: Distribution, what: str, paths: Iterable[TargetPath]) -> Distribution:
    """A distribution that stands for what is missing or broken of `dist`, so that it can be put as a removal."""
    info = TargetPath(f"{dist.info}{PHANTOM}{what}")
    return replace(dist, info=info, files=tuple(paths), requires=(), entry_points=(), as_written=None)
