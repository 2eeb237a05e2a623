#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Interesting for attn-reduce: a program that compiles, and whose result differs
# from that of the reference device. attn-run exits with 1 for just that; every
# function is tried, on random inputs of static sizes.
#
#   attn-reduce FILE --attn-reduction='test=examples/reduce/differs.sh'
#
# ATTN_RUN names another attn-run than the one in the path.
run=${ATTN_RUN:-attn-run}
for function in $(sed -n 's/^ *func\.func @\([A-Za-z0-9_.$]*\).*/\1/p' "$1"); do
  "$run" "$1" --function="$function" --check --no-cache >/dev/null 2>&1
  [ $? -eq 1 ] && exit 1
done
exit 0
