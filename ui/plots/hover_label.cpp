#include "ui/plots/hover_label.h"

#include <QRectF>
#include <algorithm>
#include <array>

#include "ui/plots/theme.h"

namespace mambarium {

HoverLabel::HoverLabel(QWidget* plot) : QLabel(plot) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setTextFormat(Qt::RichText);
  setObjectName(QStringLiteral("hoverLabel"));
  hide();
}

void HoverLabel::setTheme(const Theme& theme) {
  QColor ground = theme.panel();
  ground.setAlpha(238);
  setStyleSheet(
      QStringLiteral("QLabel { background: %1; color: %2; border: 1px solid %3; border-radius: 4px; padding: %4px; }")
          .arg(ground.name(QColor::HexArgb), theme.text().name(), theme.line().name())
          .arg(theme.px(5)));
  setFont(theme.smallFont());
  gap_ = theme.px(14);
}

void HoverLabel::showAt(const QString& rich_text, QPointF anchor, const std::vector<QPointF>& avoid,
                        const QRect& bounds) {
  if (text() != rich_text) setText(rich_text);
  adjustSize();
  const QSizeF size(width(), height());
  const std::array<QPointF, 4> corners = {QPointF(gap_, -gap_ - size.height()), QPointF(gap_, gap_),
                                          QPointF(-gap_ - size.width(), -gap_ - size.height()),
                                          QPointF(-gap_ - size.width(), gap_)};

  std::array<QRectF, 4> places;
  std::array<int, 4> cost{};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    QRectF place(anchor + corners[i], size);
    const QRectF wanted = place;
    place.moveLeft(std::clamp(place.left(), double(bounds.left()),
                              std::max(double(bounds.left()), bounds.right() - size.width())));
    place.moveTop(
        std::clamp(place.top(), double(bounds.top()), std::max(double(bounds.top()), bounds.bottom() - size.height())));
    places[i] = place;
    const QRectF kept_clear = place.adjusted(-3, -3, 3, 3);
    cost[i] =
        static_cast<int>(std::count_if(avoid.begin(), avoid.end(), [&](QPointF p) { return kept_clear.contains(p); }));
    if (kept_clear.contains(anchor)) cost[i] += 1000;
    if (wanted != place) cost[i] += 2;
  }
  const auto best = static_cast<int>(std::min_element(cost.begin(), cost.end()) - cost.begin());
  if (cost[static_cast<std::size_t>(corner_)] > cost[static_cast<std::size_t>(best)] + 1) corner_ = best;
  move(places[static_cast<std::size_t>(corner_)].topLeft().toPoint());
  show();
  raise();
}

}  // namespace mambarium
