// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line per element.

#include "Drawing.h"

#include <cstdarg>
#include <cstdio>
#include <filesystem>

namespace attn::plot {

std::string formatText(const char *pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  int length = std::vsnprintf(nullptr, 0, pattern, arguments);
  va_end(arguments);
  std::string text(static_cast<size_t>(length > 0 ? length : 0), ' ');
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  return text;
}

std::string whyNoPicture(const std::string &path) {
  std::string ending = std::filesystem::path(path).extension().string();
  if (ending.empty() || ending == ".svg")
    return {};
  return "expected a file name that ends in .svg, as pictures are SVG, got '" +
         path + "'";
}

static std::string escape(const std::string &text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '<'   ? std::string("&lt;")
               : c == '&' ? std::string("&amp;")
                          : std::string(1, c);
  return escaped;
}

Drawing::Drawing(double width, double height)
    : svg(formatText("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                     "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
                     "font-family=\"Helvetica, Arial, sans-serif\" "
                     "font-size=\"12\" fill=\"#222\">\n",
                     width, height, width, height)) {
  rectangle(0, 0, width, height, "fill=\"#ffffff\"");
}

void Drawing::rectangle(double x, double y, double width, double height,
                        const std::string &style) {
  svg +=
      formatText("<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" ",
                 x, y, width, height) +
      style + "/>\n";
}

void Drawing::circle(double x, double y, double radius,
                     const std::string &style) {
  svg +=
      formatText("<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" ", x, y, radius) +
      style + "/>\n";
}

void Drawing::line(double x1, double y1, double x2, double y2,
                   const std::string &style) {
  svg += formatText("<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" ",
                    x1, y1, x2, y2) +
         style + "/>\n";
}

void Drawing::path(const std::string &data, const std::string &style) {
  svg += "<path d=\"" + data + "\" " + style + "/>\n";
}

static const char *anchorText(Anchor anchor) {
  switch (anchor) {
  case Anchor::start:
    return "";
  case Anchor::middle:
    return " text-anchor=\"middle\"";
  case Anchor::end:
    return " text-anchor=\"end\"";
  }
  return "";
}

void Drawing::text(double x, double y, const std::string &content,
                   Anchor anchor, const std::string &style) {
  svg += formatText("<text x=\"%.2f\" y=\"%.2f\"", x, y) + anchorText(anchor) +
         (style.empty() ? "" : " ") + style + ">" + escape(content) +
         "</text>\n";
}

void Drawing::turnedText(double x, double y, const std::string &content) {
  svg +=
      formatText("<text transform=\"translate(%.2f %.2f) rotate(-90)\"", x, y) +
      anchorText(Anchor::middle) + ">" + escape(content) + "</text>\n";
}

std::string Drawing::take() { return std::move(svg += "</svg>\n"); }

} // namespace attn::plot
