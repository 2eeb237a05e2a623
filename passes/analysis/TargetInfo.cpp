// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of targets.

#include "passes/analysis/TargetInfo.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::attn;

// Register blocks: 8 x 3 leaves 5 of 32 vector registers for operands; 4 x 3
// leaves 4 of 16. Without fused multiply-add a product needs a register of its
// own, so the widest generic block is 4 x 2. A multiply-add takes 4 cycles at
// two per cycle, so that no block may have fewer than 8 accumulators.
static constexpr TargetInfo kTargets[] = {
    // name, cpu, extensions, width, block rows, features, key tile
    {"cpu:generic", "x86-64-v2", "", 4, {8, 4, 0}, CpuFeatures::none, 64},
    {"cpu:avx2",
     "x86-64-v3",
     "",
     8,
     {8, 4, 4},
     CpuFeatures::fma | CpuFeatures::f16c,
     64},
    {"cpu:avx512",
     "x86-64-v4",
     "",
     16,
     {16, 8, 8},
     CpuFeatures::fma | CpuFeatures::f16c | CpuFeatures::avx512,
     64},
    {"cpu:avx512bf16",
     "x86-64-v4",
     "avx512bf16",
     16,
     {16, 8, 8},
     CpuFeatures::fma | CpuFeatures::f16c | CpuFeatures::avx512 |
         CpuFeatures::avx512bf16,
     64},
    {"cpu:amx",
     "x86-64-v4",
     "avx512bf16,amx-tile,amx-bf16",
     16,
     {16, 8, 8},
     CpuFeatures::fma | CpuFeatures::f16c | CpuFeatures::avx512 |
         CpuFeatures::avx512bf16 | CpuFeatures::amx,
     64},
};

const TargetInfo *attn::lookupTarget(StringRef name) {
  for (const TargetInfo &target : kTargets)
    if (target.name == name)
      return &target;
  return nullptr;
}

std::string attn::listTargets() {
  return llvm::join(
      llvm::map_range(
          kTargets, [](const TargetInfo &target) { return target.name.str(); }),
      ", ");
}

StringRef attn::resolveTarget(StringRef name, bool mayUseTiles) {
  if (name != "host")
    return name;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<StringRef> names) {
    return llvm::all_of(names, [&](StringRef f) { return features.lookup(f); });
  };
  if (has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "fma"})) {
    if (!has({"avx512bf16"}))
      return "cpu:avx512";
    return mayUseTiles && has({"amx-tile", "amx-bf16"}) ? "cpu:amx"
                                                        : "cpu:avx512bf16";
  }
  if (has({"avx2", "fma", "f16c", "bmi2"}))
    return "cpu:avx2";
  return "cpu:generic";
}

const TargetInfo *attn::getTarget(Operation *op) {
  auto module =
      isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto name = module->getAttrOfType<StringAttr>(kTargetAttrName);
  if (!name) {
    op->emitError() << "expected module attribute '" << kTargetAttrName
                    << "', one of " << listTargets();
    return nullptr;
  }
  const TargetInfo *target = lookupTarget(name.getValue());
  if (!target)
    op->emitError() << "module attribute '" << kTargetAttrName
                    << "': expected one of " << listTargets() << ", got '"
                    << name.getValue() << "'";
  return target;
}
