// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interfaces: what mask and feature attributes offer, and what every op of the
// softmax family offers, so that tiling and decomposition are written once.

#ifndef ATTN_INTERFACES_TD
#define ATTN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Attn_MaskAttrInterface : AttrInterface<"MaskAttrInterface"> {
  let cppNamespace = "::mlir::attn";
  let description = [{
    A mask is a predicate over (b, h, i, j): batch, query head, query position
    and key position, all of type index, and over the prefix length and the
    random blocks of the op where it has them. It is given as the IR of a keep region, so every mask is
    tiled, classified and vectorised by the same code.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the predicate at the insertion point and returns it as an i1:
        true where query position i may see key position j.
      }],
      "::mlir::Value", "buildKeep",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::attn::MaskCoordinates":$at)>,
    InterfaceMethod<"True if every key is kept, so that the mask can go.",
      "bool", "keepsAll", (ins), "", "return false;">,
    InterfaceMethod<"True if the mask reads the prefix clause, which has to "
      "be there then.", "bool", "usesPrefix", (ins), "", "return false;">,
    InterfaceMethod<"True if the mask reads the random_blocks clause where the "
      "op has one.", "bool", "readsRandomBlocks", (ins), "", "return false;">,
    InterfaceMethod<"True if the mask means nothing without the random_blocks "
      "clause.", "bool", "needsRandomBlocks", (ins), "", "return false;">
  ];
}

def Attn_FeatureAttrInterface : AttrInterface<"FeatureAttrInterface"> {
  let cppNamespace = "::mlir::attn";
  let description = [{
    A feature map phi of linear attention, as `attn.feature_map` applies it to
    each vector of a tensor. What it computes is in its attribute's description.
  }];
  let methods = [
    InterfaceMethod<"Number of features of a vector of `dim` entries, those of "
      "the projection where there is one.",
      "int64_t", "getNumFeatures", (ins "int64_t":$dim), "", "return dim;">,
    InterfaceMethod<"True if it is defined by a projection only.",
      "bool", "needsProjection", (ins), "", "return false;">,
    InterfaceMethod<"True if features are exponentials, so that their "
      "logarithms can take their place.",
      "bool", "isExponential", (ins), "", "return false;">,
    InterfaceMethod<"True if a feature depends on other positions.",
      "bool", "mixesPositions", (ins), "", "return false;">
  ];
}

def Attn_SoftmaxFamilyInterface : OpInterface<"SoftmaxFamilyInterface"> {
  let cppNamespace = "::mlir::attn";
  let description = [{
    Softmax attention in any of its head layouts:

        O[b,h,i,:] = sum_j P[b,h,i,j] V[b,h/G,j,:],
        P = softmax_j(mask(score(softcap(scale * Q K^T)))).
  }];
  let methods = [
    InterfaceMethod<"Q, B x Hq x Sq x Dk.", "::mlir::Value", "getQuery">,
    InterfaceMethod<"K, B x Hkv x Skv x Dk.", "::mlir::Value", "getKey">,
    InterfaceMethod<"V, B x Hkv x Skv x Dv.", "::mlir::Value", "getValue">,
    InterfaceMethod<"O, B x Hq x Sq x Dv.", "::mlir::Value", "getOutput">,
    InterfaceMethod<"Log-sum-exp of the logits, B x Hq x Sq, or null.",
      "::mlir::Value", "getLse">,
    InterfaceMethod<"Factor of Q K^T as a number, or nothing.",
      "::std::optional<::llvm::APFloat>", "getScale">,
    InterfaceMethod<"Factor of Q K^T as an f32 value, or null. Without number "
      "and value it is 1/sqrt(Dk).", "::mlir::Value", "getScaleValue">,
    InterfaceMethod<"c of c tanh(s/c) as a number, or nothing.",
      "::std::optional<::llvm::APFloat>", "getSoftcap">,
    InterfaceMethod<"c of c tanh(s/c) as an f32 value, or null.",
      "::mlir::Value", "getSoftcapValue">,
    InterfaceMethod<"Where query rows stand, or nothing.",
      "::std::optional<::mlir::attn::Alignment>", "getAlign">,
    InterfaceMethod<"Position of query row 0 (index, or one per batch), or null.",
      "::mlir::Value", "getOffset">,
    InterfaceMethod<"Mask attributes; their intersection holds. May be null.",
      "::mlir::ArrayAttr", "getMaskAttr">,
    InterfaceMethod<"Length of the prefix that every query sees (index, or "
      "one per batch), or null.", "::mlir::Value", "getPrefix">,
    InterfaceMethod<"Random blocks of keys by query head and block of queries, "
      "or null.", "::mlir::Value", "getRandomBlocks">,
    InterfaceMethod<"Slope of j - i per query head, or null.",
      "::mlir::Value", "getAlibi">,
    InterfaceMethod<"Addend of the logits, broadcast to B x Hq x Sq x Skv, or "
      "null.", "::mlir::Value", "getBias">,
    InterfaceMethod<"Whether a key may be seen, broadcast to "
      "B x Hq x Sq x Skv, or null.", "::mlir::Value", "getSelect">,
    InterfaceMethod<"Keys in use (index, or one per batch), or null.",
      "::mlir::Value", "getLengths">,
    InterfaceMethod<"Position of key row 0, or null for 0.",
      "::mlir::Value", "getKeyOffset">,
    InterfaceMethod<"Logit per query head that joins each sum without a "
      "value, or null.", "::mlir::Value", "getSinks">,
    InterfaceMethod<"First query rows of packed sequences and their end, or "
      "null.", "::mlir::Value", "getQueryStarts">,
    InterfaceMethod<"First key rows of packed sequences and their end, or "
      "null.", "::mlir::Value", "getKeyStarts">,
    InterfaceMethod<"Removes the clauses that a region can say: softcap as a "
      "value, alibi, bias and select.", "void", "dropRegionClauses", (ins), "",
      [{
        $_op.getSoftcapValueMutable().clear();
        $_op.getAlibiMutable().clear();
        $_op.getBiasMutable().clear();
        $_op.getSelectMutable().clear();
      }]>,
    InterfaceMethod<"(s, b, h, i, j) -> s', or empty.",
      "::mlir::Region &", "getScore">,
    InterfaceMethod<"(b, h, i, j) -> i1, or empty.",
      "::mlir::Region &", "getKeep">,
    InterfaceMethod<"True if Hq may be a multiple of Hkv.",
      "bool", "hasGroupedHeads", (ins), "", "return false;">
  ];
}

#endif // ATTN_INTERFACES_TD
