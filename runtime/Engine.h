// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's way in: an Engine compiles IR just in time, a Program holds the
// compiled functions and calls them on tensors.
//
//   attn::Engine engine;
//   auto program = engine.compileFile("attention.mlir");
//   if (!program)
//     return report(program.error().message);
//   auto out = program->call("attend", {q.view(), k.view(), v.view()});

#ifndef ATTN_RUNTIME_ENGINE_H
#define ATTN_RUNTIME_ENGINE_H

#include "runtime/Attention.h"
#include "runtime/MaskMap.h"
#include "runtime/Signature.h"
#include "runtime/Tensor.h"

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

namespace attn {

/// One argument of a call. Arguments of type index, i64 and i32 take the
/// integer, f32 takes the double (or an integer).
using Value = std::variant<TensorView, int64_t, double>;

struct EngineOptions {
  /// "cpu", or "reference": the plain lowering computed in f64.
  std::string device = "cpu";
  /// With device "reference": the stage of device "cpu" whose IR is lowered
  /// plainly, "source", "rewrite" or "tile", to tell which stage changes a
  /// result. The tiles are those of the target.
  std::string referenceStage = "source";
  /// "host", "cpu:generic", "cpu:avx2", "cpu:avx512", "cpu:avx512bf16" or
  /// "cpu:amx".
  std::string target = "host";
  /// Where not empty, the IR after every stage is written into this folder.
  std::string dumpDir;
  /// The exponential of f32 (2 ulp) for bf16, too, where by default one of
  /// relative error 9e-5 is used, a fortieth of what rounding to bf16 leaves.
  bool exact = false;
  /// "exact", or "textbook": attn.favor with the stabiliser that it was
  /// published with, which is not what the op means; to be compared with on
  /// device "cpu".
  std::string favor = "exact";
  /// Whether (A B) C may become A (B C), which changes rounding: "auto" where
  /// it costs less, "always" or "never".
  std::string reassociate = "auto";
  /// How attn.linear is computed: "auto", "quadratic", "chunk" or "recurrent".
  std::string linearForm = "auto";
  /// Tokens of a chunk of attn.linear; 0 leaves them to the compiler.
  int64_t linearChunk = 0;
  /// Also compile the counters that Program::tiles() reads.
  bool countTiles = false;
  /// Also compile the functions that Program::maskMap() calls.
  bool mapMask = false;
  /// Collect the remarks of the passes, for Program::remarks().
  bool remarks = false;
  /// Collect there, too, why patterns and passes left operations as they are.
  bool explain = false;
  /// Where compiled code is kept for other processes; empty to keep none. If
  /// not set, $ATTN_CACHE_DIR (which may be empty too), $XDG_CACHE_HOME/attn or
  /// ~/.cache/attn. A folder that can't be used is no error.
  std::optional<std::string> cacheDir;
};

/// What the disk cache did for a program.
struct CacheUse {
  enum class State {
    off,  ///< not asked
    miss, ///< compiled, and kept for the next time
    hit   ///< loaded instead of compiled
  };
  State state = State::off;
  /// Why the cache could not be used or the code not be kept, if so.
  std::string note;
};

struct CallOptions {
  /// Threads for this call. 0 leaves them to OpenMP: OMP_NUM_THREADS, or one
  /// per CPU that the process may run on. OMP_THREAD_LIMIT bounds both.
  int threads = 0;
};

/// Compiled functions. Cheap to copy, and safe to call from several threads.
class ATTN_API Program {
public:
  /// Calls function `name`. The results are allocated here.
  ///
  /// A tensor argument must have the dtype, rank and static sizes of the
  /// signature. Strides are free: an innermost stride other than 1 or a
  /// pointer that is not aligned to its element costs a temporary copy.
  /// i1 tensors hold bytes of value 0 or 1.
  Result<std::vector<Tensor>> call(std::string_view name,
                                   const std::vector<Value> &inputs,
                                   CallOptions options = {}) const;

  /// The same into memory of the caller. An output must have the sizes of the
  /// result, an innermost stride of 1, and must not overlap an input, another
  /// output or itself (the byte ranges from first to last element count).
  Result<void> callInto(std::string_view name, const std::vector<Value> &inputs,
                        const std::vector<TensorView> &outputs,
                        CallOptions options = {}) const;

  /// The sizes of each result of a call with these inputs, as callInto() wants
  /// them. What call() refuses is refused here, too.
  Result<std::vector<std::vector<int64_t>>>
  resultSizes(std::string_view name, const std::vector<Value> &inputs) const;

  /// The public functions in the order of the source.
  std::vector<std::string> functions() const;

  /// The types of the arguments and results of a function, as plain data.
  Result<Signature> signature(std::string_view name) const;

  /// How many key tiles of attention a call with these inputs skips, runs
  /// without mask code, and runs with it. Compiles the counters on first use.
  Result<std::array<int64_t, 3>> tiles(std::string_view name,
                                       const std::vector<Value> &inputs) const;

  /// What the mask of an attention op does in a call with these inputs, as the
  /// compiler's own classifier says; with its elements where there are at most
  /// `maxElements`. Compiles what answers on first use.
  Result<MaskMap> maskMap(std::string_view name,
                          const std::vector<Value> &inputs, MaskPlace place,
                          int64_t maxElements = 0) const;

  /// Floating-point operations of the attention ops in the function as full
  /// rectangles: 2 B Hq Sq Skv (Dk + Dv) each, whatever the masks leave out.
  /// An error where the sizes of an op do not follow from the arguments.
  Result<double> flops(std::string_view name,
                       const std::vector<Value> &inputs) const;

  /// From text to callable code, in milliseconds. Opening the libraries of the
  /// compiler, which the first compilation of a process does, is not counted.
  double compileMillis() const;

  const CacheUse &cacheUse() const;

  /// The target that "host" stood for.
  const std::string &target() const;

  /// What the passes remarked, one line each, if EngineOptions::remarks.
  const std::string &remarks() const;

  /// The whole module as "llvm" (IR), "asm" (text) or "obj" (object file).
  Result<std::string> emit(std::string_view kind) const;

private:
  friend class Engine;
  struct Impl;
  explicit Program(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl;
};

/// Code that is compiled ahead of time.
struct AheadModule {
  /// A relocatable object file, to link with the library attn::ahead.
  std::string object;
  /// C and C++ that call it, for attn/runtime/Ahead.h.
  std::string header;
  /// The target that "host" stood for.
  std::string target;
};

/// Compiles programs and keeps them: the same text under the same options is
/// compiled once. Cheap to copy (copies share the memory) and safe to use from
/// several threads.
class ATTN_API Engine {
public:
  /// Never fails; options that can't be used are reported by compile*().
  explicit Engine(EngineOptions options = {});

  /// Reports options that can't be used here.
  static Result<Engine> create(EngineOptions options = {});

  Result<Program> compileFile(const std::string &path) const;

  /// `name` stands for the text in messages.
  Result<Program> compileText(std::string_view text,
                              const std::string &name = "<text>") const;

  /// Attention by fields; the function has the name of the spec.
  Result<Program> compile(const AttentionSpec &spec) const;

  /// As Program::emit(), for a target that need not run here.
  Result<std::string> emitFile(const std::string &path,
                               std::string_view kind) const;

  /// Compiles code for programs to link, which then need neither the compiler
  /// nor this library. For functions of the source the header declares
  /// PREFIX_FUNCTION() and PREFIX_FUNCTION_plan(), for main PREFIX() and
  /// PREFIX_plan(). The target "host" stands for the one of attn's targets that
  /// fits this CPU; code refuses to run where its target is lacking.
  ///
  /// Errors: those of compiling, a prefix that is no name in C, and functions
  /// with the same name in C.
  Result<AheadModule> compileAhead(const std::string &path,
                                   const std::string &prefix) const;

  const EngineOptions &options() const;

private:
  struct Impl;
  std::shared_ptr<Impl> impl;
};

} // namespace attn

#endif // ATTN_RUNTIME_ENGINE_H
