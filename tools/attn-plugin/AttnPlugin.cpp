// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect, the passes and the pipelines of attn for a stock mlir-opt. It
// links the shared libraries of MLIR and LLVM only, like mlir-opt itself: a
// second copy of MLIR would have type ids of its own.

#include "passes/Registration.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"

static constexpr const char name[] = "attn";

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, name, ATTN_VERSION,
          [](mlir::DialectRegistry *registry) {
            mlir::attn::registerAttn(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, name, ATTN_VERSION,
          [] { mlir::attn::registerAttnPasses(); }};
}
