#include "ui/form/number_box.h"

#include <QFocusEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/contract/experiment_config.h"

namespace mambarium {

namespace {

constexpr double small_whole_numbers = 32;
constexpr int most_digits = 9;  // that a box grows for: 100000000 is the largest whole number of the table

bool isPowerOfTwo(double value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == 0.5;
}

double nextWhole(double value, bool up) {
  const double size = std::abs(value);
  if (size < small_whole_numbers || (size == small_whole_numbers && !up)) return value + (up ? 1 : -1);
  if (isPowerOfTwo(value)) return up ? value * 2 : value / 2;
  double unit = std::pow(10, std::floor(std::log10(size)));
  if (!up && size == unit) unit /= 10;
  const double multiple = value / unit;
  return (up ? std::floor(multiple) + 1 : std::ceil(multiple) - 1) * unit;
}

double nextReal(double value, bool up) {
  if (value <= 0) return up ? 1e-4 : value;
  const double unit = std::pow(10, std::floor(std::log10(value) + 1e-9));
  constexpr std::array<double, 5> steps{0.5, 1, 2, 5, 10};
  const double multiple = value / unit;
  constexpr double tolerance = 1e-6;
  if (up) {
    for (const double step : steps)
      if (step > multiple * (1 + tolerance)) return step * unit;
  }
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    if (*step < multiple * (1 - tolerance)) return *step * unit;
  return value;
}

// 0.2 * 0.01 is not the double that "0.002" reads as: go through the text a person would write.
double asWritten(double value) {
  return QString::number(value, 'g', 6).toDouble();
}

}  // namespace

double nextRoundNumber(const Property& property, double value, bool up) {
  const bool whole = property.type == PropertyType::integer;
  const double next = whole ? nextWhole(value, up) : asWritten(nextReal(value, up));
  const bool below = property.minimum_excluded ? next <= property.minimum : next < property.minimum;
  if (below) return property.minimum_excluded ? value : property.minimum;
  return std::min(next, property.maximum);
}

NumberBox::NumberBox(const Property& property, QWidget* parent) : QAbstractSpinBox(parent), property_(property) {
  setFocusPolicy(Qt::StrongFocus);
  setAlignment(Qt::AlignRight);
  setCorrectionMode(QAbstractSpinBox::CorrectToPreviousValue);
  connect(lineEdit(), &QLineEdit::textEdited, this, &NumberBox::typed);
  connect(lineEdit(), &QLineEdit::textChanged, this, [this] { updateGeometry(); });
}

void NumberBox::setValue(const PropertyValue& value) {
  value_ = std::holds_alternative<double>(value) ? std::get<double>(value)
                                                 : static_cast<double>(std::get<std::int64_t>(value));
  ExperimentConfig reader;
  if (!reader.set_from_string(property_.key, lineEdit()->text().toStdString()) &&
      reader.value(property_.key) == value) {
    return;
  }
  lineEdit()->setText(QString::fromStdString(value_to_string(value)));
  update();
}

void NumberBox::stepBy(int steps) {
  double value = value_;
  for (int taken = 0; taken < std::abs(steps); ++taken) value = nextRoundNumber(property_, value, steps > 0);
  const PropertyValue next = property_.type == PropertyType::integer
                                 ? PropertyValue(static_cast<std::int64_t>(std::llround(value)))
                                 : PropertyValue(value);
  const QString text = QString::fromStdString(value_to_string(next));
  lineEdit()->setText(text);
  lineEdit()->selectAll();
  Q_EMIT typed(text);
}

QValidator::State NumberBox::validate(QString&, int&) const {
  return QValidator::Acceptable;
}

QAbstractSpinBox::StepEnabled NumberBox::stepEnabled() const {
  StepEnabled enabled = StepNone;
  if (nextRoundNumber(property_, value_, true) > value_) enabled |= StepUpEnabled;
  if (nextRoundNumber(property_, value_, false) < value_) enabled |= StepDownEnabled;
  return enabled;
}

void NumberBox::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    clearFocus();
    return;
  }
  QAbstractSpinBox::keyPressEvent(event);
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) Q_EMIT settled();
}

void NumberBox::focusOutEvent(QFocusEvent* event) {
  QAbstractSpinBox::focusOutEvent(event);
  const Qt::FocusReason reason = event->reason();
  if (reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::MouseFocusReason) {
    Q_EMIT settled();
  }
}

QSize NumberBox::sizeHint() const {
  // The base has no text to make room for: its hint is the frame, the margins, the buttons and the cursor.
  const QSize hint = QAbstractSpinBox::sizeHint();
  const auto width = [this](const QString& text) { return fontMetrics().horizontalAdvance(text); };
  const int widest = std::max(width(QStringLiteral("000000")), width(lineEdit()->text().left(most_digits)));
  return {hint.width() + widest, hint.height()};
}

}  // namespace mambarium
