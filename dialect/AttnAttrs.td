// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mask attributes and the alignment of queries against keys.

#ifndef ATTN_ATTRS_TD
#define ATTN_ATTRS_TD

include "dialect/AttnBase.td"
include "dialect/AttnInterfaces.td"

def Attn_AlignmentEnum : I32EnumAttr<"Alignment",
    "where the query rows stand among the keys", [
      I32EnumAttrCase<"TopLeft", 0, "top_left">,
      I32EnumAttrCase<"BottomRight", 1, "bottom_right">
    ]> {
  let cppNamespace = "::mlir::attn";
  let genSpecializedAttr = 0;
}

def Attn_AlignmentAttr
    : EnumAttr<Attn_Dialect, Attn_AlignmentEnum, "alignment"> {
  let assemblyFormat = "$value";
}

def Attn_CausalAttr : Attn_Attr<"Causal", "causal", [
    DeclareAttrInterfaceMethods<Attn_MaskAttrInterface, ["buildKeep"]>]> {
  let summary = "keeps j <= i";
  let description = [{
    A query at position i sees the keys at positions j <= i.
  }];
}

def Attn_WindowAttr : Attn_Attr<"Window", "window", [
    DeclareAttrInterfaceMethods<Attn_MaskAttrInterface,
                                ["buildKeep", "keepsAll"]>]> {
  let summary = "keeps i - left <= j <= i + right";
  let description = [{
    A query at position i sees the keys at positions i - left to i + right.
    The query's own position is not counted: `left = 1, right = 0` keeps two
    keys. An absent bound is unbounded. Bounds are not negative.

    Example: `#attn.window<left = 4095>`.
  }];
  let parameters = (ins "::std::optional<int64_t>":$left,
                        "::std::optional<int64_t>":$right);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Attn_PrefixAttr : Attn_Attr<"Prefix", "prefix", [
    DeclareAttrInterfaceMethods<Attn_MaskAttrInterface,
                                ["buildKeep", "usesPrefix"]>]> {
  let summary = "keeps j < n or j <= i";
  let description = [{
    Every query sees the first n positions, n being the clause `prefix(%n)`, and
    beyond them those at j <= i (prefix language model, Raffel et al. 2020,
    "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
    Transformer", section 3.2.1). It stands in place of `#attn.causal`: beside
    it, causal would hold for the prefix too.
  }];
}

#endif // ATTN_ATTRS_TD
