// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of an SVG, as text. What is in pixels is in those of the view.

#ifndef ATTN_TOOLS_PLOT_DRAWING_H
#define ATTN_TOOLS_PLOT_DRAWING_H

#include <string>

namespace attn::plot {

/// "start", "middle" and "end" of a text are where its position is.
enum class Anchor { start, middle, end };

/// Distinct for colour-blind eyes (Okabe and Ito).
inline constexpr const char *colours[] = {"#0072b2", "#e69f00", "#009e73",
                                          "#cc79a7", "#56b4e9", "#d55e00"};

class Drawing {
public:
  /// Begins a picture on white ground.
  Drawing(double width, double height);

  /// `style` holds further attributes.
  void rectangle(double x, double y, double width, double height,
                 const std::string &style);
  void circle(double x, double y, double radius, const std::string &style);
  void line(double x1, double y1, double x2, double y2,
            const std::string &style);
  /// `data` as in the attribute d of a path.
  void path(const std::string &data, const std::string &style);
  void text(double x, double y, const std::string &content,
            Anchor anchor = Anchor::start, const std::string &style = "");
  /// Upwards.
  void turnedText(double x, double y, const std::string &content);

  /// Ends the picture.
  std::string take();

private:
  std::string svg;
};

/// Why a picture can't go to a file of that name: it says another format than
/// SVG. Empty if it can; a name without an ending says nothing.
std::string whyNoPicture(const std::string &path);

/// printf into a text.
__attribute__((format(printf, 1, 2))) std::string
formatText(const char *pattern, ...);

} // namespace attn::plot

#endif // ATTN_TOOLS_PLOT_DRAWING_H
