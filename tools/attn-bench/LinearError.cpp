// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Error of random features against their number, as figure 2 of "Rethinking
// Attention with Performers" (Choromanski et al. 2021) has it. An entry of the
// softmax kernel, exp(x.y), is estimated by phi(x).phi(y); how far that is off
// for independent rows of the projection is known in closed form (lemma 2 and
// theorem 1 there).

#include "Suite.h"

#include "runtime/Random.h"
#include "tools/plot/Drawing.h"
#include "tools/plot/LinePlot.h"

#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>

using namespace attn::plot;

namespace attn::bench {

static constexpr int fewest = 16;
static constexpr int64_t dim = 16;
static constexpr int64_t numPairs = 256;
/// Projections of each kind; odd, so that one is in the middle.
static constexpr int numSeeds = 25;

namespace {
/// The two vectors of a pair, as far as the kernel is concerned.
struct Pair {
  double dot;
  double sumSquare;
  double differenceSquare;
};

struct Kind {
  const char *name;
  size_t colour;
  /// The variance of the estimate by one row over the square of the entry.
  double (*variance)(const Pair &);
};

/// What is measured of one kind with one coupling of the rows.
struct Curve {
  const Kind *kind;
  bool isOrthogonal;
  std::vector<Point> measured;
  std::vector<Point> expected;
};

class Errors {
public:
  static Result<Errors> create(const Options &options);
  /// Of every seed for one curve and m rows.
  Result<std::vector<double>> measure(const Kind &kind, bool isOrthogonal,
                                      int m);
  /// The root of the mean of the closed form over the same pairs.
  double expect(const Kind &kind, int m) const;

private:
  Result<Tensor> features(const Kind &kind, int m, const Tensor &vectors,
                          const Tensor &projection);

  explicit Errors(Program program) : program(std::move(program)) {}
  Program program;
  CallOptions call;
  std::vector<Tensor> vectors;
  std::vector<Pair> pairs;
};
} // namespace

/// With z = x + y: exp(|z|^2) - 1, half of that times 1 - exp(-|z|^2), and
/// exp(|z|^2) (1 - exp(-|x - y|^2))^2 / 2 over the fourth power of the entry.
static constexpr Kind kinds[] = {
    {"positive", 0, [](const Pair &p) { return std::expm1(p.sumSquare); }},
    {"hyperbolic", 2,
     [](const Pair &p) {
       return -std::expm1(-p.sumSquare) * std::expm1(p.sumSquare) / 2;
     }},
    {"trigonometric", 5, [](const Pair &p) {
       double gap = std::expm1(-p.differenceSquare);
       return std::exp(p.sumSquare - 4 * p.dot) * gap * gap / 2;
     }}};

static std::string projectionName(bool isOrthogonal, int seed) {
  return std::string(isOrthogonal ? "orthogonal" : "iid") +
         std::to_string(seed);
}

static std::string featuresName(const Kind &kind, int m) {
  return kind.name + std::to_string(m);
}

/// A function for each projection of `maxM` rows, of which those with fewer are
/// a part, and one for each kind and number of rows.
static std::string moduleText(int maxM) {
  std::string text;
  std::string type = formatText("tensor<%dx%lldxf32>", maxM, (long long)dim);
  for (bool isOrthogonal : {false, true})
    for (int seed = 0; seed < numSeeds; ++seed)
      text += "func.func @" + projectionName(isOrthogonal, seed) + "() -> " +
              type + " {\n  %w = attn.random_features seed(" +
              std::to_string(seed) + ")" + (isOrthogonal ? " orthogonal" : "") +
              " : " + type + "\n  return %w : " + type + "\n}\n";
  std::string vectors = formatText("tensor<1x1x%lldx%lldxf32>",
                                   (long long)numPairs, (long long)dim);
  for (const Kind &kind : kinds)
    for (int m = fewest; m <= maxM; m *= 2) {
      int count = kind.name == std::string("positive") ? m : 2 * m;
      std::string rows = formatText("tensor<%dx%lldxf32>", m, (long long)dim);
      std::string result =
          formatText("tensor<1x1x%lldx%dxf32>", (long long)numPairs, count);
      text += "func.func @" + featuresName(kind, m) + "(%x: " + vectors +
              ", %w: " + rows + ") -> " + result +
              " {\n  %f = attn.feature_map %x feature(#attn." + kind.name +
              ") projection(%w : " + rows + ") : " + vectors + " -> " + result +
              "\n  return %f : " + result + "\n}\n";
    }
  return text;
}

Result<Errors> Errors::create(const Options &options) {
  EngineOptions engine;
  engine.cacheDir = "";
  Result<Program> program =
      Engine(engine).compileText(moduleText(options.maxM), "linear-error");
  if (!program)
    return program.error();
  Errors errors(std::move(*program));
  errors.call.threads = options.threads;
  // Entries of variance 1 / (2 dim), so that the mean of |x + y|^2 is 1.
  double deviation = std::sqrt(1.0 / (2 * dim));
  for (uint64_t stream : {0, 1}) {
    Result<Tensor> tensor = Tensor::empty(DType::f32, {1, 1, numPairs, dim});
    if (!tensor)
      return tensor.error();
    CounterRandom random(0, stream);
    for (int64_t i = 0; i < tensor->numElements(); ++i)
      static_cast<float *>(tensor->raw())[i] =
          static_cast<float>(deviation * random.normal(i));
    errors.vectors.push_back(std::move(*tensor));
  }
  for (int64_t row = 0; row < numPairs; ++row) {
    Pair pair{};
    for (int64_t i = row * dim; i < (row + 1) * dim; ++i) {
      double x = errors.vectors[0].at(i), y = errors.vectors[1].at(i);
      pair.dot += x * y;
      pair.sumSquare += (x + y) * (x + y);
      pair.differenceSquare += (x - y) * (x - y);
    }
    errors.pairs.push_back(pair);
  }
  return errors;
}

Result<Tensor> Errors::features(const Kind &kind, int m, const Tensor &rows,
                                const Tensor &projection) {
  TensorView part = projection.view();
  part.sizes[0] = m;
  Result<std::vector<Tensor>> result =
      program.call(featuresName(kind, m), {rows.view(), part}, call);
  if (!result)
    return result.error();
  return std::move(result->front());
}

Result<std::vector<double>> Errors::measure(const Kind &kind, bool isOrthogonal,
                                            int m) {
  std::vector<double> errors;
  for (int seed = 0; seed < numSeeds; ++seed) {
    Result<std::vector<Tensor>> projection =
        program.call(projectionName(isOrthogonal, seed), {}, call);
    if (!projection)
      return projection.error();
    std::vector<Tensor> mapped;
    for (const Tensor &side : vectors) {
      Result<Tensor> result = features(kind, m, side, projection->front());
      if (!result)
        return result.error();
      mapped.push_back(std::move(*result));
    }
    int64_t count = mapped[0].numElements() / numPairs;
    double squares = 0;
    for (int64_t row = 0; row < numPairs; ++row) {
      double estimate = 0;
      for (int64_t i = row * count; i < (row + 1) * count; ++i)
        estimate += mapped[0].at(i) * mapped[1].at(i);
      double relative = estimate / std::exp(pairs[row].dot) - 1;
      squares += relative * relative;
    }
    errors.push_back(std::sqrt(squares / numPairs));
  }
  return errors;
}

double Errors::expect(const Kind &kind, int m) const {
  double sum = 0;
  for (const Pair &pair : pairs)
    sum += kind.variance(pair);
  return std::sqrt(sum / numPairs / m);
}

/// The curves as series, discs for independent rows and rings for orthogonal
/// ones, and the closed forms as lines.
static LinePlot makePlot(const std::vector<Curve> &curves) {
  LinePlot plot{
      "Error of random features against their number",
      formatText("entries exp(x.y) of the softmax kernel, d = %lld, mean "
                 "|x + y|\u00b2 = 1; medians over %d projections",
                 (long long)dim, numSeeds),
      "rows m of the projection",
      "relative error (root mean square)",
      {},
      {}};
  for (const Curve &curve : curves) {
    plot.series.push_back(
        {std::string(curve.kind->name) +
             (curve.isOrthogonal ? ", orthogonal" : ", iid"),
         curve.kind->colour, Series::Line::none,
         curve.isOrthogonal ? Series::Mark::ring : Series::Mark::disc,
         curve.measured});
    if (!curve.isOrthogonal)
      plot.series.push_back(
          {std::string(curve.kind->name) + ", closed form for iid",
           curve.kind->colour, Series::Line::solid, Series::Mark::none,
           curve.expected});
  }
  return plot;
}

Result<bool> runLinearError(const Options &options) {
  Result<Errors> errors = Errors::create(options);
  if (!errors) {
    std::printf("linear-error: %s\n", errors.error().message.c_str());
    return false;
  }
  size_t numSizes = 0;
  for (int m = fewest; m <= options.maxM; m *= 2)
    ++numSizes;
  Progress progress(2 * std::size(kinds) * numSizes);
  std::vector<Curve> curves;
  std::string csv = "kind,rows,m,median_error,least_error,largest_error,"
                    "closed_form\n";
  for (const Kind &kind : kinds)
    for (bool isOrthogonal : {false, true}) {
      Curve curve{&kind, isOrthogonal, {}, {}};
      const char *rows = isOrthogonal ? "orthogonal" : "iid";
      for (int m = fewest; m <= options.maxM; m *= 2) {
        progress.step(
            formatText("error of %s features, %s, m = %d", kind.name, rows, m));
        Result<std::vector<double>> found =
            errors->measure(kind, isOrthogonal, m);
        if (!found)
          return found.error();
        double middle = median(*found);
        curve.measured.push_back({double(m), middle});
        curve.expected.push_back({double(m), errors->expect(kind, m)});
        auto [least, largest] =
            std::minmax_element(found->begin(), found->end());
        csv += formatText("%s,%s,%d,%.6g,%.6g,%.6g,%.6g\n", kind.name, rows, m,
                          middle, *least, *largest, curve.expected.back().y);
      }
      curves.push_back(std::move(curve));
    }
  progress.wipe();
  for (const Curve &curve : curves) {
    double ratios = 0;
    for (size_t i = 0; i < curve.measured.size(); ++i)
      ratios += std::log(curve.measured[i].y / curve.expected[i].y);
    std::printf("%s, %s: error grows as m^%.2f, %.2f times the closed form for "
                "iid\n",
                curve.kind->name, curve.isOrthogonal ? "orthogonal" : "iid",
                slope(curve.measured),
                std::exp(ratios / double(curve.measured.size())));
  }
  if (Result<void> done = writeOut(options, "linear-error.csv", csv); !done)
    return done.error();
  if (Result<void> done =
          writeOut(options, "linear-error.svg", draw(makePlot(curves)));
      !done)
    return done.error();
  return true;
}

} // namespace attn::bench
