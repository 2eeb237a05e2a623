// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Feature maps of linear attention, as attributes.

#ifndef ATTN_FEATURES_TD
#define ATTN_FEATURES_TD

include "dialect/AttnBase.td"
include "dialect/AttnInterfaces.td"

class Attn_FeatureAttr<string name, string mnemonic, list<string> methods = []>
    : Attn_Attr<name, mnemonic, [
        DeclareAttrInterfaceMethods<Attn_FeatureAttrInterface, methods>]>;

def Attn_IdentityAttr : Attn_FeatureAttr<"Identity", "identity"> {
  let summary = "phi(x) = x";
}

def Attn_Elu1Attr : Attn_FeatureAttr<"Elu1", "elu1"> {
  let summary = "phi(x) = elu(x) + 1";
  let description = [{
    x + 1 where x > 0, exp(x) elsewhere (Katharopoulos et al. 2020, "Transformers
    are RNNs", equation 7).
  }];
}

def Attn_ReluAttr : Attn_FeatureAttr<"Relu", "relu"> {
  let summary = "phi(x) = max(x, 0) + eps";
  let description = [{
    `#attn.relu` has eps = 0, `#attn.relu<eps = 1.0e-3>` another that is finite
    and not negative (Choromanski et al. 2021, "Rethinking Attention with
    Performers", section 4.2).
  }];
  let parameters = (ins OptionalParameter<"::mlir::FloatAttr">:$eps);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Attn_Relu2Attr : Attn_FeatureAttr<"Relu2", "relu2"> {
  let summary = "phi(x) = max(x, 0)^2";
}

def Attn_SoftmaxFeaturesAttr
    : Attn_FeatureAttr<"SoftmaxFeatures", "softmax_features"> {
  let summary = "phi(x) = softmax over the features of a position";
  let description = [{
    The query map of Shen et al. 2021, "Efficient Attention", section 3.2.
  }];
}

def Attn_SoftmaxPositionsAttr
    : Attn_FeatureAttr<"SoftmaxPositions", "softmax_positions",
                       ["mixesPositions"]> {
  let summary = "phi(x) = softmax over the positions of a feature";
  let description = [{
    The key map of Shen et al. 2021, "Efficient Attention", section 3.2. It reads
    the whole sequence, so that it does not stand beside `causal`.
  }];
}

def Attn_HedgehogAttr
    : Attn_FeatureAttr<"Hedgehog", "hedgehog", ["getNumFeatures"]> {
  let summary = "phi(x) = softmax over the 2 d features (x, -x)";
  let description = [{
    Zhang et al. 2024, "The Hedgehog & the Porcupine", section 4.2; the learned W
    is the projection of `attn.feature_map`, or a product in front of the op.
  }];
}

def Attn_CosformerAttr
    : Attn_FeatureAttr<"Cosformer", "cosformer", ["getNumFeatures"]> {
  let summary = "phi(x) = max(x, 0) times the cosine and the sine of the position";
  let description = [{
    The 2 d features (max(x, 0) cos(pi i / 2 M), max(x, 0) sin(pi i / 2 M)) of
    position i (Qin et al. 2022, "cosFormer", section 3.3). M is `length`, at
    least 1, or without it that of the call: the larger of the numbers of queries
    and keys of `attn.linear`, of each sequence where they are packed, and the
    number of rows of `attn.feature_map`, as in the published code
    (OpenNLPLab/cosFormer, `cosformer_attention`).

    Example: `#attn.cosformer`, `#attn.cosformer<length = 4096>`.
  }];
  let parameters = (ins OptionalParameter<"::std::optional<int64_t>">:$length);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Attn_Taylor2Attr
    : Attn_FeatureAttr<"Taylor2", "taylor2", ["getNumFeatures"]> {
  let summary = "phi(x).phi(y) = 1 + s + s^2 / 2 with s = x.y / sqrt(d)";
  let description = [{
    The 1 + d + d (d + 1) / 2 features 1, x_i / d^(1/4), x_i^2 / sqrt(2 d), and
    x_i x_j / sqrt(d) for i < j by rows i (Arora et al. 2024, "Simple linear
    attention language models balance the recall-throughput tradeoff", section
    3). d is at most 65536.
  }];
}

def Attn_PositiveAttr
    : Attn_FeatureAttr<"Positive", "positive",
                       ["needsProjection", "isExponential"]> {
  let summary = "phi(x)_r = m^(-1/2) exp(w_r.x - |x|^2 / 2)";
  let description = [{
    Positive random features of the softmax kernel, E[phi(x).phi(y)] = exp(x.y)
    for rows w_r ~ N(0, I) of the projection (Choromanski et al. 2021, lemma 1).
  }];
}

def Attn_HyperbolicAttr
    : Attn_FeatureAttr<"Hyperbolic", "hyperbolic",
                       ["getNumFeatures", "needsProjection",
                        "isExponential"]> {
  let summary = "(2 m)^(-1/2) exp(-|x|^2 / 2) (exp(w_r.x), exp(-w_r.x))";
  let description = [{
    The 2 m hyperbolic features (Choromanski et al. 2021, lemma 1), those with a
    plus first.
  }];
}

def Attn_TrigonometricAttr
    : Attn_FeatureAttr<"Trigonometric", "trigonometric",
                       ["getNumFeatures", "needsProjection"]> {
  let summary = "m^(-1/2) exp(|x|^2 / 2) (cos(w_r.x), sin(w_r.x))";
  let description = [{
    The 2 m trigonometric features (Rahimi and Recht 2007), the cosines first.
    They have both signs, so that a normaliser may be 0.
  }];
}

#endif // ATTN_FEATURES_TD
