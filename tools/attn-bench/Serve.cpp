// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Serve.h.

#include "Serve.h"

#include "CaseFile.h"

#include "runtime/Npy.h"

#include <cstdio>
#include <istream>
#include <ostream>

namespace attn::bench {

static std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    char escape[8];
    if (c == '"' || c == '\\') {
      quoted += std::string("\\") + c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

static std::string field(const char *name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "\"%s\": %.9g", name, value);
  return text;
}

std::string Server::answer(std::string_view request) {
  size_t blank = request.find(' ');
  std::string_view command = request.substr(0, blank);
  std::string_view rest =
      blank == std::string_view::npos ? "" : request.substr(blank + 1);
  Result<std::string> fields =
      Error{ErrorCode::invalidArgument,
            "expected 'case LINE', 'write FOLDER' or 'run', got '" +
                std::string(request) + "'"};
  if (command == "case")
    fields = prepare(rest);
  else if (!workload && (command == "write" || command == "run"))
    fields = Error{ErrorCode::invalidArgument,
                   "expected a case before '" + std::string(command) + "'"};
  else if (command == "write" && !rest.empty())
    fields = write(std::string(rest));
  else if (request == "run")
    fields = takeTurn();
  if (!fields)
    return "{\"error\": " + quote(fields.error().message) + "}";
  return "{" + *fields + "}";
}

/// A peer has the operands, and what else it does from the fields of prepare().
static Result<void> checkServed(const Case &problem) {
  auto flag = [](bool isSet) { return std::string(isSet ? "one" : ""); };
  const LinearClauses &linear = problem.linear;
  std::string map = linear.queryFeature;
  if (linear.keyFeature != map)
    map += ":" + linear.keyFeature;
  for (auto [key, value] :
       {std::pair("score", problem.score), std::pair("keep", problem.keep),
        std::pair("delta", flag(linear.hasDelta)),
        std::pair("transition", flag(linear.hasTransition)),
        std::pair("bonus", flag(linear.hasBonus)),
        std::pair("feature", map == "identity" ? "" : map),
        std::pair("normalize", linear.normalize),
        std::pair("op", problem.op == "favor" ? problem.op : "")})
    if (!value.empty())
      return Error{ErrorCode::invalidArgument,
                   std::string(key) +
                       ": expected none where cases are served, "
                       "got " +
                       value};
  return {};
}

Result<std::string> Server::prepare(std::string_view line) {
  // Two cases at a time may be more than fits into memory.
  workload.reset();
  Result<Case> parsed = parseCase(line);
  if (!parsed)
    return parsed.error();
  if (Result<void> done = checkServed(*parsed); !done)
    return done.error();
  Result<Workload> created = Workload::create(*parsed, threads);
  if (!created)
    return created.error();
  workload.emplace(std::move(*created));
  const Case &problem = workload->problem();
  auto isTrue = [](bool value) { return value ? "true" : "false"; };
  auto integer = [](const char *name, int64_t value) {
    return ", \"" + std::string(name) + "\": " + std::to_string(value);
  };
  return "\"name\": " + quote(problem.name) + ", \"op\": " + quote(problem.op) +
         ", \"dtype\": " + quote(name(problem.dtype)) +
         integer("batch", problem.batch) +
         integer("query_heads", problem.queryHeads) +
         integer("key_heads", problem.keyHeads) +
         integer("queries", problem.queries) + integer("keys", problem.keys) +
         integer("key_dim", problem.keyDim) +
         integer("value_dim", problem.valueDim) +
         ", \"causal\": " + isTrue(problem.isCausal) +
         integer("window", problem.window) + ", " +
         field("softcap", problem.softcap) +
         ", \"decay\": " + quote(problem.linear.decay) +
         ", \"state\": " + isTrue(problem.linear.hasState) +
         integer("threads", workload->threads()) +
         integer("calls_per_turn", workload->callsPerTurn()) +
         ", \"target\": " + quote(workload->program().target()) + ", " +
         field("compile_ms", workload->program().compileMillis()) + ", " +
         field("flops", workload->work().flops) + ", " +
         field("kept_flops", workload->work().keptFlops) + ", " +
         field("bytes", workload->work().bytes);
}

Result<std::string> Server::write(const std::string &folder) const {
  std::string list;
  auto writeAll = [&](const std::vector<Operand> &operands,
                      const std::vector<Tensor> &tensors) -> Result<void> {
    for (size_t i = 0; i < tensors.size(); ++i) {
      std::string path = folder + "/" + operands[i].name + ".npy";
      if (Result<void> done = writeNpy(path, tensors[i].view()); !done)
        return done;
      list += (list.empty() ? "" : ", ") + quote(path);
    }
    return {};
  };
  const Case &problem = workload->problem();
  if (Result<void> done = writeAll(inputsOf(problem), workload->inputs());
      !done)
    return done.error();
  if (Result<void> done = writeAll(outputsOf(problem), workload->outputs());
      !done)
    return done.error();
  return "\"files\": [" + list + "]";
}

Result<std::string> Server::takeTurn() {
  PeakMeter &peak = workload->peak();
  peak.clear();
  peak.sample();
  if (Result<double> warm = workload->call(); !warm)
    return warm.error();
  double total = 0;
  for (int64_t call = 0; call < workload->callsPerTurn(); ++call) {
    Result<double> millis = workload->call();
    if (!millis)
      return millis.error();
    total += *millis;
  }
  return field("ms", total / static_cast<double>(workload->callsPerTurn())) +
         ", " + field("peak_gflops", peak.gflops()) +
         ", \"peak_unit\": " + quote(peak.unit()) + ", " +
         field("peak_gbytes_per_s", peak.gbytesPerSecond());
}

void Server::run(std::istream &requests, std::ostream &answers) {
  for (std::string line; std::getline(requests, line);)
    answers << answer(line) << std::endl;
}

} // namespace attn::bench
