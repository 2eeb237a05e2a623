// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The campaigns of attn-fuzz: what is mutated and what consumes it.

#ifndef ATTN_TEST_FUZZ_CAMPAIGNS_H
#define ATTN_TEST_FUZZ_CAMPAIGNS_H

#include "test/fuzz/Campaign.h"
#include "test/fuzz/Mutator.h"

#include <optional>
#include <string>

namespace attn::fuzz {

struct NamedCampaign {
  std::string name;
  Corpus corpus;
  std::string (*mutate)(const Corpus &corpus, uint64_t seed);
  /// True if the input was accepted. Every input of the corpus is, unchanged.
  std::function<bool(const std::string &input)> consume;
  /// The mutated inputs, how many a child takes and what it does first.
  Campaign campaign;

  /// The first seeds are the corpus itself.
  std::string input(uint64_t seed) const {
    return seed < corpus.inputs.size() ? corpus.inputs[seed]
                                       : mutate(corpus, seed);
  }
};

/// IR text through parser, verifier and the canonicalisation of attention.
NamedCampaign irCampaign();
/// IR text that the parser takes, through a whole compile for a CPU.
NamedCampaign compileCampaign();
/// The same for the reference device.
NamedCampaign referenceCampaign();
/// Options of the compiler's stages, as attn-opt takes them.
NamedCampaign pipelineCampaign();
/// Files of NumPy arrays.
NamedCampaign npyCampaign();
/// Command lines of attn-run.
NamedCampaign optionsCampaign();
/// Models and tensors of ONNX, imported.
NamedCampaign onnxCampaign();
/// SPEC strings of attn-run, evaluated where they are small.
NamedCampaign specCampaign();

/// The campaign of that name, or nothing and the names of all.
std::optional<NamedCampaign> findCampaign(const std::string &name,
                                          std::string &known);

} // namespace attn::fuzz

#endif // ATTN_TEST_FUZZ_CAMPAIGNS_H
