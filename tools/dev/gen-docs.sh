#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes the reference of ops and passes into a folder, from their TableGen
# records. With --check the folder has to hold just that already.
#
#   gen-docs.sh [--check] FOLDER
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
check=0
if [[ ${1:-} == --check ]]; then
  check=1
  shift
fi
folder=${1:?expected a folder}

generate() {
  mlir-tblgen-22 -I "$root" -I /usr/lib/llvm-22/include "$@"
}

new=$(mktemp -d)
trap 'rm -r "$new"' EXIT
generate -gen-dialect-doc -dialect=attn "$root/dialect/AttnOps.td" \
  -o "$new/AttnDialect.md"
generate -gen-op-doc "$root/dialect/AttnLinearOps.td" \
  -o "$new/AttnLinearOps.md"
generate -gen-op-doc "$root/dialect/AttnTileOps.td" -o "$new/AttnTileOps.md"
generate -gen-pass-doc "$root/passes/Passes.td" -o "$new/AttnPasses.md"

if ((check)); then
  diff -ru "$folder" "$new" || {
    echo "error: $folder is out of date, run ./dev docs" >&2
    exit 1
  }
else
  mkdir -p "$folder"
  cp "$new"/*.md "$folder"
fi
