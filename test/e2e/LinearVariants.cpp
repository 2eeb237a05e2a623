// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of clauses of attn.linear: each clause alone, the models made of them,
// and all at once.

#include "test/e2e/LinearHarness.h"
#include "gtest/gtest.h"

using namespace attn;
using namespace attn::test;
using oracle::Divisor;
using oracle::Feature;
using oracle::FeatureKind;

static Feature featureOf(FeatureKind kind, double eps = 0.0,
                         int64_t length = 1) {
  Feature feature;
  feature.kind = kind;
  feature.eps = eps;
  feature.length = length;
  return feature;
}

namespace {
/// Collects variants, each set by a function.
struct VariantList {
  using Set = void (*)(LinearVariant &);

  void add(const std::string &name, Set set) { add(name, {}, {}, set); }
  void add(const std::string &name, const Feature &query, const Feature &key,
           Set set) {
    LinearVariant &variant = all.emplace_back();
    variant.name = name;
    variant.queryFeature = query;
    variant.keyFeature = key;
    set(variant);
  }
  void addScans();
  void addFeatures();
  void addShapes();
  void addPacked();

  std::vector<LinearVariant> all;
};
} // namespace

/// Decay, transitions and states.
void VariantList::addScans() {
  add("plain", [](LinearVariant &v) { v.finalState = false; });
  add("scale", [](LinearVariant &v) { v.scale = -0.75; });
  add("state", [](LinearVariant &v) { v.state = true; });
  add("lengths", [](LinearVariant &v) { v.lengths = true; });
  add("length_of_all", [](LinearVariant &v) {
    v.decay = Decay::Token;
    v.lengths = v.oneLength = true;
  });
  add("decay_head", [](LinearVariant &v) { v.decay = Decay::Head; });
  add("decay_token", [](LinearVariant &v) { v.decay = Decay::Token; });
  add("decay_vector", [](LinearVariant &v) { v.decay = Decay::Vector; });
  add("decay_head_state_lengths", [](LinearVariant &v) {
    v.decay = Decay::Head;
    v.state = true;
    v.lengths = true;
  });
  add("decay_vector_state_lengths", [](LinearVariant &v) {
    v.decay = Decay::Vector;
    v.state = true;
    v.lengths = true;
  });
  add("delta", [](LinearVariant &v) { v.beta = true; });
  add("gated_delta", [](LinearVariant &v) {
    v.decay = Decay::Token;
    v.beta = true;
  });
  add("gated_delta_state_lengths", [](LinearVariant &v) {
    v.decay = Decay::Token;
    v.beta = true;
    v.state = true;
    v.lengths = true;
  });
  add("kda", [](LinearVariant &v) {
    v.decay = Decay::Vector;
    v.beta = true;
  });
  add("transition", [](LinearVariant &v) { v.transition = true; });
  add("rwkv7", [](LinearVariant &v) {
    v.decay = Decay::Vector;
    v.transition = true;
    v.state = true;
    v.lengths = true;
  });
  add("bonus", [](LinearVariant &v) { v.bonus = true; });
  add("rwkv6", [](LinearVariant &v) {
    v.decay = Decay::Vector;
    v.bonus = true;
    v.state = true;
    v.lengths = true;
  });
  add("transition_bonus", [](LinearVariant &v) {
    v.decay = Decay::Vector;
    v.transition = true;
    v.bonus = true;
  });
  add("delta_bonus", [](LinearVariant &v) {
    v.decay = Decay::Token;
    v.beta = true;
    v.bonus = true;
  });
}

/// Feature maps and divisors.
void VariantList::addFeatures() {
  Feature elu1 = featureOf(FeatureKind::Elu1);
  add("elu1_token", elu1, elu1, [](LinearVariant &v) {
    v.features = "#attn.elu1";
    v.divisor = Divisor::Token;
  });
  add("elu1_token_decay_state_lengths", elu1, elu1, [](LinearVariant &v) {
    v.decay = Decay::Token;
    v.state = true;
    v.lengths = true;
    v.features = "#attn.elu1";
    v.divisor = Divisor::Token;
  });
  add("elu1_bidirectional_lengths", elu1, elu1, [](LinearVariant &v) {
    v.causal = false;
    v.state = true;
    v.lengths = true;
    v.features = "#attn.elu1";
    v.divisor = Divisor::Token;
  });
  add("efficient_attention", featureOf(FeatureKind::SoftmaxFeatures),
      featureOf(FeatureKind::SoftmaxPositions), [](LinearVariant &v) {
        v.causal = false;
        v.lengths = true;
        v.features = "#attn.softmax_features, #attn.softmax_positions";
      });
  add("efficient_attention_length_of_all",
      featureOf(FeatureKind::SoftmaxFeatures),
      featureOf(FeatureKind::SoftmaxPositions), [](LinearVariant &v) {
        v.causal = false;
        v.lengths = v.oneLength = true;
        v.features = "#attn.softmax_features, #attn.softmax_positions";
      });
  Feature softmax = featureOf(FeatureKind::SoftmaxFeatures);
  add("softmax_by_feature", softmax, softmax, [](LinearVariant &v) {
    v.decay = Decay::Vector;
    v.features = "#attn.softmax_features";
    v.divisor = Divisor::Feature;
  });
  add("delta_by_feature", softmax, softmax, [](LinearVariant &v) {
    v.decay = Decay::Token;
    v.beta = true;
    v.features = "#attn.softmax_features";
    v.divisor = Divisor::Feature;
  });
  add("softmax_delta", softmax, softmax, [](LinearVariant &v) {
    v.decay = Decay::Head;
    v.beta = true;
    v.features = "#attn.softmax_features";
  });
  add("bonus_token", elu1, elu1, [](LinearVariant &v) {
    v.decay = Decay::Head;
    v.bonus = true;
    v.state = true;
    v.lengths = true;
    v.features = "#attn.elu1";
    v.divisor = Divisor::Token;
  });
  add("bonus_by_feature", softmax, softmax, [](LinearVariant &v) {
    v.decay = Decay::Vector;
    v.bonus = true;
    v.lengths = true;
    v.features = "#attn.softmax_features";
    v.divisor = Divisor::Feature;
  });
  add("delta_bonus_by_feature", softmax, softmax, [](LinearVariant &v) {
    v.decay = Decay::Token;
    v.beta = true;
    v.bonus = true;
    v.features = "#attn.softmax_features";
    v.divisor = Divisor::Feature;
  });
  Feature relu = featureOf(FeatureKind::Relu, 0x1p-7);
  add("relu_eps_token", relu, relu, [](LinearVariant &v) {
    v.features = "#attn.relu<eps = 0.0078125>";
    v.divisor = Divisor::Token;
  });
  add("relu2_identity", featureOf(FeatureKind::Relu2), Feature(),
      [](LinearVariant &v) { v.features = "#attn.relu2, #attn.identity"; });
  Feature hedgehog = featureOf(FeatureKind::Hedgehog);
  add("hedgehog_token", hedgehog, hedgehog, [](LinearVariant &v) {
    v.features = "#attn.hedgehog";
    v.divisor = Divisor::Token;
  });
  Feature cosformer = featureOf(FeatureKind::Cosformer, 0.0, 200);
  add("cosformer_token", cosformer, cosformer, [](LinearVariant &v) {
    v.features = "#attn.cosformer<length = 200>";
    v.divisor = Divisor::Token;
  });
  Feature ofTheCall = featureOf(FeatureKind::Cosformer, 0.0, 0);
  add("cosformer_call", ofTheCall, ofTheCall, [](LinearVariant &v) {
    v.features = "#attn.cosformer";
    v.divisor = Divisor::Token;
  });
  add("cosformer_call_bidirectional", ofTheCall, ofTheCall,
      [](LinearVariant &v) {
        v.causal = false;
        v.lengths = true;
        v.features = "#attn.cosformer";
      });
  Feature taylor = featureOf(FeatureKind::Taylor2);
  add("taylor2_token", taylor, taylor, [](LinearVariant &v) {
    v.lengths = true;
    v.features = "#attn.taylor2";
    v.divisor = Divisor::Token;
  });
  add("everything", hedgehog, hedgehog, [](LinearVariant &v) {
    v.decay = Decay::Vector;
    v.beta = true;
    v.state = true;
    v.lengths = true;
    v.scale = 0.5;
    v.features = "#attn.hedgehog";
    v.divisor = Divisor::Token;
  });
}

/// Both directions, blocks, heads and types.
void VariantList::addShapes() {
  add("bidirectional", [](LinearVariant &v) { v.causal = false; });
  add("bidirectional_state_lengths", [](LinearVariant &v) {
    v.causal = false;
    v.state = true;
    v.lengths = true;
    v.scale = 0.25;
  });
  add("block", [](LinearVariant &v) { v.block = 5; });
  add("block_state_lengths", [](LinearVariant &v) {
    v.state = true;
    v.lengths = true;
    v.block = 16;
  });
  add("grouped_values", [](LinearVariant &v) {
    v.decay = Decay::Token;
    v.state = true;
    v.groupedValues = true;
  });
  add("grouped_values_delta", [](LinearVariant &v) {
    v.beta = true;
    v.lengths = true;
    v.groupedValues = true;
  });
  add("wide", [](LinearVariant &v) {
    v.decay = Decay::Vector;
    v.beta = true;
    v.bonus = true;
    v.wide = true;
  });
  add("static", [](LinearVariant &v) {
    v.decay = Decay::Vector;
    v.state = true;
    v.lengths = true;
    v.staticSizes = true;
  });
}

/// Several sequences in one batch entry, with every clause.
void VariantList::addPacked() {
  add("packed", [](LinearVariant &v) { v.packed = true; });
  add("packed_state_lengths", [](LinearVariant &v) {
    v.packed = true;
    v.decay = Decay::Vector;
    v.state = true;
    v.lengths = true;
  });
  add("packed_decay_head", [](LinearVariant &v) {
    v.packed = true;
    v.decay = Decay::Head;
    v.scale = 0.5;
    v.finalState = false;
  });
  add("packed_delta", [](LinearVariant &v) {
    v.packed = true;
    v.decay = Decay::Token;
    v.beta = true;
    v.state = true;
  });
  add("packed_rwkv7", [](LinearVariant &v) {
    v.packed = true;
    v.decay = Decay::Vector;
    v.transition = true;
    v.bonus = true;
    v.lengths = true;
  });
  add("packed_block", [](LinearVariant &v) {
    v.packed = true;
    v.block = 5;
    v.state = true;
    v.lengths = true;
  });
  add("packed_grouped_values", [](LinearVariant &v) {
    v.packed = true;
    v.decay = Decay::Token;
    v.groupedValues = true;
  });
  add("packed_static", [](LinearVariant &v) {
    v.packed = true;
    v.decay = Decay::Token;
    v.state = true;
    v.staticSizes = true;
  });
  Feature elu1 = featureOf(FeatureKind::Elu1);
  add("packed_elu1_token", elu1, elu1, [](LinearVariant &v) {
    v.packed = true;
    v.bonus = true;
    v.state = true;
    v.features = "#attn.elu1";
    v.divisor = Divisor::Token;
  });
  Feature cosformer = featureOf(FeatureKind::Cosformer, 0.0, 0);
  add("packed_cosformer", cosformer, cosformer, [](LinearVariant &v) {
    v.packed = true;
    v.features = "#attn.cosformer";
    v.divisor = Divisor::Token;
  });
  Feature softmax = featureOf(FeatureKind::SoftmaxFeatures);
  add("packed_by_feature", softmax, softmax, [](LinearVariant &v) {
    v.packed = true;
    v.decay = Decay::Token;
    v.features = "#attn.softmax_features";
    v.divisor = Divisor::Feature;
  });
  add("packed_bidirectional", [](LinearVariant &v) {
    v.packed = true;
    v.causal = false;
    v.state = true;
    v.lengths = true;
    v.keyStarts = true;
  });
  add("packed_bidirectional_one_length", cosformer, cosformer,
      [](LinearVariant &v) {
        v.packed = true;
        v.causal = false;
        v.features = "#attn.cosformer";
        v.divisor = Divisor::Token;
      });
}

const std::vector<LinearVariant> &attn::test::linearVariants() {
  static const std::vector<LinearVariant> variants = [] {
    VariantList list;
    list.addScans();
    list.addFeatures();
    list.addShapes();
    list.addPacked();
    return list.all;
  }();
  return variants;
}

const LinearVariant &attn::test::linearVariantNamed(const std::string &name) {
  for (const LinearVariant &variant : linearVariants())
    if (variant.name == name)
      return variant;
  ADD_FAILURE() << "no variant " << name;
  return linearVariants().front();
}
