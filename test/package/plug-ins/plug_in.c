/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Attention behind one name, for host.c.
 */

#include PLUG_IN_HEADER

attn_status plug_in_run(const attn_tensor *q, const attn_tensor *k,
                        const attn_tensor *v, const attn_tensor *o) {
  return PLUG_IN_FUNCTION(q, k, v, o, /*threads=*/1);
}
