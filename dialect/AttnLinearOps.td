// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole ops of the linear family: attention without a softmax, its feature
// maps, and FAVOR+.

#ifndef ATTN_LINEAR_OPS_TD
#define ATTN_LINEAR_OPS_TD

include "dialect/AttnAttrs.td"
include "dialect/AttnTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_Decay : RankedTensorOf<[F32, F64], [HasAnyRankOfPred<[1, 3, 4]>],
    "tensor of rank 1 (heads), 3 (batch x heads x sequence) or 4 (and head dim)">;
def Attn_Beta : RankedTensorOf<[F16, BF16, F32, F64], [HasAnyRankOfPred<[3]>],
    "3-D tensor (batch x heads x sequence)">;
def Attn_Bonus : RankedTensorOf<[F16, BF16, F32, F64], [HasAnyRankOfPred<[2]>],
    "2-D tensor (heads x head dim)">;
def Attn_State : RankedTensorOf<[F32, F64], [HasAnyRankOfPred<[4]>],
    "4-D tensor (batch x heads x features x value dim)">;
def Attn_Projection : RankedTensorOf<[F16, BF16, F32, F64],
    [HasAnyRankOfPred<[2]>], "2-D tensor (features x head dim)">;

def Attn_LinearOp : Attn_ClauseOp<"linear", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "linear attention, as a masked product or as a scan";
  let description = [{
    For each batch entry and head, with rows q_t, k_t, v_t and a state S of
    Dk x Dv that is 0 at first, or the operand:

        S_t = (diag(exp(g_t)) + b_t^T a_t) S_{t-1} + k_t^T v_t    causal
        o_t = scale q_t S_t
        S   = S_0 + sum_t k_t^T v_t,  o_t = scale q_t S           not causal

    where scale is 1 by default
    (Katharopoulos et al. 2020, "Transformers are RNNs"; Yang et al. 2024,
    "Gated Linear Attention Transformers with Hardware-Efficient Training",
    section 3, and "Parallelizing Linear Transformers with the Delta Rule over
    Sequence Length", section 2.) How it is computed, all pairs at once, in
    chunks or token by token, is the compiler's choice and changes nothing but
    rounding.

    | operand | shape | meaning |
    |---|---|---|
    | query | B x Hq x Sq x Dk | type of value, or that of sums |
    | key | B x Hk x Skv x Dk | type of query |
    | value | B x Hv x Skv x Dv | f16, bf16, f32 or f64 |
    | decay | Hv, B x Hv x S or B x Hv x S x Dk | g, a logarithm; type of sums; per head, token, or token and feature; default 0 |
    | beta | B x Hv x S | the delta rule: a_t = exp(g_t) k_t, b_t = -beta_t k_t, and beta_t v_t in place of v_t |
    | transition | twice B x Hv x S x Dk | a and b, type of query |
    | bonus | Hv x Dk | u: o_t = scale q_t (S_{t-1} + (u .* k_t)^T v_t) |
    | state | B x Hv x Dk x Dv | S_0; with normalize, Dv + 1 columns |
    | lengths | index or B | keys in use, clamped to 0..Skv |
    | query_starts, key_starts | N + 1 | first rows of N packed sequences, and the end |
    | output | B x Hq x Sq x Dv | type of value |
    | final_state | shape of state | S after the last token; optional |

    Clauses, in any order and each at most once:

        scale(number), decay(%x : type), beta(%x : type),
        transition(%a, %b : type, type), bonus(%x : type), state(%x : type),
        lengths(%x : type), query_starts(%x : type), key_starts(%x : type),
        feature(attribute) or feature(attribute, attribute),
        normalize(token) or normalize(feature), block(integer), causal

    The type of sums is f64 beside values of f64, else f32. bonus and beta are of
    it or of the type of value.

    Heads. Hv = Hk, and Hq is a multiple of both: query head h reads the state of
    head h / (Hq / Hv). Or, where the types of key and value say that Hv is not
    Hk, Hq = Hk and Hv is a multiple of it: head h of value, state and output has
    query and key head h / (Hv / Hk).

    `feature(phi)` applies a feature map to query and key, `feature(phi, psi)` phi
    to the query and psi to the key, as `attn.feature_map` does; Dk is then the
    number of features wherever it stands but at query and key.

    `normalize(token)` divides by what the values 1 give in place of v_t, which
    is the last column of the state: o_t / (scale q_t z_t). `normalize(feature)`
    divides each feature by its sum: o_t = scale sum_r q_t[r] S_t[r,:] / z_t[r].
    Where the divisor is 0 the quotient counts as 0. A bonus is in the divisor as
    it is in what is divided: both read S_{t-1} + (u .* k_t)^T v_t in place of
    S_t (Peng et al. 2023, "RWKV: Reinventing RNNs for the Transformer Era",
    section 3.1.2, the WKV operator of RWKV-4).

    `block(n)` lets the positions of a block of n read the state from before
    their block, S_{n floor(t / n)} (Hua et al. 2022, "Transformer Quality in
    Linear Time", section 3.3). This n is part of the meaning, unlike the sizes
    of chunks in which any of this is computed.

    With lengths, tokens from the length on change no state, neither by decay nor
    otherwise, whatever they hold; rows of the output there read the state of the
    end, or with block that before their block, and have no bonus. A map that
    mixes positions mixes those of the keys in use, and of all queries.

    Packed sequences. With query_starts B is 1, and N sequences lie one behind
    the other: sequence n has the rows from query_starts[n] to below
    query_starts[n + 1] of all operands that have rows, and of keys and values
    those of key_starts, where that is given. Each is computed as if it were
    alone, with a state of its own: state and final_state have N entries in place
    of B, and lengths has N. Positions and blocks begin anew with each. Starts are clamped to 0..Sq (0..Skv), and one that is less
    than those before it counts as the greatest of them. A query row of no
    sequence gives 0.

    Edge cases. B, Hq or Sq = 0 give an empty result; Skv = 0 gives
    S = S_0. Dv = 0 gives an empty O. Dk = 0 is refused.

    Constraints: l1 element types; l2 key and value batch = query batch; l3 heads
    as above; l4 key head dim = query head dim; l5 value length = key length; l6
    head dim of query >= 1; l7 decay, l8 beta, l9 transition, l10 bonus, l11
    state and l12 lengths have the shapes above; l13 output and final_state have
    the types above; l14 scale is finite in the type of sums; l15 decay, beta,
    transition, bonus and block only with causal; l16 beta or transition; l17
    block without those of l15, and at least 1; l18 feature is one or two feature
    maps that need no projection, and read no other position beside causal or starts; l19
    Dk is static where a map changes it, and not more than it takes; l20 causal, or query_starts alone: query length = key length;
    l21 key_starts only beside query_starts, and not with causal; l22 with starts
    B = 1; l23 starts have an equal number of entries, at least 1.

    Example:
    ```mlir
    %o, %s1 = attn.linear %q, %k, %v decay(%g : tensor<1x8x?xf32>)
        beta(%b : tensor<1x8x?xf32>) state(%s0 : tensor<1x8x64x65xf32>)
        feature(#attn.elu1) normalize(token) causal
        : (tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>)
        -> (tensor<1x8x?x64xf32>, tensor<1x8x64x65xf32>)
    ```
  }];
  let arguments = (ins
    Attn_FloatTensor4D:$query,
    Attn_FloatTensor4D:$key,
    Attn_FloatTensor4D:$value,
    OptionalAttr<F64Attr>:$scale,
    Optional<Attn_Decay>:$decay,
    Optional<Attn_Beta>:$beta,
    Optional<Attn_FloatTensor4D>:$read,
    Optional<Attn_FloatTensor4D>:$write,
    Optional<Attn_Bonus>:$bonus,
    Optional<Attn_State>:$state,
    Optional<Attn_IndexOrPerBatch>:$lengths,
    Optional<Attn_Starts>:$query_starts,
    Optional<Attn_Starts>:$key_starts,
    OptionalAttr<ArrayAttr>:$feature,
    OptionalAttr<Attn_NormalizerAttr>:$normalize,
    OptionalAttr<I64Attr>:$block,
    UnitAttr:$causal);
  let results = (outs Attn_FloatTensor4D:$output,
                      Optional<Attn_State>:$final_state);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of sums and states.
    ::mlir::FloatType getComputeType();
    /// True if several heads of value share one of query and key.
    bool hasGroupedValues();
    /// Feature maps of query and key, identity where there is no clause.
    ::mlir::attn::FeatureAttrInterface getQueryFeature();
    ::mlir::attn::FeatureAttrInterface getKeyFeature();
    /// Features of a query or key, dynamic if their head dim is.
    int64_t getNumFeatures();
    /// First rows of keys and values of packed sequences, or null.
    ::mlir::Value getRowsOfKeys() {
      return getKeyStarts() ? getKeyStarts() : getQueryStarts();
    }
    /// Columns of the state beside those of the values.
    int64_t getNumExtraColumns() { return getNormalize() ? 1 : 0; }
  }];
}

def Attn_FeatureMapOp : Attn_ClauseOp<"feature_map", [
    Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "applies a feature map to each vector";
  let description = [{
    Y[b,h,s,:] = phi(W (scale X[b,h,s,:])), phi being a feature attribute, whose
    description has the formula, or a region that maps single entries. W is the
    identity without `projection`; maps that need one use W x and |x|^2 of x
    before it.

    | operand | shape | meaning |
    |---|---|---|
    | input | B x H x S x D | f16, bf16, f32 or f64 |
    | projection | M x D | W; f32 or type of input |
    | offset | index | position of row 0, for maps that read positions; default 0 |
    | length | index | M of `#attn.cosformer` without one; less than 1 counts as 1; default S |
    | lengths | index or B | rows in use, for maps that mix positions; others give 0 |
    | result | B x H x S x M' | type of input, or that of sums |

    Clauses, in any order and each at most once:

        feature(attribute) or map { region }, projection(%x : type),
        scale(number), offset(%x : index), length(%x : index),
        lengths(%x : type), log

    M' is the number of features of phi for a vector of M entries (D without
    projection). `scale` is a finite number, 1 by default. With `log` the result
    holds the logarithms of the features, of maps that are exponentials. Sums
    and functions are those of f64 if input is of f64, else of f32.

    Constraints: f1 element types; f2 a feature attribute or a region; f3 a
    projection where the map needs one, with D columns; f4 log for exponentials
    only; f5 result shape; f6 D is static where the map changes it, and
    not more than it takes; f7 scale; f8 lengths has B
    entries, and stands beside maps that mix positions only; f9 length beside
    `#attn.cosformer` without one only.

    Example:
    ```mlir
    %f = attn.feature_map %x feature(#attn.positive)
        projection(%w : tensor<256x64xf32>) scale(0.35355339059327379) log
        : tensor<1x8x?x64xf32> -> tensor<1x8x?x256xf32>
    ```
  }];
  let arguments = (ins
    Attn_FloatTensor4D:$input,
    OptionalAttr<Attn_FeatureAttrInterface>:$feature,
    Optional<Attn_Projection>:$projection,
    OptionalAttr<F64Attr>:$scale,
    Optional<Index>:$offset,
    Optional<Index>:$length,
    Optional<Attn_IndexOrPerBatch>:$lengths,
    UnitAttr:$log);
  let regions = (region AnyRegion:$map);
  let results = (outs Attn_FloatTensor4D:$result);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_RandomFeaturesOp : Attn_ClauseOp<"random_features", [Pure]> {
  let summary = "a random projection, the same on every machine";
  let description = [{
    W of M x D for the random features of `attn.favor` and `attn.feature_map`:

    - without `orthogonal` its entries are independent, N(0, 1);
    - with it each block of D rows is a Haar-distributed orthogonal matrix: the
      QR decomposition of a Gaussian matrix, with the signs that make the
      diagonal of R positive (Mezzadri 2007, "How to Generate Random Matrices
      from the Classical Compact Groups", section 5). The last block may have
      fewer rows.

    Rows are scaled to the length of a vector of N(0, 1) (`norms(chi)`, the
    default) or to sqrt(D) (`norms(sqrt_d)`, the regularised kernel of
    Choromanski et al. 2021, section 3.1).

    Clauses, in any order and each at most once: `seed(integer)`, which is
    required, `orthogonal`, and `norms(chi)` or `norms(sqrt_d)`.

    Entry (r, c) depends on seed, r, c, D and the attributes only, so that W with
    fewer rows is a part of W with more. The numbers are drawn by counter, in
    arithmetic that every machine rounds alike.

    Constraints: r1 the shape is static, with M >= 1 and D >= 1; r2 the element
    type is f32 or f64; r3 M is at most 2^18, M D at most 2^22, and
    M D min(M, D) at most 2^31 with `orthogonal`: W is a constant that the
    compiler computes.

    Example:
    ```mlir
    %w = attn.random_features seed(7) orthogonal norms(chi) : tensor<256x64xf32>
    ```
  }];
  let arguments = (ins I64Attr:$seed, UnitAttr:$orthogonal,
                       OptionalAttr<Attn_NormsAttr>:$norms);
  let results = (outs Attn_Projection:$result);
  let hasVerifier = 1;
}

def Attn_FavorOp : Attn_ClauseOp<"favor", [
    Pure,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>]> {
  let summary = "FAVOR+: softmax attention estimated by random features";
  let description = [{
    With x = sqrt(scale) q and y = sqrt(scale) k, and phi the features of the
    projection W (Choromanski et al. 2021, "Rethinking Attention with
    Performers", section 2):

        o_t = sum_j phi(x_t).phi(y_j) v_j / sum_j phi(x_t).phi(y_j)

    over all keys, or those with j <= t if causal.

    | kind | phi |
    |---|---|
    | positive, hyperbolic, trigonometric | `#attn.positive`, `#attn.hyperbolic`, `#attn.trigonometric` |
    | relu | max(W x, 0) |

    `eps(e)` adds e to each feature, in the place where the published code does
    (google-research/performer, fast_attention, `relu_kernel_transformation` and
    `softmax_kernel_transformation`; `softmax_kernel` of performer-pytorch, whose
    default is 1e-4): to those of relu as they are, and to the others after they
    are divided by their largest exponential, which without e cancels. With c_t
    the maximum of w_r.x_t over the features r of a query, and c that of w_r.y_j
    over the features r and all keys j in use of a batch entry and head:

        positive       exp(w_r.x_t - |x_t|^2 / 2 - c_t) + e
                       exp(w_r.y_j - |y_j|^2 / 2 - c) + e
        hyperbolic     the same with the rows of W and of -W
        trigonometric  cos(w_r.x_t) + e and sin(w_r.x_t) + e
                       exp(|y_j|^2 / 2 - n) cos(w_r.y_j) + e, and sin;
                       n is the maximum of |y_j|^2 / 2 over all keys in use

    (the published code has no e for trigonometric features). The number then
    draws outputs to the mean of the values, the more so the longer the vectors
    are, and c and n read all keys, also with causal, as the published code does.
    A model that was trained with e needs it: results without it can differ by
    half.

    Error. The quotient estimates softmax attention, the better the shorter
    queries and keys are. This is its relative root mean square error over 256
    keys with D = 64, m orthogonal positive features, and entries of queries and
    keys N(0, s^2), of values N(0, 1):

    | m | s = 0.25 | s = 0.5 | s = 0.75 | s = 1 |
    |---|---|---|---|---|
    | 64 | 12 % | 91 % | 280 % | 340 % |
    | 128 | 8 % | 58 % | 220 % | 320 % |
    | 256 | 6 % | 41 % | 170 % | 280 % |
    | 1024 | 3 % | 24 % | 150 % | 260 % |

    The variance of a weight has the factor exp(|x + y|^2), and the error falls as
    1 / sqrt(m) only where it is small. Beyond 100 % the output has little to do
    with that of softmax attention: features of longer vectors need more rows than
    any projection has, or a model that was trained with them.

    | operand | shape | meaning |
    |---|---|---|
    | query | B x Hq x Sq x D | f16, bf16, f32 or f64 |
    | key | B x Hkv x Skv x D | type of query; Hq is a multiple of Hkv |
    | value | B x Hkv x Skv x Dv | type of query |
    | projection | M x D | W, f32 or type of query |
    | lengths | index or B | keys in use, clamped to 0..Skv |
    | output | B x Hq x Sq x Dv | type of query |

    Clauses, in any order and each at most once: `kind(name)`, which is required,
    `scale(number)`, `eps(number)`, `lengths(%x : type)` and `causal`.

    scale is finite and > 0, 1/sqrt(D) by default. Without eps no maximum over
    keys and no constant enters the quotient: it is exact for the features,
    strictly causal, and finite for queries and keys of any norm whose products
    with W are.
    Where the divisor is 0 the output is 0.

    Constraints: v1 element types; v2 key and value batch; v3 heads; v4 head
    dims; v5 lengths of key and value; v6 lengths has B entries; v7 output; v8
    scale; v9 causal: query length = key length; v10 eps is finite and not
    negative; v11 D >= 1 and M >= 1.

    Example:
    ```mlir
    %w = attn.random_features seed(7) orthogonal : tensor<256x64xf32>
    %o = attn.favor %q, %k, %v, %w kind(positive) causal
        : (tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>, tensor<1x8x?x64xf32>,
           tensor<256x64xf32>) -> tensor<1x8x?x64xf32>
    ```
  }];
  let arguments = (ins
    Attn_FloatTensor4D:$query,
    Attn_FloatTensor4D:$key,
    Attn_FloatTensor4D:$value,
    Attn_Projection:$projection,
    Attn_FavorKindAttr:$kind,
    OptionalAttr<F64Attr>:$scale,
    OptionalAttr<F64Attr>:$eps,
    Optional<Attn_IndexOrPerBatch>:$lengths,
    UnitAttr:$causal);
  let results = (outs Attn_FloatTensor4D:$output);
  let hasVerifier = 1;
}

#endif // ATTN_LINEAR_OPS_TD
