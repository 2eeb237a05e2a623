// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a call: check inputs, plan, allocate or check outputs, run.

#include "runtime/Call.h"

#include "runtime/Arguments.h"
#include "runtime/KernelMemory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace attn {

static Error countError(const Signature &signature, const char *what,
                        size_t expected, size_t got) {
  return Error{ErrorCode::invalidArgument,
               "function '" + signature.function + "': expected " +
                   std::to_string(expected) + " " + what + ", got " +
                   std::to_string(got)};
}

static Result<void> addInputs(const CompiledFunction &function,
                              const std::vector<Value> &inputs,
                              Arguments &arguments) {
  const Signature &signature = function.signature;
  if (inputs.size() != signature.arguments.size())
    return countError(signature, "inputs", signature.arguments.size(),
                      inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (Result<void> done =
            arguments.addInput(signature.arguments[i], inputs[i],
                               describeParameter(signature, false, i));
        !done)
      return done.error();
  return {};
}

static Result<double> sizeOf(const SizeSource &source,
                             const std::vector<Value> &inputs) {
  switch (source.kind) {
  case SizeSource::Kind::constant:
    return static_cast<double>(source.constant);
  case SizeSource::Kind::argument:
    if (const TensorView *view =
            std::get_if<TensorView>(&inputs[source.argument]))
      return static_cast<double>(view->sizes[source.dim]);
    break;
  case SizeSource::Kind::unknown:
    break;
  }
  return Error{ErrorCode::unsupported,
               "sizes of an attention op do not follow from the arguments"};
}

/// Scores beyond any machine are refused: their number times a few bytes must
/// not wrap in compiled code that computes the sizes of buffers.
static Result<void> checkScores(const CompiledFunction &function,
                                const std::vector<Value> &inputs) {
  constexpr double maxScores = 0x1p56;
  for (const AttentionSizes &sizes : function.attentions) {
    double product = 1;
    for (const SizeSource *source :
         {&sizes.batch, &sizes.queryHeads, &sizes.queries, &sizes.keys}) {
      Result<double> size = sizeOf(*source, inputs);
      product *= size ? std::max(*size, 1.0) : 1.0;
    }
    if (product > maxScores)
      return Error{ErrorCode::outOfMemory,
                   "function '" + function.signature.function +
                       "': expected at most 2^56 scores (batch x query heads x "
                       "queries x keys), got more"};
  }
  return {};
}

static Result<void> run(const Signature &signature, Kernel kernel,
                        Arguments &arguments) {
  if (runKernel(kernel, arguments.pointers().data()))
    return {};
  return Error{ErrorCode::outOfMemory,
               "function '" + signature.function +
                   "': can't allocate the memory that it needs"};
}

/// What the plan's `status` and `out` say is wrong.
static Error brokenRule(const CompiledFunction &function, int64_t status,
                        const std::vector<int64_t> &out) {
  bool isNumber = status < 0;
  uint64_t rule = isNumber ? -static_cast<uint64_t>(status) : status;
  std::string text = rule <= function.rules.size()
                         ? function.rules[rule - 1]
                         : "function '" + function.signature.function +
                               "': rule " + std::to_string(rule);
  if (!isNumber)
    return Error{ErrorCode::invalidArgument,
                 text + " " + std::to_string(out[0]) + ", got " +
                     std::to_string(out[1])};
  double number;
  std::memcpy(&number, &out[1], sizeof number);
  char got[40];
  // All digits of an f32; the sign of a NaN says nothing.
  std::snprintf(got, sizeof got, "%.9g",
                std::isnan(number) ? std::fabs(number) : number);
  return Error{ErrorCode::invalidArgument, text + ", got " + got};
}

/// The sizes of the results for the inputs in `arguments`.
static Result<std::vector<std::vector<int64_t>>>
planResults(const CompiledFunction &function, const std::vector<Value> &inputs,
            Arguments &arguments) {
  if (Result<void> done = checkScores(function, inputs); !done)
    return done.error();
  const Signature &signature = function.signature;
  size_t count = 0;
  for (const Parameter &result : signature.results)
    count += result.sizes.size();
  // The plan reports a broken rule through two slots.
  std::vector<int64_t> out(std::max<size_t>(count, 2), 0);
  std::vector<int64_t> &in = arguments.planInput();
  if (in.empty())
    in.push_back(0);
  int64_t status = function.plan(in.data(), out.data());
  if (status != 0)
    return brokenRule(function, status, out);
  std::vector<std::vector<int64_t>> sizes;
  size_t next = 0;
  for (const Parameter &result : signature.results) {
    sizes.emplace_back(out.begin() + next,
                       out.begin() + next + result.sizes.size());
    next += result.sizes.size();
  }
  return sizes;
}

Result<std::vector<std::vector<int64_t>>>
planFunction(const CompiledFunction &function,
             const std::vector<Value> &inputs) {
  Arguments arguments;
  if (Result<void> done = addInputs(function, inputs, arguments); !done)
    return done.error();
  return planResults(function, inputs, arguments);
}

Result<std::vector<Tensor>> callFunction(const CompiledFunction &function,
                                         const std::vector<Value> &inputs) {
  const Signature &signature = function.signature;
  Arguments arguments;
  if (Result<void> done = addInputs(function, inputs, arguments); !done)
    return done.error();
  auto sizes = planResults(function, inputs, arguments);
  if (!sizes)
    return sizes.error();
  std::vector<Tensor> results;
  for (size_t i = 0; i < sizes->size(); ++i) {
    Result<Tensor> result =
        Tensor::empty(signature.results[i].dtype, (*sizes)[i]);
    if (!result)
      return Error{result.error().code, describeParameter(signature, true, i) +
                                            result.error().message};
    arguments.addTrusted(result->view());
    results.push_back(std::move(*result));
  }
  if (Result<void> done = run(signature, function.kernel, arguments); !done)
    return done.error();
  return results;
}

Result<void> callFunctionInto(const CompiledFunction &function,
                              const std::vector<Value> &inputs,
                              const std::vector<TensorView> &outputs) {
  const Signature &signature = function.signature;
  Arguments arguments;
  if (Result<void> done = addInputs(function, inputs, arguments); !done)
    return done.error();
  if (outputs.size() != signature.results.size())
    return countError(signature, "outputs", signature.results.size(),
                      outputs.size());
  auto sizes = planResults(function, inputs, arguments);
  if (!sizes)
    return sizes.error();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (Result<void> done =
            arguments.addOutput(signature.results[i], (*sizes)[i], outputs[i],
                                describeParameter(signature, true, i));
        !done)
      return done.error();
  return run(signature, function.kernel, arguments);
}

Result<std::array<int64_t, 3>> countTiles(const CompiledFunction &function,
                                          const std::vector<Value> &inputs) {
  if (!function.tiles)
    return Error{ErrorCode::unsupported, "function '" +
                                             function.signature.function +
                                             "': this device counts no tiles"};
  Arguments arguments;
  if (Result<void> done = addInputs(function, inputs, arguments); !done)
    return done.error();
  auto sizes = planResults(function, inputs, arguments);
  if (!sizes)
    return sizes.error();
  std::array<int64_t, 3> counts = {};
  arguments.addTrusted({counts.data(), DType::i64, {3}, {1}});
  if (Result<void> done = run(function.signature, function.tiles, arguments);
      !done)
    return done.error();
  return counts;
}

/// Runs a function that takes the arguments, a batch entry, a head, and `out`.
static Result<void> runMask(const CompiledFunction &function, Kernel kernel,
                            const std::vector<Value> &inputs,
                            const MaskPlace &place, const TensorView &out) {
  Arguments arguments;
  if (Result<void> done = addInputs(function, inputs, arguments); !done)
    return done.error();
  int64_t batch = place.batch, head = place.head;
  arguments.pointers().push_back(&batch);
  arguments.pointers().push_back(&head);
  arguments.addTrusted(out);
  return run(function.signature, kernel, arguments);
}

/// Checks that `got` numbers one of `count` things called `what`.
static Result<void> checkNumber(const CompiledFunction &function,
                                const char *what, int64_t count, int64_t got) {
  if (got >= 0 && got < count)
    return {};
  std::string expected = count == 0 ? std::string("none as there is none")
                                    : "0 to " + std::to_string(count - 1);
  return Error{ErrorCode::invalidArgument,
               "function '" + function.signature.function + "': " + what +
                   ": expected " + expected + ", got " + std::to_string(got)};
}

/// Allocates bytes of `rows` x `columns` and has `kernel` fill them.
static Result<Tensor> runMask(const CompiledFunction &function, Kernel kernel,
                              const std::vector<Value> &inputs,
                              const MaskPlace &place, int64_t rows,
                              int64_t columns) {
  Result<Tensor> bytes = Tensor::empty(DType::i8, {rows, columns});
  if (!bytes)
    return bytes.error();
  if (Result<void> done =
          runMask(function, kernel, inputs, place, bytes->view());
      !done)
    return done.error();
  return bytes;
}

Result<MaskMap> mapMask(const CompiledFunction &function,
                        const std::vector<Value> &inputs,
                        const MaskPlace &place, int64_t maxElements) {
  Arguments arguments;
  if (Result<void> done = addInputs(function, inputs, arguments); !done)
    return done.error();
  if (auto sizes = planResults(function, inputs, arguments); !sizes)
    return sizes.error();
  if (!function.attentions.empty() && function.masks.empty())
    return Error{ErrorCode::unsupported, "function '" +
                                             function.signature.function +
                                             "': this device has no tiles"};
  if (Result<void> done = checkNumber(
          function, "attention", static_cast<int64_t>(function.masks.size()),
          place.attention);
      !done)
    return done.error();
  const MaskFunctions &mask = function.masks[place.attention];
  std::array<int64_t, 12> sizes = {};
  if (Result<void> done = runMask(function, mask.sizes, inputs, place,
                                  {sizes.data(), DType::i64, {12}, {1}});
      !done)
    return done.error();
  MaskMap map;
  size_t next = 0;
  for (int64_t *size :
       {&map.batches, &map.heads, &map.queries, &map.keys, &map.queryTiles,
        &map.keyTiles, &map.queryTile, &map.keyTile, &map.firstQuery,
        &map.firstKey, &map.length, &map.headsPerTile})
    *size = sizes[next++];
  if (Result<void> done =
          checkNumber(function, "batch", map.batches, place.batch);
      !done)
    return done.error();
  if (Result<void> done = checkNumber(function, "head", map.heads, place.head);
      !done)
    return done.error();
  Result<Tensor> tiles = runMask(function, mask.tiles, inputs, place,
                                 map.queryTiles, map.keyTiles);
  if (!tiles)
    return tiles.error();
  map.tiles = std::move(*tiles);
  if (map.keys > 0 && map.queries > maxElements / map.keys)
    return map;
  Result<Tensor> elements =
      runMask(function, mask.elements, inputs, place, map.queries, map.keys);
  if (!elements)
    return elements.error();
  map.elements = std::move(*elements);
  return map;
}

Result<double> countFlops(const CompiledFunction &function,
                          const std::vector<Value> &inputs) {
  Arguments arguments;
  if (Result<void> done = addInputs(function, inputs, arguments); !done)
    return done.error();
  double total = 0;
  for (const AttentionSizes &sizes : function.attentions) {
    double product = 2;
    for (const SizeSource &source :
         {sizes.batch, sizes.queryHeads, sizes.queries, sizes.keys}) {
      Result<double> size = sizeOf(source, inputs);
      if (!size)
        return Error{size.error().code, "function '" +
                                            function.signature.function +
                                            "': " + size.error().message};
      product *= *size;
    }
    Result<double> keyDim = sizeOf(sizes.keyDim, inputs);
    Result<double> valueDim = sizeOf(sizes.valueDim, inputs);
    if (!keyDim || !valueDim)
      return (!keyDim ? keyDim : valueDim).error();
    total += product * (*keyDim + *valueDim);
  }
  return total;
}

} // namespace attn
