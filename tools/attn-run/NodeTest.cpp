// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NodeTest.h. The numbers of input_0.pb, output_1.pb and so on count the
// tensors that are there, not the inputs of the operator: names decide.

#include "NodeTest.h"

#include "Report.h"
#include "onnx/Import.h"
#include "onnx/Proto.h"

#include "runtime/Difference.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

namespace attn::run {

using importer::ImportedFunction;
using importer::NamedTensor;

using Tensors = std::map<std::string, Tensor>;

static Error withPath(const std::string &path, const Error &error) {
  return Error{error.code, path + ": " + error.message};
}

Result<std::string> importFile(const std::string &path) {
  Result<onnx::ModelProto> model = importer::readModel(path);
  if (!model)
    return model.error();
  Result<ImportedFunction> function = importer::importModel(*model);
  if (!function)
    return withPath(path, function.error());
  return std::move(function->text);
}

/// The entries of a folder whose names start with `prefix` and end in `suffix`,
/// sorted.
static Result<std::vector<std::string>> listEntries(const std::string &folder,
                                                    const std::string &prefix,
                                                    const std::string &suffix) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error), end;
  std::vector<std::string> paths;
  for (; !error && entries != end; entries.increment(error)) {
    std::string name = entries->path().filename().string();
    if (name.size() >= prefix.size() + suffix.size() &&
        name.compare(0, prefix.size(), prefix) == 0 &&
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0)
      paths.push_back(entries->path().string());
  }
  if (error)
    return Error{ErrorCode::ioFailure, folder + ": " + error.message()};
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The tensors of a data set, "input" or "output".
static Result<Tensors> readTensors(const std::string &folder,
                                   const std::string &kind) {
  Result<std::vector<std::string>> paths =
      listEntries(folder, kind + "_", ".pb");
  if (!paths)
    return paths.error();
  Tensors tensors;
  for (const std::string &path : *paths) {
    Result<NamedTensor> named = importer::readTensor(path);
    if (!named)
      return named.error();
    if (!tensors.emplace(named->name, std::move(named->tensor)).second)
      return Error{ErrorCode::invalidArgument, path +
                                                   ": expected one tensor '" +
                                                   named->name + "', got two"};
  }
  return tensors;
}

/// The tensors in the order of `names`, each of which there has to be.
static Result<std::vector<const Tensor *>>
matchNames(const Tensors &tensors, const std::vector<std::string> &names,
           const std::string &folder, const std::string &kind) {
  std::vector<const Tensor *> bound;
  for (const std::string &name : names) {
    auto found = tensors.find(name);
    if (found == tensors.end())
      return Error{ErrorCode::invalidArgument,
                   folder + ": expected a tensor for " + kind + " '" + name +
                       "', got none"};
    bound.push_back(&found->second);
  }
  for (const auto &entry : tensors)
    if (std::find(names.begin(), names.end(), entry.first) == names.end())
      return Error{ErrorCode::invalidArgument,
                   folder + ": expected tensors for the " + kind +
                       "s of the model, got '" + entry.first + "'"};
  return bound;
}

/// The tolerance of ONNX's own runner. In bf16 it is two units in the last
/// place: what the tests expect was rounded on the way, and is that far off the
/// exact result in places.
static constexpr double defaultAbsolute = 1e-7;

static double defaultRelative(DType dtype) {
  return dtype == DType::bf16 ? 0x1p-6 : 1e-3;
}

static bool compareOutput(const std::string &name, const Tensor &got,
                          const Tensor &expected,
                          const NodeTestOptions &options) {
  std::string wanted = formatType(expected.dtype(), expected.sizes());
  std::string actual = formatType(got.dtype(), got.sizes());
  if (wanted != actual) {
    std::printf("%s: MISMATCH: expected %s, got %s\n", name.c_str(),
                wanted.c_str(), actual.c_str());
    return false;
  }
  double atol = options.atol.value_or(defaultAbsolute);
  double rtol = options.rtol.value_or(defaultRelative(got.dtype()));
  Difference difference = compare(got, expected, atol, rtol);
  bool isFine = difference.outside == 0;
  std::printf("%s: %s, %s, %lld of %lld outside atol %.3g, rtol %.3g\n",
              name.c_str(), isFine ? "ok" : "MISMATCH",
              formatErrors(difference, /*relative=*/false).c_str(),
              static_cast<long long>(difference.outside),
              static_cast<long long>(got.numElements()), atol, rtol);
  if (!isFine)
    printWorst(difference, got, expected);
  return isFine;
}

static Result<bool> runDataSet(const std::string &folder,
                               const ImportedFunction &function,
                               const Program &program,
                               const NodeTestOptions &options) {
  Result<Tensors> inputs = readTensors(folder, "input");
  if (!inputs)
    return inputs.error();
  Result<Tensors> outputs = readTensors(folder, "output");
  if (!outputs)
    return outputs.error();
  auto arguments = matchNames(*inputs, function.inputs, folder, "input");
  if (!arguments)
    return arguments.error();
  auto expected = matchNames(*outputs, function.outputs, folder, "output");
  if (!expected)
    return expected.error();
  std::vector<Value> values;
  for (const Tensor *tensor : *arguments)
    values.push_back(tensor->view());
  Result<std::vector<Tensor>> results =
      program.call("main", values, options.call);
  if (!results)
    return withPath(folder, results.error());
  bool isFine = true;
  for (size_t i = 0; i < results->size(); ++i)
    isFine &= compareOutput(function.outputs[i], (*results)[i], *(*expected)[i],
                            options);
  return isFine;
}

Result<bool> runNodeTest(const std::string &folder,
                         const NodeTestOptions &options) {
  std::string path = folder + "/model.onnx";
  Result<onnx::ModelProto> model = importer::readModel(path);
  if (!model)
    return model.error();
  Result<ImportedFunction> function = importer::importModel(*model);
  if (!function)
    return withPath(path, function.error());
  Result<Program> program =
      Engine(options.engine).compileText(function->text, path);
  if (!program)
    return program.error();
  Result<std::vector<std::string>> sets =
      listEntries(folder, "test_data_set_", "");
  if (!sets)
    return sets.error();
  if (sets->empty())
    return Error{ErrorCode::ioFailure,
                 folder + ": expected test_data_set_0 beside the model"};
  bool isFine = true;
  for (const std::string &set : *sets) {
    Result<bool> done = runDataSet(set, *function, *program, options);
    if (!done)
      return done.error();
    isFine &= *done;
  }
  return isFine;
}

} // namespace attn::run
