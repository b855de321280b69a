#include "ui/scene/fixed_point_label.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "core/flow/fixed_point.h"
#include "ui/plots/number_text.h"

namespace mambarium {

namespace {

// With its zeros, unlike significantText(): numbers side by side are then equally exact.
QString twoDigits(double value) {
  constexpr int digits = 2, least_power = -4;
  if (value == 0 || !std::isfinite(value)) return significantText(value, digits);
  const QString scientific = QString::number(value, 'e', digits - 1);
  const int power = scientific.mid(scientific.indexOf(u'e') + 1).toInt();  // of the rounded number
  if (power >= least_power && power < digits) return fixedText(value, digits - 1 - power);
  return QString(scientific).replace(u'-', QChar(0x2212));
}

}  // namespace

QString eigenvalueText(std::span<const std::complex<double>> eigenvalues) {
  constexpr qsizetype most_numbers = 4;
  constexpr double rounding = 1e-9;
  double largest = 0;
  for (const auto& eigenvalue : eigenvalues) largest = std::max(largest, std::abs(eigenvalue));
  QStringList numbers;
  for (const auto& eigenvalue : eigenvalues) {
    const bool complex = is_complex(eigenvalue, eigenvalues);
    if (complex && eigenvalue.imag() < 0) continue;  // its pair says it
    if (numbers.size() == most_numbers) {
      numbers << QStringLiteral("…");
      break;
    }
    const double real = std::abs(eigenvalue.real()) <= rounding * largest ? 0 : eigenvalue.real();
    QString text = twoDigits(real);
    if (complex) text += QStringLiteral(" ± %1i").arg(twoDigits(eigenvalue.imag()));
    numbers << text;
  }
  return numbers.isEmpty() ? QString() : QStringLiteral("λ = %1").arg(numbers.join(QStringLiteral(", ")));
}

FixedPointLabel::FixedPointLabel(const QString& type, const QString& eigenvalues, const QPointF& at, double radius,
                                 const QRectF& room, const Theme& theme, QPaintDevice* device)
    : type_(type), eigenvalues_(eigenvalues), theme_(theme) {
  if (type.isEmpty() && eigenvalues.isEmpty()) return;
  const auto sizeOf = [&](const QString& text, const QFont& font) {
    const QFontMetricsF metrics(font, device);
    return text.isEmpty() ? QSizeF(0, 0) : QSizeF(metrics.horizontalAdvance(text) + 2, metrics.height());
  };
  const QSizeF above = sizeOf(type, theme.font()), below = sizeOf(eigenvalues, theme.smallFont());
  const double across = theme.px(4), around = theme.px(1), gap = theme.px(3);
  const QSizeF size(std::max(above.width(), below.width()) + 2 * across, above.height() + below.height() + 2 * around);
  const double away = radius + 2 * gap;
  double left = at.x() + away, top = at.y() - gap - size.height();
  if (left + size.width() > room.right()) left = at.x() - away - size.width();
  if (top < room.top()) top = at.y() + gap;
  // Where it fits on neither side it may cover the mark, but not leave the picture.
  left = std::max(std::min(left, room.right() - size.width()), room.left());
  ground_ = {QPointF(left, top), size};
  const auto line = [&](const QSizeF& text, double y) {
    return QRectF(QPointF(ground_.center().x() - text.width() / 2, y), text);
  };
  if (!type.isEmpty()) type_rect_ = line(above, top + around);
  if (!eigenvalues.isEmpty()) eigenvalue_rect_ = line(below, ground_.bottom() - around - below.height());
}

void FixedPointLabel::paint(QPainter& painter) const {
  if (ground_.isNull()) return;
  constexpr int veil = 205;
  QColor ground = theme_.panel();
  ground.setAlpha(veil);
  painter.setPen(Qt::NoPen);
  painter.setBrush(ground);
  painter.drawRoundedRect(ground_, theme_.px(3), theme_.px(3));
  painter.setPen(theme_.text());
  painter.setFont(theme_.font());
  painter.drawText(type_rect_, Qt::AlignCenter | Qt::TextDontClip, type_);
  painter.setFont(theme_.smallFont());
  painter.drawText(eigenvalue_rect_, Qt::AlignCenter | Qt::TextDontClip, eigenvalues_);
}

}  // namespace mambarium
