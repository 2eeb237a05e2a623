// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of AMX on a CPU that has none: each raises SIGILL, whose
// handler decodes it, does what the manual says on tiles in memory and goes on
// behind it. So the code that the compiler made for cpu:amx runs as it is.

#ifndef ATTN_TEST_E2E_TILEEMULATOR_H
#define ATTN_TEST_E2E_TILEEMULATOR_H

#include <cstdint>

namespace attn::test {

/// Installs the handler for all threads. Does nothing where it can't be.
void installTileEmulator();

/// Lets code for cpu:amx run in this process: on the tiles of the CPU, or,
/// where it has none or the system keeps them back, on emulated ones. True for
/// these.
bool emulateMissingTiles();

/// Instructions emulated so far, and tdpbf16ps among them.
struct TileCounts {
  int64_t instructions, products, configurations;
};
TileCounts tileCounts();

} // namespace attn::test

#endif // ATTN_TEST_E2E_TILEEMULATOR_H
