// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models of ONNX through the importer. Half of the corpus is the text form of
// protobuf, in which a changed word is another model and no broken file; the
// other half is the bytes of the files.

#include "test/fuzz/Campaigns.h"
#include "test/onnx/Definition.h"
#include "tools/attn-run/onnx/Import.h"
#include "tools/attn-run/onnx/Proto.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

using namespace attn;
using namespace attn::fuzz;
using namespace attn::onnxtest;

/// Attention with every input and output, and with everything else.
static std::vector<onnx::ModelProto> attentionModels() {
  AttentionCase cached;
  cached.isPacked = cached.isCausal = cached.wantsScores = true;
  cached.queryHeads = 4;
  cached.keyHeads = 2;
  cached.queries = 3;
  cached.keys = 5;
  cached.past = 7;
  cached.softcap = 2;
  cached.left = 3;
  cached.mode = 3;
  cached.maskType = DType::f32;
  cached.maskSizes = {2, 1, 3, 9};
  cached.batch = 2;
  AttentionCase lengths;
  lengths.hasLengths = lengths.wantsScores = true;
  lengths.mode = 2;
  lengths.queries = lengths.keys = 6;
  lengths.headSize = lengths.valueSize = 8;
  lengths.maskType = DType::i1;
  lengths.maskSizes = {4};
  lengths.precision = DType::f64;
  lengths.isDynamic = true;
  return {makeModel(cached), makeModel(lengths)};
}

/// FlexAttention with a graph of most operators that a graph can have.
static onnx::ModelProto flexModel() {
  ModelBuilder builder(1, "ai.onnx.preview");
  for (const char *name : {"Q", "K", "V"})
    builder.addInput(name, onnx::TensorProto::FLOAT, {1, 2, 4, 8});
  builder.addOutput("Y");
  onnx::NodeProto &node =
      builder.addNode("FlexAttention", {"Q", "K", "V"}, {"Y"});
  onnx::GraphProto &graph = setGraph(node, "score_mod");
  graph.add_input()->set_name("x");
  graph.add_output()->set_name("y");
  auto constant = [&](const char *name, DType dtype,
                      const std::vector<int64_t> &sizes,
                      const std::vector<double> &elements) {
    *graph.add_initializer() =
        makeTensor(name, typeNumber(dtype), sizes, elements);
  };
  auto op = [&](const char *type, std::vector<const char *> inputs,
                const char *output) -> onnx::NodeProto & {
    onnx::NodeProto *added = graph.add_node();
    added->set_op_type(type);
    for (const char *input : inputs)
      added->add_input(input);
    added->add_output(output);
    return *added;
  };
  constant("zero", DType::i64, {}, {0});
  constant("one", DType::i64, {}, {1});
  constant("three", DType::i64, {1}, {3});
  constant("column", DType::i64, {2}, {-1, 1});
  constant("axes", DType::i64, {2}, {0, 1});
  constant("bias", DType::f32, {4}, {1, 2, 3, 4});
  constant("low", DType::f32, {1}, {-1e30});
  op("Shape", {"x"}, "shape");
  op("Gather", {"shape", "three"}, "keys");
  op("Range", {"zero", "keys", "one"}, "j");
  op("Reshape", {"j", "column"}, "i");
  op("Sub", {"i", "j"}, "distance");
  op("Unsqueeze", {"distance", "axes"}, "distances");
  op("Mod", {"distances", "three"}, "rest");
  op("Greater", {"rest", "one"}, "kept");
  setInteger(op("Cast", {"distances"}, "number"), "to", 1);
  op("Tanh", {"number"}, "capped");
  op("Max", {"capped", "bias", "x"}, "most");
  op("Where", {"kept", "most", "low"}, "y");
  return builder.model;
}

static Corpus onnxCorpus() {
  Corpus corpus;
  std::vector<onnx::ModelProto> models = attentionModels();
  models.push_back(flexModel());
  for (const onnx::ModelProto &model : models) {
    corpus.inputs.push_back(model.DebugString());
    corpus.inputs.push_back(model.SerializeAsString());
  }
  corpus.dictionary = {"dim_value",
                       "dim_param",
                       "elem_type",
                       "raw_data",
                       "data_type",
                       "int64_data",
                       "float_data",
                       "dims",
                       "-1",
                       "0",
                       "9223372036854775807",
                       "EXTERNAL",
                       "GRAPH",
                       "INT",
                       "inf",
                       "nan",
                       "Add",
                       "Not",
                       "Squeeze",
                       "Constant",
                       "{",
                       "}"};
  return corpus;
}

/// The text form where it is one, else bytes.
static bool parseModel(const std::string &input, onnx::ModelProto &model) {
  struct Silence : google::protobuf::io::ErrorCollector {
    void AddError(int, int, const std::string &) override {}
  } silence;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&silence);
  if (parser.ParseFromString(input, &model))
    return true;
  model.Clear();
  return model.ParseFromString(input);
}

NamedCampaign attn::fuzz::onnxCampaign() {
  NamedCampaign named;
  named.name = "onnx";
  named.corpus = onnxCorpus();
  named.mutate = [](const Corpus &corpus, uint64_t seed) {
    return seed % 3 == 0 ? mutateBinary(corpus, seed)
                         : mutateText(corpus, seed);
  };
  named.campaign.count = 30000;
  named.consume = [](const std::string &input) {
    onnx::ModelProto model;
    return parseModel(input, model) && importer::importModel(model).ok();
  };
  return named;
}
