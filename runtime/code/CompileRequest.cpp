// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Requests and replies as bytes.

#include "runtime/code/CompileRequest.h"

#include "runtime/code/Bytes.h"
#include "runtime/cpu/Tiles.h"

namespace attn {

CompileRequest CompileRequest::forOptions(EngineOptions options) {
  CompileRequest request;
  // Permission for tiles is not asked for where nobody wants them.
  if (options.target == "host" || options.target == "cpu:amx")
    request.whyNoTiles = attn::whyNoTiles();
  request.options = std::move(options);
  return request;
}

std::string encode(const CompileRequest &request) {
  const EngineOptions &options = request.options;
  ByteWriter bytes;
  bytes.text(options.device);
  bytes.text(options.referenceStage);
  bytes.text(options.target);
  bytes.text(options.dumpDir);
  bytes.number(options.exact);
  bytes.text(options.favor);
  bytes.text(options.reassociate);
  bytes.text(options.linearForm);
  bytes.number(static_cast<uint64_t>(options.linearChunk));
  bytes.number(options.countTiles);
  bytes.number(options.mapMask);
  bytes.number(options.remarks);
  bytes.number(options.explain);
  bytes.text(request.output);
  bytes.text(request.prefix);
  bytes.text(request.whyNoTiles);
  bytes.text(request.name);
  bytes.text(request.text);
  return bytes.take();
}

Result<CompileRequest> decodeRequest(std::string_view encoded) {
  CompileRequest request;
  EngineOptions &options = request.options;
  ByteReader bytes(encoded);
  options.device = bytes.text();
  options.referenceStage = bytes.text();
  options.target = bytes.text();
  options.dumpDir = bytes.text();
  options.exact = bytes.number(1);
  options.favor = bytes.text();
  options.reassociate = bytes.text();
  options.linearForm = bytes.text();
  options.linearChunk = static_cast<int64_t>(bytes.number());
  options.countTiles = bytes.number(1);
  options.mapMask = bytes.number(1);
  options.remarks = bytes.number(1);
  options.explain = bytes.number(1);
  request.output = bytes.text();
  request.prefix = bytes.text();
  request.whyNoTiles = bytes.text();
  request.name = bytes.text();
  request.text = bytes.text();
  if (!bytes.isComplete())
    return Error{ErrorCode::invalidArgument, "malformed compile request"};
  return request;
}

std::string encodeReply(const Result<std::string> &reply) {
  ByteWriter bytes;
  bytes.number(reply.ok());
  if (!reply)
    bytes.number(static_cast<uint64_t>(reply.error().code));
  bytes.text(reply ? *reply : reply.error().message);
  return bytes.take();
}

Result<std::string> decodeReply(std::string_view encoded) {
  ByteReader bytes(encoded);
  bool isGood = bytes.number(1);
  auto code = ErrorCode::compileFailure;
  if (!isGood)
    code = static_cast<ErrorCode>(
        bytes.number(static_cast<uint64_t>(ErrorCode::outOfMemory)));
  std::string text(bytes.text());
  if (!bytes.isComplete())
    return Error{ErrorCode::compileFailure, "malformed reply of the compiler"};
  if (!isGood)
    return Error{code, std::move(text)};
  return text;
}

} // namespace attn
