#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the attention of the stored layers of all-MiniLM-L6-v2 with the attn-run
# on the PATH, checks it against what the model computed and against the
# reference device, and times it. Arguments go to attn-run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

echo "all-MiniLM-L6-v2, 4 sentences of 26, 15, 13 and 8 tokens, 12 heads of 32"
status=0
for layer in 0 2 5; do
  report=$(attn-run attention.mlir \
    --input=q="@data/layer$layer-q.npy" --input=k="@data/layer$layer-k.npy" \
    --input=v="@data/layer$layer-v.npy" --input=n=@data/lengths.npy \
    --expect=o="@data/layer$layer-o.npy" --atol=1e-5 --rtol=1e-5 \
    --check --benchmark=200 "$@") || status=$?
  echo
  echo "layer $layer"
  # The last line is JSON: "median_ms": 0.1, ...
  sed -e 's/^expect o:/  against the model:    /' \
    -e 's/^check o:/  against the reference:/' \
    -e '/^{/{s/.*"target": "\([^"]*\)", "median_ms": \([0-9.]*\).*"compile_ms": \([0-9.]*\).*"threads": \([0-9]*\).*/  time:                  \2 ms on \4 threads (\1), compiled in \3 ms/}' \
    <<<"$report"
done
echo
if ((status)); then
  echo "error: a layer did not run or does not agree, see above" >&2
  exit "$status"
fi
echo "all layers agree with the model and with the reference device"
