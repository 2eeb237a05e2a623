// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of campaigns. See Campaigns.h.

#include "test/fuzz/Campaigns.h"

using namespace attn::fuzz;

std::optional<NamedCampaign> attn::fuzz::findCampaign(const std::string &name,
                                                      std::string &known) {
  for (NamedCampaign (*make)() :
       {irCampaign, compileCampaign, referenceCampaign, pipelineCampaign,
        npyCampaign, onnxCampaign, specCampaign, optionsCampaign}) {
    NamedCampaign named = make();
    if (named.name == name)
      return named;
    known += (known.empty() ? "" : " ") + named.name;
  }
  return std::nullopt;
}
