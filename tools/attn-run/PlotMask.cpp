// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Neighbouring tiles of one kind are one rectangle, so that a picture of many
// tiles stays small; thin lines tell the tiles apart where there is room.

#include "PlotMask.h"

#include "runtime/Files.h"
#include "tools/plot/Drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

using namespace attn::plot;

namespace attn::run {

// More elements than these can't be told apart in the picture.
static constexpr int64_t maxElements = 128 * 128;
// More tiles than pixels.
static constexpr int64_t maxTiles = 640 * 640;

// In pixels.
static constexpr double longSide = 640, shortSide = 48, margin = 24;
static constexpr double labelWidth = 52, titleHeight = 92, legendHeight = 40;
static constexpr double leastGrid = 5, leastElement = 4;

namespace {

struct Kind {
  const char *fill;
  const char *name;
};

/// By MaskMap::Tile. Told apart by those who see few colours, and in grey.
constexpr std::array<Kind, 4> kinds = {Kind{"#f1f1ee", "skipped"},
                                       {"#4477aa", "plain"},
                                       {"#eeaa55", "masked"},
                                       {"#c9c9c4", "beyond the keys in use"}};
constexpr const char *elementFill = "#1d1d1b";

/// The plot of one map.
class MaskPlot {
public:
  explicit MaskPlot(const MaskMap &map);
  std::string draw(const std::string &title, const std::string &target);

private:
  void drawTiles();
  void drawGrid();
  void drawElements();
  void drawAxes();
  void drawLegend(double y);
  bool showsElements() const {
    return map.elements && std::min(cellWidth, cellHeight) >= leastElement;
  }
  double x(int64_t key) const { return left + double(key) * cellWidth; }
  double y(int64_t query) const { return top + double(query) * cellHeight; }

  const MaskMap &map;
  std::array<int64_t, kinds.size()> counts = {};
  double left = margin + labelWidth, top = margin + titleHeight;
  double width = longSide, height = longSide;
  /// Of a query and a key.
  double cellWidth = 0, cellHeight = 0;
  /// Begun by draw(), which knows how large the picture is.
  std::optional<Drawing> out;
};

} // namespace

MaskPlot::MaskPlot(const MaskMap &map) : map(map) {
  // Squares, unless one side would be too thin to see.
  auto queries = double(std::max<int64_t>(map.queries, 1));
  auto keys = double(std::max<int64_t>(map.keys, 1));
  double scale = longSide / std::max(queries, keys);
  width = std::max(keys * scale, shortSide);
  height = std::max(queries * scale, shortSide);
  cellWidth = width / keys;
  cellHeight = height / queries;
  for (int64_t i = 0; i < map.tiles->numElements(); ++i)
    ++counts[size_t(map.tiles->at(i))];
}

void MaskPlot::drawTiles() {
  for (int64_t row = 0; row < map.queryTiles; ++row) {
    int64_t begin = row * map.queryTile;
    int64_t end = std::min(begin + map.queryTile, map.queries);
    auto kindOf = [&](int64_t column) {
      return size_t(map.tiles->at(row * map.keyTiles + column));
    };
    for (int64_t column = 0, next; column < map.keyTiles; column = next) {
      for (next = column + 1;
           next < map.keyTiles && kindOf(next) == kindOf(column);)
        ++next;
      double from = x(column * map.keyTile);
      double to = x(std::min(next * map.keyTile, map.keys));
      std::string style =
          std::string("fill=\"") + kinds[kindOf(column)].fill + "\"";
      out->rectangle(from, y(begin), to - from, y(end) - y(begin), style);
    }
  }
}

void MaskPlot::drawGrid() {
  std::string lines;
  char line[96];
  if (double(map.keyTile) * cellWidth >= leastGrid)
    for (int64_t key = map.keyTile; key < map.keys; key += map.keyTile) {
      std::snprintf(line, sizeof line, "M%.2f %.2fv%.2f", x(key), top, height);
      lines += line;
    }
  if (double(map.queryTile) * cellHeight >= leastGrid)
    for (int64_t query = map.queryTile; query < map.queries;
         query += map.queryTile) {
      std::snprintf(line, sizeof line, "M%.2f %.2fh%.2f", left, y(query),
                    width);
      lines += line;
    }
  if (!lines.empty())
    out->path(lines, "stroke=\"#222222\" stroke-opacity=\"0.2\" "
                     "stroke-width=\"0.7\"");
}

void MaskPlot::drawElements() {
  std::string squares;
  char square[96];
  double side = 0.5 * std::min(cellWidth, cellHeight);
  for (int64_t query = 0; query < map.queries; ++query)
    for (int64_t key = 0; key < map.keys; ++key) {
      if (map.elements->at(query * map.keys + key) == 0)
        continue;
      std::snprintf(square, sizeof square, "M%.2f %.2fh%.2fv%.2fh%.2fz",
                    x(key) + (cellWidth - side) / 2,
                    y(query) + (cellHeight - side) / 2, side, side, -side);
      squares += square;
    }
  out->path(squares, std::string("fill=\"") + elementFill + "\"");
}

/// Round numbers between labels, of which `size` rows of `pixels` in all have
/// room for a few.
static int64_t chooseStep(int64_t size, double pixels) {
  constexpr double room = 64;
  double least = double(size) * room / pixels;
  for (int64_t unit = 1;; unit *= 10)
    for (int64_t step : {unit, 2 * unit, 5 * unit})
      if (double(step) >= least || step > size)
        return step;
}

void MaskPlot::drawAxes() {
  // A label is in the middle of its row or column; positions need not begin at
  // a round number.
  auto forEachLabel = [](int64_t first, int64_t size, double pixels,
                         auto draw) {
    int64_t step = chooseStep(size, pixels);
    int64_t row = (step - first % step) % step;
    // None of few positions need be a round number.
    if (size > 0 && row >= size)
      draw(0, std::to_string(first));
    for (; row < size; row += step)
      draw(row, std::to_string(
                    static_cast<int64_t>(uint64_t(first) + uint64_t(row))));
  };
  forEachLabel(map.firstKey, map.keys, width,
               [&](int64_t key, const std::string &label) {
                 double at = x(key) + cellWidth / 2;
                 out->path(formatText("M%.2f %.2fv-5", at, top),
                           "stroke=\"#555\"");
                 out->text(at, top - 9, label, Anchor::middle);
               });
  forEachLabel(map.firstQuery, map.queries, height,
               [&](int64_t query, const std::string &label) {
                 double at = y(query) + cellHeight / 2;
                 out->path(formatText("M%.2f %.2fh-5", left, at),
                           "stroke=\"#555\"");
                 out->text(left - 9, at + 4, label, Anchor::end);
               });
  out->text(left + width / 2, top - 27, "key position j", Anchor::middle);
  out->turnedText(left - labelWidth + 6, top + height / 2, "query position i");
  out->rectangle(left, top, width, height, "fill=\"none\" stroke=\"#555\"");
}

void MaskPlot::drawLegend(double y) {
  double at = left;
  auto entry = [&](const char *fill, double side, const std::string &text) {
    constexpr double box = 13, perLetter = 6.6;
    double inset = (box - side) / 2;
    std::string style = std::string("fill=\"") + fill +
                        (side < box ? "\"" : "\" stroke=\"#999\"");
    out->rectangle(at + inset, y + inset, side, side, style);
    out->text(at + box + 6, y + 11, text);
    at += box + 6 + perLetter * double(text.size()) + 14;
  };
  for (size_t kind = 0; kind < kinds.size(); ++kind)
    if (counts[kind] > 0 || kind < 3)
      entry(kinds[kind].fill, 13, kinds[kind].name);
  if (showsElements())
    entry(elementFill, 7, "key seen by query");
}

std::string MaskPlot::draw(const std::string &title,
                           const std::string &target) {
  double total = std::max<double>(1, double(map.tiles->numElements()));
  auto share = [&](const char *name, int64_t count) {
    return std::to_string(count) + " " + name + " (" +
           std::to_string(std::lround(100.0 * double(count) / total)) + " %)";
  };
  std::string sizes = std::to_string(map.queries) + " queries x " +
                      std::to_string(map.keys) + " keys, tiles of " +
                      std::to_string(map.queryTile) + " x " +
                      std::to_string(map.keyTile);
  if (map.headsPerTile > 1)
    sizes += " with " + std::to_string(map.headsPerTile) + " heads each";
  constexpr double leastWidth = 560;
  double fullWidth = std::max(left + width + margin, leastWidth);
  double fullHeight = top + height + legendHeight + margin;
  out.emplace(fullWidth, fullHeight);
  out->text(margin, margin + 12, title, Anchor::start,
            "font-size=\"16\" font-weight=\"bold\"");
  out->text(margin, margin + 32, sizes + ", " + target);
  out->text(margin, margin + 49,
            share("skipped", counts[0] + counts[3]) + ", " +
                share("plain", counts[1]) + ", " + share("masked", counts[2]));
  drawTiles();
  drawGrid();
  if (showsElements())
    drawElements();
  drawAxes();
  drawLegend(top + height + 18);
  return out->take();
}

std::string drawMask(const MaskMap &map, const std::string &title,
                     const std::string &target) {
  return MaskPlot(map).draw(title, target);
}

Result<void> plotMask(const Options &options, const Program &program,
                      const Signature &signature,
                      const std::vector<Value> &inputs) {
  const MaskPlace &place = options.plotPlace;
  Result<MaskMap> map =
      program.maskMap(signature.function, inputs, place, maxElements);
  if (!map)
    return map.error();
  if (map->tiles->numElements() > maxTiles)
    return Error{ErrorCode::invalidArgument,
                 "option --plot-mask: expected at most " +
                     std::to_string(maxTiles) + " tiles, got " +
                     std::to_string(map->tiles->numElements())};
  std::string title = signature.function + ": attention " +
                      std::to_string(place.attention) + ", batch " +
                      std::to_string(place.batch) + ", head " +
                      std::to_string(place.head);
  return writeFile(options.plotMask, {drawMask(*map, title, program.target())});
}

} // namespace attn::run
