// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a command line and a file can hold. See Campaigns.h.

#include "runtime/Npy.h"
#include "runtime/Spec.h"
#include "test/fuzz/Campaigns.h"
#include "tools/attn-run/Options.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace attn;
using namespace attn::fuzz;

static std::string temporaryPath() {
  const char *folder = std::getenv("TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/attn-fuzz-" +
         std::to_string(getpid()) + ".npy";
}

/// A version 1, 2 or 3 file around a header and some elements.
static std::string npyBytes(int version, std::string header, size_t elements) {
  size_t lengthBytes = version == 1 ? 2 : 4;
  while ((8 + lengthBytes + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += char(version);
  bytes += '\0';
  for (size_t n = 0; n < lengthBytes; ++n)
    bytes += char(header.size() >> (8 * n));
  bytes += header;
  for (size_t n = 0; n < elements; ++n)
    bytes += char(n * 37);
  return bytes;
}

static Corpus npyCorpus() {
  Corpus c;
  c.inputs = {
      npyBytes(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
               24),
      npyBytes(2, "{'descr': '>f8', 'fortran_order': True, 'shape': (4,), }",
               32),
      npyBytes(3, "{'descr': '<V2', 'fortran_order': False, 'shape': (), }", 2),
      npyBytes(1,
               "{'shape': (1, 2, 3, 5), 'fortran_order': True, "
               "'descr': '|b1'}",
               30),
      npyBytes(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 7), }",
               0),
  };
  c.dictionary = {"'descr'", "'shape'", "True", "False", "<u2", "bfloat16",
                  "(",       ")",       ",",    "'",     "{",   "}",
                  "<f2",     "|O",      "<c16", "L"};
  return c;
}

NamedCampaign attn::fuzz::npyCampaign() {
  NamedCampaign named;
  named.name = "npy";
  named.corpus = npyCorpus();
  named.mutate = mutateBinary;
  named.campaign.count = 30000;
  named.consume = [](const std::string &bytes) {
    std::string path = temporaryPath();
    std::ofstream(path, std::ios::binary) << bytes;
    Result<Tensor> tensor = readNpy(path);
    bool good = tensor.ok();
    if (good) // what was read is written and read again
      good = writeNpy(path, tensor->view()).ok() && readNpy(path).ok();
    std::remove(path.c_str());
    return good;
  };
  return named;
}

static Corpus specCorpus() {
  return {{"q=@q.npy", "4x8x12x64xbf16=normal(0,1)", "2x2xf32=1,2,3,4",
           "3xf32=7", "index=5", "f32=0.5", "i32=-3", "n=2x3xi64=@raw.bin",
           "2x3xf32=@raw.npy", "8xf32=uniform(-1,1)", "5xi32=iota",
           "x=5xi64=iota(3,-2)", "2x3xi1=1,0,1,1,0,0", "f64=inf", "f32=nan",
           "1x2xf16", "o=@o.npy", "-"},
          {"normal(",
           "uniform(",
           "iota",
           "=",
           ",",
           "x",
           "@",
           "bf16",
           "i1",
           "i8",
           "index",
           "inf",
           "nan",
           "-",
           "1e-400",
           "1e400",
           "/",
           "/dev/zero",
           "/proc/self/mem",
           "."}};
}

NamedCampaign attn::fuzz::specCampaign() {
  NamedCampaign named;
  named.name = "spec";
  named.corpus = specCorpus();
  named.mutate = mutateBinary;
  named.campaign.count = 30000;
  named.consume = [](const std::string &text) {
    bool good = parseOutputSpec(text).ok();
    good |= parseType(text).ok();
    Result<InputSpec> spec = parseInputSpec(text);
    if (!spec)
      return good;
    // A good specification may ask for more memory than anybody has.
    if (spec->type) {
      std::optional<int64_t> count = numElements(spec->type->sizes);
      if (!count || *count > 1 << 20)
        return true;
    }
    (void)evaluate(*spec, 1, 0);
    return true;
  };
  return named;
}

/// Command lines hold one argument per line.
NamedCampaign attn::fuzz::optionsCampaign() {
  NamedCampaign named;
  named.name = "options";
  named.corpus = {
      {"x.mlir\n--function=main\n--device=cpu\n--target=cpu:avx2\n--check",
       "x.mlir\n--input=2x3xf32=1\n--input=q=index=5\n--output=-\n--seed=7",
       "--expect=@o.npy\n--atol=1e-5\n--rtol=0.5\nx.mlir\n--threads=2",
       "x.mlir\n--benchmark=10\n--device=reference\n--output=@o.npy",
       "x.mlir\n--emit=asm\n--benchmark", "--help",
       "--onnx-test=d\n--device=reference\n--atol=1e-3", "--import=x.onnx",
       "x.mlir\n--cache-dir=d\n--remarks", "x.mlir\n--no-cache"},
      {"--", "-", "=", "\n", "--input", "--output", "--expect", "--emit",
       "--benchmark", "--remarks", "--dump", "--cache-dir", "--no-cache", "-o",
       "inf", "nan", "@", "obj"}};
  named.mutate = mutateBinary;
  named.campaign.count = 20000;
  named.consume = [](const std::string &text) {
    std::vector<std::string> arguments;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      arguments.push_back(line);
    return run::parseOptions(arguments).ok();
  };
  return named;
}
