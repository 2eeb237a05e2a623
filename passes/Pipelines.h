// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stages of the compiler as functions; Pipelines.cpp is their map.

#ifndef ATTN_PASSES_PIPELINES_H
#define ATTN_PASSES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::attn {

/// What the stages take, from the command line or from C++.
struct PipelineOptions : public PassPipelineOptions<PipelineOptions> {
  PassOptions::Option<std::string> target{
      *this, "target", llvm::cl::init("host"),
      llvm::cl::desc("cpu:generic, cpu:avx2, cpu:avx512, cpu:avx512bf16, "
                     "cpu:amx or host")};
  PassOptions::Option<std::string> dump{
      *this, "dump", llvm::cl::init(""),
      llvm::cl::desc("folder for numbered IR after every stage")};
  PassOptions::Option<bool> exact{
      *this, "exact", llvm::cl::init(false),
      llvm::cl::desc("the exponential of f32 for bf16, too")};
  PassOptions::Option<std::string> favor{
      *this, "favor", llvm::cl::init("exact"),
      llvm::cl::desc("exact, or textbook: the stabiliser that FAVOR+ was "
                     "published with")};
  PassOptions::Option<std::string> reassociate{
      *this, "reassociate", llvm::cl::init("auto"),
      llvm::cl::desc("whether (A B) C may become A (B C): auto (where it costs "
                     "less), always or never")};
  PassOptions::Option<std::string> linearForm{
      *this, "linear-form", llvm::cl::init("auto"),
      llvm::cl::desc("how attn.linear is computed: auto, quadratic, chunk or "
                     "recurrent")};
  PassOptions::Option<int64_t> linearChunk{
      *this, "linear-chunk", llvm::cl::init(0),
      llvm::cl::desc("tokens of a chunk of attn.linear; 0 leaves them to the "
                     "compiler")};
  PassOptions::Option<bool> countTiles{
      *this, "count-tiles", llvm::cl::init(false),
      llvm::cl::desc("also emit NAME.tiles, which counts a call's tiles")};
  PassOptions::Option<bool> mapMask{
      *this, "map-mask", llvm::cl::init(false),
      llvm::cl::desc("also emit NAME.maskK.tiles and others, which show the "
                     "mask of attention K")};
};

/// Records the target on the module. First in every pipeline.
void buildTarget(OpPassManager &pm, const PipelineOptions &options);

/// buildTarget, then what every device does to a source: checks, plans.
void buildSource(OpPassManager &pm, const PipelineOptions &options);

/// attn -> attn: canonical form.
void buildRewrite(OpPassManager &pm, const PipelineOptions &options);

/// attn -> scf and attn tile ops, on tensors.
void buildTile(OpPassManager &pm, const PipelineOptions &options);

/// Tile ops -> vector, omp -> llvm.
void buildCpu(OpPassManager &pm, const PipelineOptions &options);

/// attn -> linalg and arith in f64, straight from the source.
void buildDecompose(OpPassManager &pm, const PipelineOptions &options);

/// linalg and arith -> loops -> llvm, for the reference device.
void buildReference(OpPassManager &pm, const PipelineOptions &options);

/// Called with the name of every stage that ends, to add passes of tests to it:
/// what finds a broken stage is tested on stages that a test breaks. Set before
/// a pipeline is built.
using StageHook = void (*)(OpPassManager &pm, StringRef stage);
void setStageHook(StageHook hook);

/// Registers --attn-STAGE (one stage) and --attn-to-STAGE (all up to it).
void registerPipelines();

} // namespace mlir::attn

#endif // ATTN_PASSES_PIPELINES_H
