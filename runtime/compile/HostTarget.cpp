// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Targets against the features of the running CPU.

#include "runtime/compile/HostTarget.h"

#include "passes/analysis/TargetInfo.h"

#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

namespace attn {

/// Features of `target` that the running CPU lacks, separated by commas; those
/// of AMX are told by the process.
static std::string missingFeatures(const mlir::attn::TargetInfo &target) {
  llvm::SmallVector<llvm::StringRef> needed;
  llvm::X86::getFeaturesForCPU(target.cpu, needed);
  target.extensions.split(needed, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  std::string missing;
  for (llvm::StringRef feature : needed) {
    // Features that can't be asked for (such as x87) are not in the map.
    auto found = present.find(feature);
    if (found == present.end() || found->second || feature.starts_with("amx-"))
      continue;
    missing += missing.empty() ? "" : ", ";
    missing += feature;
  }
  return missing;
}

/// Why the process can't run code for `info`; empty if it can.
static std::string whyNotHere(const mlir::attn::TargetInfo &info,
                              const std::string &whyNoTiles) {
  std::string missing = missingFeatures(info);
  if (!missing.empty())
    return "needs features that this CPU lacks: " + missing;
  if (info.has(mlir::attn::CpuFeatures::amx) && !whyNoTiles.empty())
    return "needs AMX tiles: " + whyNoTiles;
  return {};
}

Result<HostTarget> resolveHostTarget(const std::string &name,
                                     const std::string &whyNoTiles,
                                     TargetUse use) {
  static const bool isInitialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)isInitialized;

  llvm::StringRef resolved =
      mlir::attn::resolveTarget(name, whyNoTiles.empty());
  const mlir::attn::TargetInfo *info = mlir::attn::lookupTarget(resolved);
  if (!info)
    return Error{ErrorCode::invalidArgument, "option target: expected host, " +
                                                 mlir::attn::listTargets() +
                                                 ", got '" + name + "'"};
  llvm::Triple triple(llvm::sys::getProcessTriple());
  unsigned vectorBits = info->vectorWidth * 32;
  if (name == "host") {
    auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
    if (!builder)
      return Error{ErrorCode::unsupported,
                   "option target: " + toString(builder.takeError())};
    return HostTarget{resolved.str(), std::move(*builder), vectorBits};
  }
  if (!triple.isX86())
    return Error{ErrorCode::unsupported, "option target: '" + name +
                                             "' needs an x86-64 CPU, got " +
                                             triple.getArchName().str()};
  if (use == TargetUse::run)
    if (std::string why = whyNotHere(*info, whyNoTiles); !why.empty())
      return Error{ErrorCode::unsupported,
                   "option target: '" + name + "' " + why};
  llvm::orc::JITTargetMachineBuilder builder(triple);
  builder.setCPU(info->cpu.str());
  llvm::SmallVector<llvm::StringRef> extensions;
  info->extensions.split(extensions, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef extension : extensions)
    builder.getFeatures().AddFeature(extension);
  return HostTarget{resolved.str(), std::move(builder), vectorBits};
}

} // namespace attn
