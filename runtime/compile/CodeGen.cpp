// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipelines emit code in final form, so three cheap passes do what O3
// would do in four times the time.

#include "runtime/compile/CodeGen.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace attn {

static constexpr const char middleEnd[] =
    "function(early-cse,instcombine,simplifycfg)";

static bool isIntegerDivision(const llvm::Instruction &instruction) {
  switch (instruction.getOpcode()) {
  case llvm::Instruction::SDiv:
  case llvm::Instruction::UDiv:
  case llvm::Instruction::SRem:
  case llvm::Instruction::URem:
    return true;
  default:
    return false;
  }
}

/// Division by zero and the overflow of INT_MIN / -1 trap on this machine and
/// would take the process down. Both divide by 1 instead.
static void guardDivision(llvm::Instruction &division) {
  llvm::Value *dividend = division.getOperand(0);
  llvm::Value *divisor = division.getOperand(1);
  const auto *constant = llvm::dyn_cast<llvm::ConstantInt>(divisor);
  if (constant && !constant->isZero() && !constant->isMinusOne())
    return;
  llvm::IRBuilder<> builder(&division);
  llvm::Type *type = divisor->getType();
  llvm::Value *one = llvm::ConstantInt::get(type, 1);
  llvm::Value *traps =
      builder.CreateICmpEQ(divisor, llvm::Constant::getNullValue(type));
  bool isSigned = division.getOpcode() == llvm::Instruction::SDiv ||
                  division.getOpcode() == llvm::Instruction::SRem;
  if (isSigned) {
    llvm::APInt lowest =
        llvm::APInt::getSignedMinValue(type->getScalarSizeInBits());
    llvm::Value *overflows = builder.CreateAnd(
        builder.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)),
        builder.CreateICmpEQ(dividend, llvm::ConstantInt::get(type, lowest)));
    traps = builder.CreateOr(traps, overflows);
  }
  // Without the freeze, a poison divisor could differ between test and use.
  division.setOperand(1, builder.CreateSelect(traps, one, divisor));
}

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
  return {};
}

Result<std::unique_ptr<llvm::TargetMachine>>
prepareForTarget(llvm::Module &module, HostTarget &target) {
  target.builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto machine = target.builder.createTargetMachine();
  if (!machine)
    return Error{ErrorCode::unsupported, toString(machine.takeError())};
  module.setDataLayout((*machine)->createDataLayout());
  module.setTargetTriple((*machine)->getTargetTriple());
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function)))
      if (isIntegerDivision(instruction))
        guardDivision(instruction);
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
