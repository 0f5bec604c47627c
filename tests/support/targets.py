"""A Target asked of the interpreter itself: what safepip reads from files is held against it elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from safepip.model.environment import PipInUse, Target
from safepip.model.paths import TargetPath

_QUESTION = """
import json, os, site, sys, sysconfig
user = site.ENABLE_USER_SITE and site.getusersitepackages()
print(json.dumps({
    "version": ".".join(map(str, sys.version_info[:3])), "prefix": sys.prefix, "base": sys.base_prefix,
    "path": [os.path.abspath(p) for p in sys.path[1:]], "tag": sys.implementation.cache_tag,
    "stdlib": os.path.realpath(sysconfig.get_path("stdlib")), "scripts": sysconfig.get_path("scripts"),
    "soabi": sysconfig.get_config_var("SOABI"), "optimize": sys.flags.optimize, "cache": sys.pycache_prefix,
    "user": user or None, "user_scripts": user and sysconfig.get_path("scripts", "posix_user"),
}))
"""


def target_of(
    venv: Path, *, pip: str = "26.3", backend: str = "importlib", env: Mapping[str, str] | None = None
) -> Target:
    """The environment at `venv` (or any prefix with a bin/python), every folder of sys.path a site."""
    executable = venv / "bin" / "python"
    done = subprocess.run(
        [executable, "-c", _QUESTION], capture_output=True, check=True, env=env or os.environ, cwd="/"
    )
    said = json.loads(done.stdout)
    user = said["user"] if said["user"] in said["path"] else None
    return Target(
        executable=TargetPath(str(executable)),
        interpreter=TargetPath(os.path.realpath(executable)),
        version=said["version"],
        prefix=said["prefix"],
        base_prefix=said["base"],
        stdlib=said["stdlib"],
        scripts=said["scripts"],
        sites=tuple(path for path in said["path"] if os.path.exists(path)),
        path=tuple(said["path"]),
        cache_tag=said["tag"],
        soabi=said["soabi"],
        libc=None,
        markers={},
        pip=PipInUse(
            pip,
            None,
            backend,
            optimize=str(said["optimize"] or ""),
            pycache_prefix=said["cache"],
        ),
        user_site=user,
        user_scripts=said["user_scripts"] if user else None,
    )
