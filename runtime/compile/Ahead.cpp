// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptions of functions as constants beside their code.

#include "runtime/compile/Ahead.h"

#include "passes/analysis/TargetInfo.h"
#include "runtime/ahead/Description.h"
#include "runtime/ahead/Header.h"
#include "runtime/code/CompilerInterface.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"

namespace attn {

/// What the target of that name needs of a CPU.
static std::string featuresOf(const std::string &target) {
  const mlir::attn::TargetInfo *info = mlir::attn::lookupTarget(target);
  std::string features = info->cpu.str();
  if (!info->extensions.empty())
    features += "," + info->extensions.str();
  return features;
}

/// A private constant that holds the bytes.
static llvm::GlobalVariable *addBytes(llvm::Module &module,
                                      const std::string &bytes) {
  llvm::Constant *data = llvm::ConstantDataArray::getString(
      module.getContext(), bytes, /*AddNull=*/false);
  return new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::PrivateLinkage, data);
}

/// struct attn_function of runtime/Ahead.h.
static void addFunction(llvm::Module &module, const CompiledFunction &function,
                        const std::string &target, const std::string &prefix) {
  Description description;
  description.image.target = target;
  description.image.functions = {function};
  description.features = featuresOf(target);
  std::string bytes = encode(description);
  const std::string &name = function.signature.function;
  llvm::Type *word = llvm::Type::getInt64Ty(module.getContext());
  llvm::Constant *fields = llvm::ConstantStruct::getAnon(
      {llvm::ConstantInt::get(word, attnInterfaceVersion),
       addBytes(module, bytes), llvm::ConstantInt::get(word, bytes.size()),
       module.getFunction(name + ".plan"), module.getFunction(name + ".call")});
  new llvm::GlobalVariable(module, fields->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, fields,
                           aheadSymbol(prefix, name));
}

void exportAhead(llvm::Module &module, const ModuleImage &image,
                 const std::string &prefix) {
  for (const CompiledFunction &function : image.functions)
    addFunction(module, function, image.target, prefix);
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  for (auto [from, to] :
       {std::pair{"malloc", "attn_ahead_malloc"},
        std::pair{"aligned_alloc", "attn_ahead_aligned_alloc"},
        std::pair{"free", "attn_ahead_free"}})
    if (llvm::Function *function = module.getFunction(from))
      function->setName(to);
}

} // namespace attn
