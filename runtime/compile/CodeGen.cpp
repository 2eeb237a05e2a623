// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipelines emit code in final form, so three cheap passes do what O3
// would do in four times the time.

#include "runtime/compile/CodeGen.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace attn {

// One round of instcombine is enough; by default it aborts where a second one
// would still change something.
static constexpr const char middleEnd[] =
    "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

static void addAttributes(llvm::Module &module, llvm::TargetMachine &machine,
                          unsigned vectorBits) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    if (vectorBits >= 256)
      function.addFnAttr("prefer-vector-width", std::to_string(vectorBits));
    function.addFnAttr(llvm::Attribute::NoUnwind);
    // Comparisons take subnormal numbers for 0 at run time, as
    // attn-set-float-mode says; those of f16 are computed in f32 and count.
    function.addFnAttr("denormal-fp-math", "dynamic,dynamic");
  }
}

/// %y = uitofp i1 %x to bfloat
///   ->  %y = bitcast (select i1 %x, i16 0x3f80, i16 0) to bfloat
/// instcombine makes the first of a choice between 0 and 1, or -1, for which
/// the code generator calls a function that only some runtime libraries have.
static void expandBooleanCasts(llvm::Module &module) {
  llvm::SmallVector<llvm::CastInst *> casts;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
      if (cast && llvm::isa<llvm::UIToFPInst, llvm::SIToFPInst>(instruction) &&
          cast->getSrcTy()->isIntOrIntVectorTy(1) &&
          cast->getDestTy()->getScalarSizeInBits() == 16)
        casts.push_back(cast);
    }
  for (llvm::CastInst *cast : casts) {
    llvm::IRBuilder<> builder(cast);
    llvm::Type *type = cast->getDestTy();
    llvm::APFloat one(type->getScalarType()->getFltSemantics(), "1.0");
    if (llvm::isa<llvm::SIToFPInst>(cast))
      one.changeSign();
    llvm::Type *bits = cast->getSrcTy()->getWithNewBitWidth(16);
    llvm::Value *chosen = builder.CreateSelect(
        cast->getOperand(0), llvm::ConstantInt::get(bits, one.bitcastToAPInt()),
        llvm::ConstantInt::get(bits, 0));
    cast->replaceAllUsesWith(builder.CreateBitCast(chosen, type));
    cast->eraseFromParent();
  }
}

static Result<void> optimise(llvm::Module &module,
                             llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, middleEnd))
    return Error{ErrorCode::compileFailure, toString(std::move(error))};
  passes.run(module, modules);
  expandBooleanCasts(module);
  return {};
}

Result<std::unique_ptr<llvm::TargetMachine>>
prepareForTarget(llvm::Module &module, HostTarget &target, CodeUse use) {
  target.builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  if (use == CodeUse::load) {
    // Absolute 64-bit addresses: the loader needs neither stubs nor tables for
    // functions that lie out of reach, and kernels are as fast as with others.
    target.builder.setRelocationModel(llvm::Reloc::Static);
    target.builder.setCodeModel(llvm::CodeModel::Large);
  } else {
    // For programs and libraries at any address.
    target.builder.setRelocationModel(llvm::Reloc::PIC_);
    target.builder.setCodeModel(llvm::CodeModel::Small);
    module.setPICLevel(llvm::PICLevel::BigPIC);
  }
  auto machine = target.builder.createTargetMachine();
  if (!machine)
    return Error{ErrorCode::unsupported, toString(machine.takeError())};
  module.setDataLayout((*machine)->createDataLayout());
  module.setTargetTriple((*machine)->getTargetTriple());
  addAttributes(module, **machine, target.vectorBits);
  if (Result<void> done = optimise(module, **machine); !done)
    return done.error();
  return std::move(*machine);
}

Result<std::string> generateCode(llvm::Module &module,
                                 llvm::TargetMachine &machine,
                                 llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return Error{ErrorCode::unsupported,
                 "this machine's code generator can't write that kind of file"};
  passes.run(module);
  return std::string(code.begin(), code.end());
}

} // namespace attn
