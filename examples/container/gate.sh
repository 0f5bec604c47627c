#!/bin/sh
# gate.sh DIR [PYTHON] [PACKAGE…]: end with 0 only if the image unpacked or mounted at DIR is whole, and would be
# without each PACKAGE. PYTHON is a path inside it. Run it after a build, or on `podman image mount`'s folder.
set -eu
image=$1
python=${2:-}
shift; [ $# -eq 0 ] || shift
safepip ${python:+--python "$python"} --root "$image" doctor
for package in "$@"; do
    safepip ${python:+--python "$python"} --root "$image" uninstall --dry-run --fail-on warn "$package"
done
