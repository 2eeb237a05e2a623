// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the operands of whole-attention ops.

#ifndef ATTN_TYPES_TD
#define ATTN_TYPES_TD

include "mlir/IR/OpBase.td"

def Attn_FloatTensor4D : RankedTensorOf<[F16, BF16, F32, F64],
    [HasAnyRankOfPred<[4]>],
    "4-D tensor (batch x heads x sequence x head dim)">;
def Attn_LseTensor : RankedTensorOf<[F32, F64], [HasAnyRankOfPred<[3]>],
    "3-D tensor (batch x heads x sequence)">;
def Attn_PerBatch : RankedTensorOf<[I32, I64], [HasAnyRankOfPred<[1]>],
    "1-D tensor (batch)">;
def Attn_IndexOrPerBatch : AnyTypeOf<[Index, Attn_PerBatch],
    "index or 1-D tensor (batch) of i32 or i64">;
def Attn_PerHead : RankedTensorOf<[F16, BF16, F32, F64],
    [HasAnyRankOfPred<[1]>], "1-D tensor (query heads)">;
def Attn_Bias : RankedTensorOf<[F16, BF16, F32, F64],
    [HasAnyRankOfPred<[1, 2, 3, 4]>], "tensor of rank 1 to 4">;
def Attn_Starts : RankedTensorOf<[I32, I64], [HasAnyRankOfPred<[1]>],
    "1-D tensor (sequences + 1)">;
def Attn_RandomBlocks : RankedTensorOf<[I32, I64], [HasAnyRankOfPred<[3]>],
    "3-D tensor (query heads x blocks x random blocks)">;
// Booleans are bytes from the source stage on, of which 0 is false.
def Attn_Select : RankedTensorOf<[I1, I8], [HasAnyRankOfPred<[1, 2, 3, 4]>],
    "tensor of rank 1 to 4">;

#endif // ATTN_TYPES_TD
