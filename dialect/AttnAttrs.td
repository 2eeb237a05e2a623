// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mask attributes, the alignment of queries against keys, and the choices of
// linear attention.

#ifndef ATTN_ATTRS_TD
#define ATTN_ATTRS_TD

include "dialect/AttnBase.td"
include "dialect/AttnFeatures.td"
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

def Attn_BigBirdAttr : Attn_Attr<"BigBird", "bigbird", [
    DeclareAttrInterfaceMethods<Attn_MaskAttrInterface,
                                ["buildKeep", "readsRandomBlocks",
                                 "needsRandomBlocks"]>]> {
  let summary = "keeps a window, global blocks and random blocks";
  let description = [{
    Positions are taken in blocks: bi = floor(i / block), bj = floor(j / block).
    Query head h keeps (i, j) if any of these holds (Zaheer et al. 2020, "Big
    Bird: Transformers for Longer Sequences", section 2):

    - window: |bi - bj| <= window
    - global: bi < global or bj < global
    - last: last > 0, and bi >= N - last or bj >= N - last
    - random: bj = R(h, bi, t) for a t in 0 .. random - 1
    - table: bj = T[h, bi, t] for any t, where 0 <= bi < N and bj >= 0

    Positions in front of 0 are in blocks below 0, and so below any `global`.

    T is the clause `random_blocks`: for each query head (or one for all), each
    of N blocks of queries, the blocks of keys that it sees; an entry below 0
    names none. It stands in place of R, so that `random` and `blocks` are 0.
    Without it N is `blocks`. The published mask has a table, `window = 1`,
    `global = 1` and `last = 1`.

    R draws from the blocks 0 .. blocks - 1, the same on every machine, in
    arithmetic of 32 bits without signs:

        x = seed + 0x9E3779B1 h + 0x85EBCA77 bi + 0xC2B2AE3D t
        x = (x xor (x >> 16)) * 0x7FEB352D
        x = (x xor (x >> 15)) * 0x846CA68B
        R = ((x >> 16) * blocks) >> 16

    Two draws may be the same block. `blocks` is the number of key blocks that
    the model has, at most 65536, and is no matter of the keys of a call: a slice
    of the keys keeps its mask. `block` is at least 1, the others at least 0, and
    blocks at least 1 with `random`, and with `last` where there is no table.
    `last`, `random`, `blocks` and `seed` are 0 where they are not written.

    Examples:
    `#attn.bigbird<block = 64, window = 1, global = 2, random = 3, blocks = 64,
    seed = 7>`, `#attn.bigbird<block = 64, window = 1, global = 1, last = 1>`.
  }];
  let parameters = (ins "int64_t":$block, "int64_t":$window,
                        "int64_t":$global,
                        DefaultValuedParameter<"int64_t", "0">:$last,
                        DefaultValuedParameter<"int64_t", "0">:$random,
                        DefaultValuedParameter<"int64_t", "0">:$blocks,
                        DefaultValuedParameter<"int64_t", "0">:$seed);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Attn_NormalizerEnum : I32EnumAttr<"Normalizer",
    "what linear attention divides by", [
      I32EnumAttrCase<"Token", 0, "token">,
      I32EnumAttrCase<"Feature", 1, "feature">
    ]> {
  let cppNamespace = "::mlir::attn";
  let genSpecializedAttr = 0;
}

def Attn_NormalizerAttr
    : EnumAttr<Attn_Dialect, Attn_NormalizerEnum, "normalizer"> {
  let assemblyFormat = "$value";
}

def Attn_NormsEnum : I32EnumAttr<"Norms",
    "lengths of the rows of a random projection", [
      I32EnumAttrCase<"Chi", 0, "chi">,
      I32EnumAttrCase<"SqrtDim", 1, "sqrt_d">
    ]> {
  let cppNamespace = "::mlir::attn";
  let genSpecializedAttr = 0;
}

def Attn_NormsAttr : EnumAttr<Attn_Dialect, Attn_NormsEnum, "norms"> {
  let assemblyFormat = "$value";
}

def Attn_FavorKindEnum : I32EnumAttr<"FavorKind", "features of FAVOR+", [
      I32EnumAttrCase<"Positive", 0, "positive">,
      I32EnumAttrCase<"Hyperbolic", 1, "hyperbolic">,
      I32EnumAttrCase<"Trigonometric", 2, "trigonometric">,
      I32EnumAttrCase<"Relu", 3, "relu">
    ]> {
  let cppNamespace = "::mlir::attn";
  let genSpecializedAttr = 0;
}

def Attn_FavorKindAttr
    : EnumAttr<Attn_Dialect, Attn_FavorKindEnum, "favor_kind"> {
  let assemblyFormat = "$value";
}

#endif // ATTN_ATTRS_TD
