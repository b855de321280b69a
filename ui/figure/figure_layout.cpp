#include "ui/figure/figure_layout.h"

#include <QFontMetrics>
#include <algorithm>
#include <cmath>

namespace mambarium {

FigureLayout::FigureLayout(const Figure& figure)
    : theme_(Theme::figure(figure.style.appearance(), figure.style.font_pt)) {
  const double unit = Theme::figure_units_per_inch / 25.4;
  page_ = QSizeF(figure.style.width_mm * unit, figure.style.height_mm * unit);
  const int width = static_cast<int>(std::floor(page_.width()));
  const int height = static_cast<int>(std::floor(page_.height()));
  const int margin = theme_.px(8);

  int top = 0, bottom = height;
  if (!figure.title.isEmpty()) {
    title_ = QRect(margin, theme_.px(4), width - 2 * margin, QFontMetrics(theme_.titleFont()).height());
    top = title_.bottom() + theme_.px(2);
  }
  if (!figure.caption.isEmpty()) {
    const QRect wrapped = QFontMetrics(theme_.smallFont())
                              .boundingRect(QRect(0, 0, width - 2 * margin, height), Qt::TextWordWrap, figure.caption);
    caption_ = QRect(margin, height - wrapped.height() - theme_.px(5), width - 2 * margin, wrapped.height());
    bottom = caption_.top() - theme_.px(2);
  }
  plot_ = QRect(0, top, width, std::max(bottom - top, 1));
}

}  // namespace mambarium
