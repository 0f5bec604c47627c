"""What ailed before a step and after it."""

from __future__ import annotations

from dataclasses import replace

from safepip.model.diagnosis import Ailment, Check, Level
from safepip.model.paths import DistKey, TargetPath
from safepip.reasoning.health import progress, undoing
from safepip.reasoning.health.undoing import Touched
from support.environments import at, dist, inventory

FAILS = Ailment(
    Check.MISSING_MODULE,
    Level.ERROR,
    "app",
    "",
    at("app.py"),
    chain=("import app", "app.py:1", "import yaml"),
)
ELSEWHERE = replace(
    FAILS, check=Check.FAILING_IMPORT, path=at("two.py"), chain=("import app", "two.py:1", "import six.x")
)
LIBRARY = Ailment(Check.MISSING_LIBRARY, Level.ERROR, "torch", "", at("t.so"), "libc10.so")
UNMET = Ailment(Check.UNMET_REQUIREMENT, Level.WARN, "app", "", wants="pyyaml>=5")


def test_what_is_told_no_more_is_mended_unless_the_same_import_fails_at_another_place() -> None:
    assert progress.mended((FAILS, LIBRARY, UNMET), (replace(UNMET, message="again"),)) == (FAILS, LIBRARY)
    assert progress.mended((FAILS, LIBRARY), (ELSEWHERE,)) == (LIBRARY,)


def test_worse_is_what_was_not_broken_before() -> None:
    other = replace(ELSEWHERE, chain=("command app", "two.py:1", "import six.x"))
    broken = replace(UNMET, level=Level.ERROR)
    warned = replace(LIBRARY, level=Level.WARN)
    assert progress.worse((FAILS, UNMET), (ELSEWHERE, other, broken, warned)) == (other, broken)
    assert progress.worse((LIBRARY,), (replace(LIBRARY, path=at("u.so")), FAILS)) == (FAILS,)


def test_a_change_can_mend_what_it_shares_a_distribution_a_module_a_library_or_a_file_with() -> None:
    app, six = dist("app", requires=["lib", "pyyaml"]), dist("lib", requires=["six"])
    there = inventory(app, six)

    def may(item: Ailment, *keys: str, paths: tuple[str, ...] = ()) -> bool:
        touched = Touched(frozenset(map(DistKey, keys)), frozenset(map(at, paths)))
        return undoing.may_mend(touched, (item,), there)

    assert may(FAILS, "app")
    assert may(FAILS, "six")  # what it requires asks for it
    assert may(FAILS, "pyyaml")
    assert not may(FAILS, "numpy")
    assert may(replace(UNMET, distribution="gone"), "pyyaml")
    assert may(replace(LIBRARY, mended_by=(DistKey("cudnn"),)), "cudnn")
    assert may(FAILS, paths=("yaml/__init__.py",))
    assert may(LIBRARY, paths=("lib/libc10.so",))
    assert not may(LIBRARY, paths=("lib/libc11.so",))
    hollow = Ailment(Check.HOLLOW, Level.ERROR, "", "", paths=(at("lone.txt"),))
    assert may(hollow, paths=("lone.txt",))
    assert not may(replace(hollow, level=Level.NOTE), paths=("lone.txt",))
    assert not may(replace(hollow, paths=(TargetPath("/else"),)), paths=("lone.txt",))
