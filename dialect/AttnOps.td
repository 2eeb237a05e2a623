// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole-attention ops: the language in which users write attention.

#ifndef ATTN_OPS_TD
#define ATTN_OPS_TD

include "dialect/AttnAttrs.td"
include "dialect/AttnInterfaces.td"
include "dialect/AttnTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Attn_SoftmaxFamilyOp<string mnemonic, list<Trait> traits = []>
    : Attn_ClauseOp<mnemonic, !listconcat(traits, [
        Pure, AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>])> {
  let arguments = (ins
    Attn_FloatTensor4D:$query,
    Attn_FloatTensor4D:$key,
    Attn_FloatTensor4D:$value,
    OptionalAttr<F64Attr>:$scale,
    Optional<F32>:$scale_value,
    OptionalAttr<F64Attr>:$softcap,
    Optional<F32>:$softcap_value,
    OptionalAttr<Attn_AlignmentAttr>:$align,
    Optional<Attn_IndexOrPerBatch>:$offset,
    OptionalAttr<ArrayAttr>:$mask,
    Optional<Attn_IndexOrPerBatch>:$prefix,
    Optional<Attn_RandomBlocks>:$random_blocks,
    Optional<Attn_PerHead>:$alibi,
    Optional<Attn_Bias>:$bias,
    Optional<Attn_Select>:$select,
    Optional<Attn_IndexOrPerBatch>:$lengths,
    Optional<Index>:$key_offset,
    Optional<Attn_PerHead>:$sinks,
    Optional<Attn_Starts>:$query_starts,
    Optional<Attn_Starts>:$key_starts);
  let regions = (region AnyRegion:$score, AnyRegion:$keep);
  let results = (outs Attn_FloatTensor4D:$output,
                      Optional<Attn_LseTensor>:$lse);
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
        s4 = s3 + slopes[h] (j - i)                  alibi(slopes)
        s5 = s4 + bias[b,h,r,t]                      bias, broadcast
        P[b,h,r,:]   = softmax over the kept t of s5
        O[b,h,r,:]   = sum_t P[b,h,r,t] V[b,h,t,:]
        lse[b,h,r]   = ln sum_t exp(s5)              over the kept t

    A sink (Xiao et al. 2024, "Efficient Streaming Language Models with
    Attention Sinks", section 3.3) joins each sum as exp(sinks[h]), in P's
    denominator and in lse, without a value; neither scale nor softcap touch it.
    ALiBi is Press et al. 2022, "Train Short, Test Long", section 3. scale and
    softcap are numbers or f32 values. A value keeps c13 or c14, too: a call in
    which one that follows from scalar arguments and sizes does not is refused,
    and one that is an element of a tensor counts as NaN where it does not.

    Clauses, in any order and each at most once:

        scale(number) or scale(%x : f32), softcap as scale,
        align(top_left) or align(bottom_right), offset(%x : type),
        mask(attribute, ...), prefix(%x : type), random_blocks(%x : type),
        alibi(%x : type), bias(%x : type), select(%x : type),
        lengths(%x : type), key_offset(%x : type), sinks(%x : type),
        query_starts(%x : type), key_starts(%x : type),
        score { region }, keep { region }

    | operand | shape | meaning |
    |---|---|---|
    | query | B x H x Sq x Dk | f16, bf16, f32 or f64 |
    | key | B x H x Skv x Dk | type of query |
    | value | B x H x Skv x Dv | type of query; Dv may differ from Dk |
    | scale, softcap | f32 | in place of a number |
    | offset | index or B | position of query row 0 |
    | prefix | index or B | n of `#attn.prefix` |
    | random_blocks | 1 or Hq x blocks x R | T of `#attn.bigbird`, i32 or i64 |
    | alibi | Hq | slopes, f32 or type of query |
    | bias | broadcast to B x Hq x Sq x Skv | f32 or type of query |
    | select | broadcast to B x Hq x Sq x Skv | i1, true where a key may be seen |
    | lengths | index or B | keys in use, clamped to 0..Skv |
    | key_offset | index | position of key row 0, default 0 |
    | sinks | Hq | f32 or type of query |
    | query_starts, key_starts | N + 1 | first rows of N packed sequences, and the end |
    | output | B x H x Sq x Dv | type of query |
    | lse | B x H x Sq | natural log; f64 if query is of f64, else f32 |

    Positions. Query row r has position i = r + offset; the offset is the
    operand, or 0 for `align(top_left)`, or (key length - Sq) for
    `align(bottom_right)`, per batch and negative if there are fewer keys than
    queries. Key row t has position j = t + key_offset. An op in which positions
    matter (a mask attribute, alibi, a region that uses i) names one of the
    three. bias and select go by rows r and t; they broadcast right-aligned, a
    size of 1 stretching, known or found at run time.

    Packed batches. With query_starts and key_starts, B is 1 and N sequences lie
    one behind the other: sequence n has the query rows from query_starts[n] to
    below query_starts[n + 1], and the keys likewise. Rows and positions count
    from the start of the sequence, `align(bottom_right)` goes by its own numbers
    of queries and keys, and b is n: offset, prefix and lengths have N entries.
    lengths are the keys in use of each sequence, clamped to 0 and the number of
    its keys, by which `align(bottom_right)` goes then: the keys from there to
    the next start are padding. Starts are clamped to 0..Sq (0..Skv), and one
    that is less than those before it counts as the greatest of them. A query
    row of no sequence gives O = 0 and lse = -inf. bias and select do not stand
    beside starts.

    Masks. A key is kept if every mask attribute, the keep region, select and
    the lengths keep it. The lowest finite number as a bias is a number; -inf
    masks.

    Edge cases. A key that is not kept, or whose logit is -inf, has weight 0 and
    its value row is not used, whatever it holds. A row without any key gives
    O = 0 and lse = -inf (the sink where there is one); so does Skv = 0. A kept
    logit that is NaN or +inf makes the row and its lse NaN. B, H or Sq = 0 give
    an empty result; Dv = 0 gives an empty O and the lse is still computed; Dk = 0
    is refused.

    Precision. Logits, max, exp and sums are f64 if query is of f64, else f32, and
    so are argument and result of a score region. Results are rounded once.

    Constraints (c-numbers as in the verifier and in the run-time rules):
    c1 query, key, value: one element type, alibi, bias, sinks: it or f32;
    c2 key batch = query batch;
    c3 value batch = query batch; c4 value heads = key heads; c5 key heads =
    query heads; c6 key head dim = query head dim; c7 value length = key length;
    c8 head dim of query >= 1; c9 output shape and type, c10 lse shape, which
    may say ? for a size that is known; c11 offset has B entries; c12 lengths has
    B entries; c13 scale is finite in the type of logits; c14 softcap is > 0 and
    normal in that type, or in f32 if it is a value, and so is its reciprocal; c15 positions are given where they matter; c16 align and offset
    exclude each other; c17 mask is a list of mask attributes; c18 region
    arguments; c19 region result; c20 region operations; c21 captured tensors are
    not empty where they are read; c22 prefix has B entries; c23 prefix is there if and
    only if a mask reads it; c24 alibi has Hq entries; c25 bias and c26 select
    broadcast; c27 sinks has Hq entries; c28 query_starts and key_starts are both
    there or neither, and no bias or select beside them; c29 with starts
    B = 1; c30 starts have an equal number of entries, at least 1; c31
    random_blocks is there if a mask needs it, and only if one reads it; c32 it
    has 1 or Hq heads, at least one block, and a static R of at most 64.

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

def Attn_MergeOp : Attn_Op<"merge", [
    Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                    ["reifyResultShapes"]>]> {
  let summary = "attention over two sets of keys from attention over each";
  let description = [{
    For the results (O1, lse1) and (O2, lse2) of the same queries over disjoint
    keys, as of a prefix that several sequences share or of the steps of a ring:

        lse = ln(exp(lse1) + exp(lse2))
        O   = exp(lse1 - lse) O1 + exp(lse2 - lse) O2

    (Rabe and Staats 2021, "Self-attention Does Not Need O(n^2) Memory", section
    3). All lse are natural logarithms.

    | operand | shape | type |
    |---|---|---|
    | first_output, second_output | B x H x S x Dv | one of f16, bf16, f32, f64 |
    | first_lse, second_lse | B x H x S | f64 beside outputs of f64, else f32 |
    | output, lse | as the operands | |

    A part without keys, of which lse is -inf, changes nothing and its output is
    not used, whatever it holds; two such parts give O = 0 and lse = -inf. NaN or
    +inf in an lse makes the row and its lse NaN. Sums are of the type of lse; O
    is rounded once. A sink belongs to one of the parts.

    Constraints: outputs have one type, and lse have that of its sums; sizes of
    each dimension agree, where types of results may say ? for a known size.

    Example:
    ```mlir
    %o, %lse = attn.merge %o1, %lse1, %o2, %lse2
        : (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>, tensor<?x8x?x64xf32>,
           tensor<?x8x?xf32>) -> (tensor<?x8x?x64xf32>, tensor<?x8x?xf32>)
    ```
  }];
  let arguments = (ins Attn_FloatTensor4D:$first_output,
                       Attn_LseTensor:$first_lse,
                       Attn_FloatTensor4D:$second_output,
                       Attn_LseTensor:$second_lse);
  let results = (outs Attn_FloatTensor4D:$output, Attn_LseTensor:$lse);
  let assemblyFormat = [{
    $first_output `,` $first_lse `,` $second_output `,` $second_lse attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [
    Pure, Terminator,
    ParentOneOf<["SoftmaxOp", "GqaOp", "OnlineSoftmaxOp", "FeatureMapOp"]>]> {
  let summary = "ends a score, keep or feature region";
  let description = [{
    Gives the region's result: the new logit (f32, or f64 with operands of f64) of
    a score region, whether the key is kept (i1) of a keep region, or the feature of
    a `map` region (f32, or f64 with operands of f64).
  }];
  let arguments = (ins AnyTypeOf<[F32, F64, I1]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // ATTN_OPS_TD
