// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// attn-libfuzzer CAMPAIGN [libFuzzer's arguments]
//
// The campaigns of attn-fuzz under libFuzzer, which keeps the mutants that
// reach new code and goes on from those. The seeds are those of the campaign,
// and so are half of the mutations.

#include "test/fuzz/Campaigns.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <unistd.h>

using namespace attn::fuzz;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);
extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned int seed);

static NamedCampaign campaign;

/// Writes the seeds into a folder of this process and returns their paths,
/// separated by commas.
static std::string writeSeeds() {
  std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                 ("attn-libfuzzer-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  static std::filesystem::path toRemove;
  toRemove = folder;
  std::atexit([] {
    std::error_code ignored;
    std::filesystem::remove_all(toRemove, ignored);
  });
  std::string paths;
  for (const std::string &input : campaign.corpus.inputs) {
    std::string path =
        folder / std::to_string(&input - campaign.corpus.inputs.data());
    std::ofstream(path, std::ios::binary) << input;
    paths += (paths.empty() ? "" : ",") + path;
  }
  return paths;
}

/// Takes the name of the campaign off the arguments and adds the seeds.
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  std::string name = *argc > 1 ? (*argv)[1] : "", known;
  std::optional<NamedCampaign> found = findCampaign(name, known);
  if (!found) {
    std::cerr << "attn-libfuzzer: expected a campaign: " << known << ", got '"
              << name << "'\n";
    std::exit(2);
  }
  campaign = std::move(*found);
  campaign.campaign.prepare();
  static std::string seeds = "-seed_inputs=" + writeSeeds();
  (*argv)[1] = seeds.data();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // What is refused is worth a mutation, too: -1 would drop it.
  (void)campaign.consume(
      std::string(reinterpret_cast<const char *>(data), size));
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                               unsigned int seed) {
  Random random(seed);
  if (random.oneIn(2))
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<const char *>(data), size);
  text = random.oneIn(4) ? mutateBytes(text, random)
                         : mutateTokens(text, campaign.corpus, random);
  size = std::min(text.size(), maxSize);
  std::copy_n(text.begin(), size, data);
  return size;
}
