#include "ui/plots/axis_ticker.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "ui/plots/number_text.h"

namespace mambarium {

double TidyTicker::getTickStep(const QCPRange& range) {
  double step = niceNear(range.size() / std::max(tickCount(), 2));
  if (integers_only_) step = std::max(1.0, std::round(step));
  if (axis_) step = roomyStep(range, step);
  decimals_ = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  return step;
}

double TidyTicker::roomyStep(const QCPRange& range, double step) const {
  const QFontMetricsF metrics(axis_->tickLabelFont());
  const double farthest = std::max(std::abs(range.lower), std::abs(range.upper));
  const double pixels_per_unit = axis_->axisRect()->width() / range.size();
  if (pixels_per_unit <= 0) return step;
  const auto overlaps = [&](double candidate) {
    const double last = std::floor(farthest / candidate + 1e-9) * candidate;
    const QString label = candidate < 1 ? fixedText(last, static_cast<int>(std::ceil(-std::log10(candidate) - 1e-9)))
                                        : stepText(std::llround(last));
    return metrics.horizontalAdvance(label + QStringLiteral("  ")) > candidate * pixels_per_unit;
  };
  while (step < range.size() && overlaps(step)) step = niceAbove(step * 1.01);
  return step;
}

QString TidyTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
  return decimals_ == 0 ? stepText(std::llround(tick)).replace(u'-', QChar(0x2212)) : fixedText(tick, decimals_);
}

void LogStripTicker::setLogRange(const LogRange& range, const QString& strip_label) {
  range_ = range;
  strip_label_ = strip_label;
}

void LogStripTicker::generate(const QCPRange&, const QLocale&, QChar, int, QVector<double>& ticks,
                              QVector<double>* sub_ticks, QVector<QString>* labels) {
  ticks.clear();
  if (sub_ticks) sub_ticks->clear();
  if (labels) labels->clear();
  const auto add = [&](double value, const QString& text) {
    ticks.append(value);
    if (labels) labels->append(text);
  };
  if (range_.has_strip) add(range_.stripCenter(), strip_label_);
  const bool few_decades = range_.upper / range_.floor < 150;
  for (int exponent = static_cast<int>(std::floor(std::log10(range_.floor) + 1e-9));; ++exponent) {
    const double decade =
        exponent < 0 ? 1 / std::round(std::pow(10.0, -exponent)) : std::round(std::pow(10.0, exponent));
    if (decade > range_.upper * (1 + 1e-9)) break;
    for (int mantissa = 1; mantissa < 10; ++mantissa) {
      const double value = exponent < 0 ? mantissa / std::round(std::pow(10.0, -exponent)) : mantissa * decade;
      if (value < range_.floor * (1 - 1e-9) || value > range_.upper * (1 + 1e-9)) continue;
      const bool labelled = mantissa == 1 || (few_decades && (mantissa == 2 || mantissa == 5));
      if (labelled)
        add(value, label_(value));
      else if (sub_ticks)
        sub_ticks->append(value);
    }
  }
}

QString powerText(double value) {
  if (value <= 0) return QStringLiteral("0");
  int exponent = static_cast<int>(std::floor(std::log10(value) + 1e-9));
  auto mantissa = static_cast<int>(std::lround(value / std::pow(10.0, exponent)));
  if (mantissa == 10) {  // 9.6×10⁻⁷ rounds to 10⁻⁶
    mantissa = 1;
    ++exponent;
  }
  if (exponent >= -4 && exponent <= 4) return fixedText(value, std::max(0, -exponent));
  static const QString superscripts = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
  QString power = exponent < 0 ? QStringLiteral("10⁻") : QStringLiteral("10");
  for (const QChar digit : QString::number(std::abs(exponent))) power += superscripts[digit.digitValue()];
  return mantissa == 1 ? power : QStringLiteral("%1×%2").arg(mantissa).arg(power);
}

}  // namespace mambarium
