#include "ui/plots/number_text.h"

#include <QLocale>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace mambarium {
namespace {

template <typename Real>
QString shortest(Real value) {
  if (std::isnan(value)) return {};
  std::array<char, 64> buffer{};
  const Real size = std::abs(value);
  const auto format =
      size == 0 || (size >= Real(1e-5) && size < Real(1e15)) ? std::chars_format::fixed : std::chars_format::scientific;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  return QString::fromLatin1(buffer.data(), result.ptr - buffer.data());
}

}  // namespace

QString stepText(std::int64_t step) {
  return QLocale(QLocale::English).toString(static_cast<qlonglong>(step));
}

QString fixedText(double value, int decimals) {
  if (std::isnan(value)) return QStringLiteral("–");
  QString text = QString::number(value, 'f', decimals);
  const bool zero =
      std::all_of(text.cbegin(), text.cend(), [](QChar c) { return c == u'-' || c == u'0' || c == u'.'; });
  if (zero) return text.remove(u'-');
  return text.replace(u'-', QChar(0x2212));
}

QString significantText(double value, int digits) {
  if (std::isnan(value)) return QStringLiteral("–");
  return QString::number(value == 0 ? 0.0 : value, 'g', digits).replace(u'-', QChar(0x2212));
}

QString percentText(double share, int decimals) {
  return std::isnan(share) ? QStringLiteral("–") : fixedText(100 * share, decimals) + QStringLiteral(" %");
}

QString natsText(double nats) {
  return fixedText(nats, 4);
}
QString probabilityText(double p) {
  return fixedText(p, 3);
}

QString decayText(double a) {
  const double forgotten = 1 - a;
  if (!(forgotten > 0)) return fixedText(a, 4);
  return fixedText(a, std::clamp(static_cast<int>(std::ceil(-std::log10(forgotten))) + 1, 3, 7));
}

QString signedText(double value) {
  const QString text = fixedText(value, 3);
  return value > 0 && text != QLatin1String("0.000") ? u'+' + text : text;
}

QString countText(std::int64_t count, const QString& singular, const QString& plural) {
  return stepText(count) + u' ' + (count == 1 ? singular : plural);
}

QString exactText(double value) {
  return shortest(value);
}
QString exactText(float value) {
  return shortest(value);
}
QString exactText(std::int64_t value) {
  return QString::number(static_cast<qlonglong>(value));
}

}  // namespace mambarium
