// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole-attention ops: the language in which users write attention.

#ifndef ATTN_OPS_TD
#define ATTN_OPS_TD

include "dialect/AttnAttrs.td"
include "dialect/AttnInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_FloatTensor4D : RankedTensorOf<[F16, BF16, F32, F64],
    [HasAnyRankOfPred<[4]>],
    "4-D tensor (batch x heads x sequence x head dim)">;
def Attn_LseTensor : RankedTensorOf<[F32, F64], [HasAnyRankOfPred<[3]>],
    "3-D tensor (batch x heads x sequence)">;
def Attn_PerBatch : RankedTensorOf<[I32, I64], [HasAnyRankOfPred<[1]>],
    "1-D tensor (batch)">;
def Attn_IndexOrPerBatch : AnyTypeOf<[Index, Attn_PerBatch],
    "index or 1-D tensor (batch) of i32 or i64">;

class Attn_SoftmaxFamilyOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, !listconcat(traits, [
        Pure, AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>])> {
  let arguments = (ins
    Attn_FloatTensor4D:$query,
    Attn_FloatTensor4D:$key,
    Attn_FloatTensor4D:$value,
    OptionalAttr<F64Attr>:$scale,
    OptionalAttr<F64Attr>:$softcap,
    OptionalAttr<Attn_AlignmentAttr>:$align,
    Optional<Attn_IndexOrPerBatch>:$offset,
    OptionalAttr<ArrayAttr>:$mask,
    Optional<Attn_PerBatch>:$lengths,
    Optional<Index>:$key_offset);
  let regions = (region AnyRegion:$score, AnyRegion:$keep);
  let results = (outs Attn_FloatTensor4D:$output,
                      Optional<Attn_LseTensor>:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value
    (`scale` `(` $scale^ `)`)?
    (`softcap` `(` $softcap^ `)`)?
    (`align` `(` custom<Alignment>($align)^ `)`)?
    (`offset` `(` $offset^ `:` type($offset) `)`)?
    (`mask` `(` custom<Masks>($mask)^ `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`key_offset` `(` $key_offset^ `:` type($key_offset) `)`)?
    (`score` $score^)?
    (`keep` $keep^)?
    attr-dict `:` `(` type($query) `,` type($key) `,` type($value) `)` `->`
    custom<ResultTypes>(type($output), type($lse))
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  code sharedDeclaration = [{
    /// Sizes of the op; see the dialect's description for the names.
    ::mlir::Type getElementType() {
      return getQuery().getType().getElementType();
    }
  }];
}

def Attn_SoftmaxOp : Attn_SoftmaxFamilyOp<"softmax",
    [DeclareOpInterfaceMethods<Attn_SoftmaxFamilyInterface>]> {
  let summary = "softmax attention, one key and value head per query head";
  let description = [{
    Formula (scaled dot-product attention, Vaswani et al. 2017, "Attention Is
    All You Need", section 3.2.1):

        s1 = scale * sum_d Q[b,h,r,d] K[b,h,t,d]     scale: default 1/sqrt(Dk)
        s2 = c tanh(s1 / c)                          softcap(c)
        s3 = score(s2, b, h, i, j)                   score region
        P[b,h,r,:]   = softmax over the kept t of s3
        O[b,h,r,:]   = sum_t P[b,h,r,t] V[b,h,t,:]
        lse[b,h,r]   = ln sum_t exp(s3)              over the kept t

    | operand | shape | meaning |
    |---|---|---|
    | query | B x H x Sq x Dk | f16, bf16, f32 or f64 |
    | key | B x H x Skv x Dk | type of query |
    | value | B x H x Skv x Dv | type of query; Dv may differ from Dk |
    | offset | index or B | position of query row 0 |
    | lengths | B | keys in use, clamped to 0..Skv |
    | key_offset | index | position of key row 0, default 0 |
    | output | B x H x Sq x Dv | type of query |
    | lse | B x H x Sq | natural log; f64 if query is of f64, else f32 |

    Positions. Query row r has position i = r + offset; the offset is the
    operand, or 0 for `align(top_left)`, or (key length - Sq) for
    `align(bottom_right)`, per batch and negative if there are fewer keys than
    queries. Key row t has position j = t + key_offset. An op in which positions
    matter (a mask attribute, a region that uses i) names one of the three.

    Masks. A key is kept if every mask attribute, the keep region and the
    lengths keep it.

    Edge cases. A key that is not kept, or whose logit is -inf, has weight 0 and
    its value row is not used, whatever it holds. A row without any key gives
    O = 0 and lse = -inf; so does Skv = 0. A kept logit that is NaN or +inf makes
    the row and its lse NaN. B, H or Sq = 0 give an empty result; Dv = 0 gives an
    empty O and the lse is still computed; Dk = 0 is refused.

    Precision. Logits, max, exp and sums are f64 if query is of f64, else f32, and
    so are argument and result of a score region. Results are rounded once.

    Constraints (c-numbers as in the verifier and in the run-time rules):
    c1 query, key, value: one element type; c2 key batch = query batch;
    c3 value batch = query batch; c4 value heads = key heads; c5 key heads =
    query heads; c6 key head dim = query head dim; c7 value length = key length;
    c8 head dim of query >= 1; c9 output shape and type; c10 lse shape;
    c11 offset has B entries; c12 lengths has B entries; c13 scale is finite
    in the type of logits; c14 softcap is > 0 and finite in that type with its
    reciprocal; c15 positions are given where they matter; c16 align and offset exclude each
    other; c17 mask is a list of mask attributes; c18 region arguments; c19
    region result; c20 region operations; c21 captured tensors are not empty
    where they are read.

    Example:
    ```mlir
    %o = attn.softmax %q, %k, %v align(bottom_right) mask(#attn.causal)
        : (tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>, tensor<?x8x?x64xf32>)
        -> tensor<?x8x?x64xf32>
    ```
  }];
  let extraClassDeclaration = sharedDeclaration;
}

def Attn_GqaOp : Attn_SoftmaxFamilyOp<"gqa",
    [DeclareOpInterfaceMethods<Attn_SoftmaxFamilyInterface,
                               ["hasGroupedHeads"]>]> {
  let summary = "softmax attention with grouped key and value heads";
  let description = [{
    As `attn.softmax` with Hq = G * Hkv: query head h uses key and value head
    h / G (Ainslie et al. 2023, "GQA: Training Generalized Multi-Query
    Transformer Models from Multi-Head Checkpoints", section 2.2; Hkv = 1 is
    multi-query attention, Shazeer 2019). K and V are not repeated in memory.

    | operand | shape |
    |---|---|
    | query | B x Hq x Sq x Dk |
    | key | B x Hkv x Skv x Dk |
    | value | B x Hkv x Skv x Dv |
    | output | B x Hq x Sq x Dv |
    | lse | B x Hq x Sq |

    In the regions h is the query head. Edge cases and constraints are those of
    `attn.softmax`, but for c5: Hq is a multiple of Hkv, and Hkv = 0 only where
    Hq = 0. G = 1 canonicalises to `attn.softmax`.

    Example:
    ```mlir
    %o, %lse = attn.gqa %q, %k, %v align(bottom_right)
        mask(#attn.causal, #attn.window<left = 4095>)
        : (tensor<?x32x?x128xbf16>, tensor<?x8x?x128xbf16>,
           tensor<?x8x?x128xbf16>)
        -> (tensor<?x32x?x128xbf16>, tensor<?x32x?xf32>)
    ```
  }];
  let extraClassDeclaration = sharedDeclaration;
}

def Attn_YieldOp : Attn_Op<"yield", [
    Pure, Terminator,
    ParentOneOf<["SoftmaxOp", "GqaOp", "OnlineSoftmaxOp"]>]> {
  let summary = "ends a score or keep region";
  let description = [{
    Gives the region's result: the new logit (f32, or f64 with operands of f64) of
    a score region, or whether the key is kept (i1) of a keep region.
  }];
  let arguments = (ins AnyTypeOf<[F32, F64, I1]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // ATTN_OPS_TD
