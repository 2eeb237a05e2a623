// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dialect of one attribute, a mask for attn's ops.

include "attn/dialect/AttnInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def Strided_Dialect : Dialect {
  let name = "strided";
  let cppNamespace = "::strided";
  let useDefaultAttributePrinterParser = 1;
}

def Strided_EveryAttr : AttrDef<Strided_Dialect, "Every", [
    DeclareAttrInterfaceMethods<Attn_MaskAttrInterface, ["buildKeep"]>]> {
  let mnemonic = "every";
  let summary = "keeps every step-th key, counted from the query";
  let parameters = (ins "int64_t":$step);
  let assemblyFormat = "`<` $step `>`";
  let genVerifyDecl = 1;
}
