// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile ops: attention between tiling and a machine. They are in
// destination style, on tensors before bufferization and on memrefs after it: a
// result per init on tensors, none on memrefs.
//
// attn.num_workers is beside them, for the sizes of their tiles.
//
// The op with regions does not implement DestinationStyleOpInterface: MLIR's
// folding of casts into such ops clones regions, and fails on empty ones.

#ifndef ATTN_TILE_OPS_TD
#define ATTN_TILE_OPS_TD

include "dialect/AttnAttrs.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Attn_Shaped : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;
/// What logits, weights and sums are computed in.
def Attn_Wide : AnyTypeOf<[F32, F64], "f32 or f64">;

/// `operand`, if it is there, has the type in which elements like those of
/// `shaped` are computed.
class Attn_HasComputeTypeOf<string operand, string shaped>
    : OptionalTypesMatchWith<operand # " has the type that " # shaped #
                             " is computed in", shaped, operand,
        "::mlir::attn::getComputeType("
        "::llvm::cast<::mlir::ShapedType>($_self).getElementType())">;

class Attn_TileOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])> {
  let hasVerifier = 1;
}

def Attn_OnlineSoftmaxOp : Attn_TileOp<"online_softmax",
    [AttrSizedOperandSegments, Attn_HasComputeTypeOf<"scale", "acc">]> {
  let summary = "adds one tile of keys to the running softmax of a query tile";
  let description = [{
    The online softmax (Milakov and Gimelshein 2018; Dao et al. 2022, algorithm
    1) for a tile of M query rows and n <= N keys. With s[r,t] the final logit
    (as in `attn.softmax`, -inf where not kept):

        max'[r]   = max(max[r], max_t s[r,t])
        p[r,t]    = exp(s[r,t] - max'[r])
        sum'[r]   = exp(max[r] - max'[r]) sum[r] + sum_t p[r,t]
        acc'[:,r] = exp(max[r] - max'[r]) acc[:,r] + sum_t p[r,t] V[t,:]

    It is associative over keys. Row r of the tile is query head h + r / m at
    position i + r mod m, where m is `fold`: the rows are heads times positions.
    Without `fold` the tile is of one head.

    | operand | shape | meaning |
    |---|---|---|
    | query | heads x m x Dk, or as `attn.pack_query` packs it | |
    | key | n x Dk | n may be smaller than the tile |
    | value | n x Dv | |
    | acc | Dv x M, f32 or f64 | transposed, one column per query row; with rows up to a multiple that the target asks for |
    | max, sum | M, type of acc | running maximum (natural scale) and sum |
    | b, h, i, j | index | batch, first head, first query and key position |
    | fold | index | m, rows per head; absent for a tile of one head |
    | scale | type of acc | factor of Q K^T; absent if query is packed in that type |
    | masked | i1 | whether keep has to be evaluated in this tile |

    Logits, weights and sums have the type of acc, as argument and result of score
    have. `masked` is present if and only if there is a keep region; where it is false
    every key of the tile is kept. A weight of 0 never multiplies a value: where
    a key is not kept, NaN or infinity in its value row changes nothing.
  }];
  let arguments = (ins
    Attn_Shaped:$query, Attn_Shaped:$key, Attn_Shaped:$value,
    Attn_Shaped:$acc, Attn_Shaped:$max, Attn_Shaped:$sum,
    Index:$b, Index:$h, Index:$i, Index:$j,
    Optional<Index>:$fold, Optional<Attn_Wide>:$scale, Optional<I1>:$masked,
    OptionalAttr<F64Attr>:$softcap,
    I64Attr:$key_tile);
  let regions = (region AnyRegion:$score, AnyRegion:$keep);
  let results = (outs Variadic<AnyRankedTensor>:$state);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:`
      type($query) `,` type($key) `,` type($value) `)`
    `outs` `(` $acc `,` $max `,` $sum `:`
      type($acc) `,` type($max) `,` type($sum) `)`
    `at` `(` $b `,` $h `,` $i `,` $j `)` (`fold` `(` $fold^ `)`)?
    `key_tile` `(` $key_tile `)`
    (`scale` `(` $scale^ `)`)? (`softcap` `(` $softcap^ `)`)?
    (`score` $score^)?
    (`masked` `(` $masked^ `)`)?
    (`keep` $keep^)?
    attr-dict (`->` type($state)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 3, 3);
    }
    /// The type of logits, weights and sums.
    ::mlir::FloatType getComputeType() {
      return ::llvm::cast<::mlir::FloatType>(
          ::llvm::cast<::mlir::ShapedType>(getAcc().getType())
              .getElementType());
    }
    /// True if the query operand is in packed form.
    bool hasPackedQuery() {
      return ::llvm::cast<::mlir::ShapedType>(getQuery().getType()).getRank() ==
             2;
    }
    /// Heads times positions of a query that is not packed, if known.
    std::optional<int64_t> getNumUnpackedRows() {
      auto type = ::llvm::cast<::mlir::ShapedType>(getQuery().getType());
      if (hasPackedQuery() || type.isDynamicDim(0) || type.isDynamicDim(1))
        return std::nullopt;
      return type.getDimSize(0) * type.getDimSize(1);
    }
    /// M, the rows of the query tile.
    int64_t getNumRows() {
      return ::llvm::cast<::mlir::ShapedType>(getMax().getType())
          .getDimSize(0);
    }
  }];
}

def Attn_PackQueryOp : Attn_TileOp<"pack_query",
    [DestinationStyleOpInterface, Attn_HasComputeTypeOf<"scale", "packed">]> {
  let summary = "packs a query tile with queries as lanes";
  let description = [{
    For the heads x m x Dk rows of the tile, in one of two forms:

    | packed | form |
    |---|---|
    | f32 or f64, >= Dk x M | packed[d, g * m + s] = scale * Q[g, s, d] |
    | bf16, >= Dk / 2 x 2 M | packed[d / 2, 2 (g * m + s) + d mod 2] = Q[g, s, d] |

    and 0 in the columns beyond them. The second, of pairs, has no scale: it
    would round Q again.
  }];
  let arguments = (ins Attn_Shaped:$query, Attn_Shaped:$packed,
                       Optional<Attn_Wide>:$scale);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $query `:` type($query) `)` `outs` `(` $packed `:` type($packed) `)`
    (`scale` `(` $scale^ `)`)? attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 1, 1);
    }
  }];
}

def Attn_OnlineMergeOp : Attn_TileOp<"online_merge",
    [DestinationStyleOpInterface]> {
  let summary = "adds a running softmax over other keys to that of a query tile";
  let description = [{
    With m[r] = max(max[r], otherMax[r]):

        sum'[r]   = exp(max[r] - m[r]) sum[r] + exp(otherMax[r] - m[r]) otherSum[r]
        acc'[:,r] = exp(max[r] - m[r]) acc[:,r] + exp(otherMax[r] - m[r]) otherAcc[:,r]
        max'[r]   = m[r]

    A state that has seen no key (maximum -inf, sum 0) adds nothing. Shapes are
    those of `attn.online_softmax`.
  }];
  let arguments = (ins Attn_Shaped:$otherAcc, Attn_Shaped:$otherMax,
                       Attn_Shaped:$otherSum, Attn_Shaped:$acc,
                       Attn_Shaped:$max, Attn_Shaped:$sum);
  let results = (outs Variadic<AnyRankedTensor>:$state);
  let assemblyFormat = [{
    `ins` `(` $otherAcc `,` $otherMax `,` $otherSum `:`
      type($otherAcc) `,` type($otherMax) `,` type($otherSum) `)`
    `outs` `(` $acc `,` $max `,` $sum `:`
      type($acc) `,` type($max) `,` type($sum) `)`
    attr-dict (`->` type($state)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 3, 3);
    }
  }];
}

def Attn_OnlineFinishOp : Attn_TileOp<"online_finish",
    [DestinationStyleOpInterface]> {
  let summary = "turns the state of an online softmax into O and lse";
  let description = [{
    For row r = g * m + s of the tile:

        O[g,s,:] = acc[:,r] / sum[r]      (0 where sum[r] = 0)
        lse[g,s] = max[r] + ln(sum[r])    (-inf where sum[r] = 0)

    | operand | shape |
    |---|---|
    | acc | >= Dv x M, f32 or f64 |
    | max, sum | M, type of acc |
    | output | heads x m x Dv |
    | lse | heads x m, type of acc, optional |
  }];
  let arguments = (ins Attn_Shaped:$acc, Attn_Shaped:$max, Attn_Shaped:$sum,
                       Attn_Shaped:$output, Optional<Attn_Shaped>:$lse);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $acc `,` $max `,` $sum `:`
      type($acc) `,` type($max) `,` type($sum) `)`
    `outs` `(` $output `:` type($output) (`,` $lse^ `:` type($lse))? `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 3,
                                         getLse() ? 2 : 1);
    }
  }];
}

def Attn_MatmulTileOp : Attn_TileOp<"matmul_tile",
    [DestinationStyleOpInterface, Attn_HasComputeTypeOf<"init", "out">]> {
  let summary = "multiplies matrices into a tile";
  let description = [{
    For a tile of m <= M rows and n <= N columns, with op(X) = X or, with
    `transpose_left` or `transpose_right`, its transpose:

        C'[i,j] = C[i,j] + sum_k op(A)[i,k] op(B)[k,j]

    `init` takes the place of every element of C, which is not read then. The
    products and sums are those of f64 if C is, else of f32, in the order of k,
    and C' is rounded once: with C of f16 or bf16 the sum isn't.

    | operand | shape | element |
    |---|---|---|
    | left | m x k, or k x m if transposed | f16, bf16, f32; f64 if out is |
    | right | k x n, or n x k if transposed | f16, bf16, f32; f64 if out is |
    | out | m x n | f32 or f64; or f16 or bf16 if both others are |
    | init | | type of the sums |

    `rows` and `columns` are M and N. `panel`, by which N is divided, is how many
    columns are multiplied at a time, in lane vectors of the target. m and n are
    multiples of `row_multiple` and `column_multiple`, also where the types do not
    say so.
  }];
  let arguments = (ins
    Attn_Shaped:$left, Attn_Shaped:$right, Attn_Shaped:$out,
    Optional<Attn_Wide>:$init,
    I64Attr:$rows, I64Attr:$columns, I64Attr:$panel,
    DefaultValuedAttr<I64Attr, "1">:$row_multiple,
    DefaultValuedAttr<I64Attr, "1">:$column_multiple,
    UnitAttr:$transpose_left, UnitAttr:$transpose_right);
  let results = (outs Variadic<AnyRankedTensor>:$result);
  let assemblyFormat = [{
    `ins` `(` $left `,` $right `:` type($left) `,` type($right) `)`
    `outs` `(` $out `:` type($out) `)`
    (`init` `(` $init^ `)`)?
    `tile` `(` $rows `,` $columns `)` `panel` `(` $panel `)`
    (`multiple_of` `(` $row_multiple^ `,` $column_multiple `)`)?
    (`transpose_left` $transpose_left^)?
    (`transpose_right` $transpose_right^)?
    attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 2, 1);
    }
  }];
}

def Attn_LinearChunkOp : Attn_TileOp<"linear_chunk",
    [DestinationStyleOpInterface, AttrSizedOperandSegments]> {
  let summary = "takes a chunk of tokens into the state of linear attention";
  let description = [{
    The tokens t of a chunk of n <= `rows`, one after the other, as in
    `attn.linear`, of which scale, decay, beta, transition, bonus and normalize
    have the same meaning:

        S'       = (diag(exp(g_t)) + b_t^T a_t) S + k_t^T v_t
        O[h,t,:] = scale q_{h,t} S'

    for the `heads` query heads that share a state. The columns of S are those of
    the tile of values, zeros, and, with normalize, the normaliser in the last
    one. Without query and output the state is all there is.

    | operand | shape | element |
    |---|---|---|
    | query | heads x n x m | f16, bf16, f32, f64 |
    | key, read (a), write (b) | n x m | type of query |
    | value | n x d | f16, bf16, f32, f64 |
    | decay | n or n x m | type of state |
    | beta | n | type of value or state |
    | bonus | m | type of value or state |
    | output | heads x n x d | type of value |
    | state | >= m x N, d <= N (d < N with normalize) | f32 or f64 |
    | rows | | most tokens of a chunk |

    N is static and of whole lane vectors, the rows of state of what the target
    asks for; those beyond m stay 0. `recurrent` asks for one token at a time
    instead of products of matrices.

    With `initial`, for one token in recurrent form, S is read there and only
    written to `state`, which has m rows, past the caches where `streams` is
    true.
  }];
  let arguments = (ins
    Optional<Attn_Shaped>:$query, Attn_Shaped:$key, Attn_Shaped:$value,
    Optional<Attn_Shaped>:$decay, Optional<Attn_Shaped>:$beta,
    Optional<Attn_Shaped>:$read, Optional<Attn_Shaped>:$write,
    Optional<Attn_Shaped>:$bonus, Optional<Attn_Shaped>:$initial,
    Optional<I1>:$streams, Optional<Attn_Shaped>:$output, Attn_Shaped:$state,
    Index:$rows, OptionalAttr<F64Attr>:$scale,
    OptionalAttr<Attn_NormalizerAttr>:$normalize, UnitAttr:$recurrent);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $key `,` $value `:` type($key) `,` type($value) `)`
    (`query` `(` $query^ `:` type($query) `)`)?
    (`scale` `(` $scale^ `)`)?
    (`decay` `(` $decay^ `:` type($decay) `)`)?
    (`beta` `(` $beta^ `:` type($beta) `)`)?
    (`transition` `(` $read^ `,` $write `:` type($read) `,` type($write) `)`)?
    (`bonus` `(` $bonus^ `:` type($bonus) `)`)?
    (`initial` `(` $initial^ `:` type($initial) `)`)?
    (`streams` `(` $streams^ `)`)?
    `outs` `(` $state `:` type($state) `)`
    (`output` `(` $output^ `:` type($output) `)`)?
    `rows` `(` $rows `)`
    (`normalize` `(` custom<Keyword>($normalize)^ `)`)?
    (`recurrent` $recurrent^)? attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(
          getOperation(), getODSOperandIndexAndLength(10).first,
          getOutput() ? 2 : 1);
    }
    /// The type of sums.
    ::mlir::FloatType getComputeType() {
      return ::llvm::cast<::mlir::FloatType>(
          ::llvm::cast<::mlir::ShapedType>(getState().getType())
              .getElementType());
    }
    /// True if each feature has a decay of its own.
    bool hasFeatureDecay() {
      return getDecay() &&
             ::llvm::cast<::mlir::ShapedType>(getDecay().getType())
                     .getRank() == 2;
    }
  }];
}

def Attn_LinearReadOp : Attn_TileOp<"linear_read",
    [DestinationStyleOpInterface]> {
  let summary = "reads the state of linear attention";
  let description = [{
    O[h,t,:] = scale q_{h,t} S for the n <= `rows` tokens of a tile, normalised as
    in `attn.linear`. Shapes are those of `attn.linear_chunk`.
  }];
  let arguments = (ins
    Attn_Shaped:$query, Attn_Shaped:$state, Attn_Shaped:$output,
    Index:$rows, OptionalAttr<F64Attr>:$scale,
    OptionalAttr<Attn_NormalizerAttr>:$normalize);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $query `,` $state `:` type($query) `,` type($state) `)`
    (`scale` `(` $scale^ `)`)?
    `outs` `(` $output `:` type($output) `)` `rows` `(` $rows `)`
    (`normalize` `(` custom<Keyword>($normalize)^ `)`)?
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 2, 1);
    }
    /// The type of sums.
    ::mlir::FloatType getComputeType() {
      return ::llvm::cast<::mlir::FloatType>(
          ::llvm::cast<::mlir::ShapedType>(getState().getType())
              .getElementType());
    }
  }];
}

def Attn_RunningMaxOp : Attn_TileOp<"running_max",
    [DestinationStyleOpInterface]> {
  let summary = "the largest element so far, per feature";
  let description = [{
    For each batch entry, head and feature, over the positions t:

        max[t]  = max(max[t-1], x[t])      max[-1] = -inf
        step[t] = max[t-1] - max[t]        0 where max[t-1] = -inf

    A NaN is no maximum. From the length of its batch entry on, x counts as -inf,
    whatever it holds. It stands in both the rewrite and the tile stage, where it
    is of one batch entry, one head and some features.

    | operand | shape |
    |---|---|
    | input | B x H x S x M, f32 or f64 |
    | lengths | B, i32 or i64, optional |
    | max, step | shape and type of input |
  }];
  let arguments = (ins Attn_Shaped:$input, Optional<Attn_Shaped>:$lengths,
                       Attn_Shaped:$max, Attn_Shaped:$step);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)`
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $max `,` $step `:` type($max) `,` type($step) `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), getLengths() ? 2 : 1,
                                         2);
    }
  }];
}

def Attn_NumWorkersOp : Attn_Op<"num_workers", [Pure]> {
  let summary = "how many iterations of a parallel loop run at once";
  let description = [{
    At least 1: the threads that a call may use on a CPU. It is for the number of
    tiles that an op is cut into, where no result depends on it.
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

#endif // ATTN_TILE_OPS_TD
