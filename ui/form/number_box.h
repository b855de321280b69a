// NumberBox: a spin box for a setting that is a whole or a real number.
//
// A person may type anything ("2e-3", "1e4", "abc"): what was typed is reported as text and judged by the property
// table, which knows the range and says what is wrong. Arrow keys and buttons walk through round numbers: 1 at a time
// for small whole numbers, powers of two between powers of two, 1-2-5 for reals. Enter, or going on to another control
// of the same window, says that the number is whole.
#pragma once

#include <QAbstractSpinBox>

#include "core/contract/property.h"

namespace mambarium {

// The next round number above (or below) `value` that the property allows; `value` itself at the end of its range.
double nextRoundNumber(const Property& property, double value, bool up);

class NumberBox : public QAbstractSpinBox {
  Q_OBJECT
 public:
  explicit NumberBox(const Property& property, QWidget* parent = nullptr);

  // Shows a value, unless the text already says it in another way ("2e-3" stays while it means 0.002).
  void setValue(const PropertyValue& value);
  void stepBy(int steps) override;
  QValidator::State validate(QString& input, int& position) const override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 Q_SIGNALS:
  void typed(const QString& text);
  void settled();

 protected:
  StepEnabled stepEnabled() const override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  const Property& property_;
  double value_ = 0;
};

}  // namespace mambarium
