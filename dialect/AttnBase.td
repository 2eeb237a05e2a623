// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The attn dialect and the base classes of its ops and attributes.

#ifndef ATTN_BASE_TD
#define ATTN_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::mlir::attn";
  let summary = "Attention variants as peers, with checked rewrites between them";
  let description = [{
    Whole-attention ops work on tensors of layout B x H x S x D: batch, heads,
    sequence, head dimension. Any dimension may be dynamic. Tile ops are the
    form that attention takes between tiling and the lowering to a machine.

    Sizes used throughout: B batch, Hq query heads, Hkv key and value heads,
    G = Hq / Hkv, Sq queries, Skv keys, Dk and Dv the head dimensions of key
    and value.

    Clauses of whole-attention ops stand behind the operands in any order, each
    at most once, and are printed in the order in which the op lists them. A
    clause that the op does not have is refused by name. The type of a result may
    say ? for a size that is known.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

class Attn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Attn_Dialect, mnemonic, traits>;

/// An op with clauses: its assembly follows from its line in ClauseTables.h.
class Attn_ClauseOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, traits> {
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &result) {
      return ::mlir::attn::parseClauses(parser, result);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) {
      ::mlir::attn::printClauses(printer, getOperation());
    }
  }];
}

class Attn_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

#endif // ATTN_BASE_TD
