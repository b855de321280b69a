// Where title, plot and caption lie on a figure, in figure units (Theme::figure_units_per_inch).
#pragma once

#include <QRect>
#include <QSizeF>

#include "ui/figure/figure.h"

namespace mambarium {

class FigureLayout {
 public:
  explicit FigureLayout(const Figure& figure);
  const Theme& theme() const { return theme_; }
  QSizeF page() const { return page_; }  // exact; the others are whole units within it
  QRect title() const { return title_; }
  QRect plot() const { return plot_; }
  QRect caption() const { return caption_; }

 private:
  Theme theme_;
  QSizeF page_;
  QRect title_, plot_, caption_;
};

}  // namespace mambarium
