// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked into attn-run-amx, which runs code for cpu:amx on any CPU with
// AVX512_BF16.

#include "test/e2e/TileEmulator.h"

[[maybe_unused]] static const bool isEmulated =
    attn::test::emulateMissingTiles();
