// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images as bytes.

#include "runtime/code/ModuleImage.h"

#include "runtime/code/Bytes.h"

namespace attn {

static void write(ByteWriter &bytes, const std::vector<Parameter> &parameters) {
  bytes.number(parameters.size());
  for (const Parameter &parameter : parameters) {
    bytes.number(static_cast<uint64_t>(parameter.kind));
    bytes.number(static_cast<uint64_t>(parameter.dtype));
    bytes.number(parameter.sizes.size());
    for (int64_t size : parameter.sizes)
      bytes.number(static_cast<uint64_t>(size));
    bytes.text(parameter.name);
    bytes.number(parameter.isLogSumExp);
    bytes.number(static_cast<uint64_t>(parameter.rounding));
    bytes.number(parameter.jumps.size());
    for (const std::string &jump : parameter.jumps)
      bytes.text(jump);
  }
}

static std::vector<Parameter> readParameters(ByteReader &bytes) {
  std::vector<Parameter> parameters(bytes.count());
  for (Parameter &parameter : parameters) {
    parameter.kind = static_cast<Parameter::Kind>(
        bytes.number(static_cast<uint64_t>(Parameter::Kind::scalar)));
    parameter.dtype =
        static_cast<DType>(bytes.number(static_cast<uint64_t>(DType::i64)));
    parameter.sizes.resize(bytes.count());
    for (int64_t &size : parameter.sizes)
      size = static_cast<int64_t>(bytes.number());
    parameter.name = bytes.text();
    parameter.isLogSumExp = bytes.number(1);
    parameter.rounding =
        static_cast<DType>(bytes.number(static_cast<uint64_t>(DType::i64)));
    parameter.jumps.resize(bytes.count());
    for (std::string &jump : parameter.jumps)
      jump = bytes.text();
  }
  return parameters;
}

static void write(ByteWriter &bytes, const SizeSource &source) {
  bytes.number(static_cast<uint64_t>(source.kind));
  bytes.number(static_cast<uint64_t>(source.constant));
  bytes.number(source.argument);
  bytes.number(source.dim);
}

/// A source that names no dimension of the arguments is unknown.
static SizeSource readSource(ByteReader &bytes,
                             const std::vector<Parameter> &arguments) {
  SizeSource source;
  source.kind = static_cast<SizeSource::Kind>(
      bytes.number(static_cast<uint64_t>(SizeSource::Kind::unknown)));
  source.constant = static_cast<int64_t>(bytes.number());
  source.argument = bytes.number();
  source.dim = bytes.number();
  if (source.kind == SizeSource::Kind::argument &&
      (source.argument >= arguments.size() ||
       source.dim >= arguments[source.argument].sizes.size()))
    source.kind = SizeSource::Kind::unknown;
  return source;
}

/// The sizes of an attention op in the order in which they are written.
static constexpr SizeSource AttentionSizes::*sizeMembers[] = {
    &AttentionSizes::batch,   &AttentionSizes::queryHeads,
    &AttentionSizes::queries, &AttentionSizes::keys,
    &AttentionSizes::keyDim,  &AttentionSizes::valueDim};

static void write(ByteWriter &bytes, const CompiledFunction &function) {
  bytes.text(function.signature.function);
  write(bytes, function.signature.arguments);
  write(bytes, function.signature.results);
  bytes.number(function.rules.size());
  for (const std::string &rule : function.rules)
    bytes.text(rule);
  bytes.number(function.attentions.size());
  for (const AttentionSizes &sizes : function.attentions)
    for (auto member : sizeMembers)
      write(bytes, sizes.*member);
}

static CompiledFunction readFunction(ByteReader &bytes) {
  CompiledFunction function;
  function.signature.function = bytes.text();
  function.signature.arguments = readParameters(bytes);
  function.signature.results = readParameters(bytes);
  function.rules.resize(bytes.count());
  for (std::string &rule : function.rules)
    rule = bytes.text();
  function.attentions.resize(bytes.count());
  for (AttentionSizes &sizes : function.attentions)
    for (auto member : sizeMembers)
      sizes.*member = readSource(bytes, function.signature.arguments);
  return function;
}

std::string encode(const ModuleImage &image) {
  ByteWriter bytes;
  bytes.text(image.compiler);
  bytes.text(image.target);
  bytes.text(image.remarks);
  bytes.number(image.usesOpenMp);
  bytes.number(image.functions.size());
  for (const CompiledFunction &function : image.functions)
    write(bytes, function);
  bytes.text(image.object);
  return bytes.take();
}

Result<ModuleImage> decodeImage(std::string_view encoded) {
  ModuleImage image;
  ByteReader bytes(encoded);
  image.compiler = bytes.text();
  image.target = bytes.text();
  image.remarks = bytes.text();
  image.usesOpenMp = bytes.number(1);
  for (uint64_t left = bytes.count(); left != 0; --left)
    image.functions.push_back(readFunction(bytes));
  image.object = bytes.text();
  if (!bytes.isComplete())
    return Error{ErrorCode::ioFailure, "malformed image of a module"};
  return image;
}

} // namespace attn
