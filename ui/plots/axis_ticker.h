// Tick labels a person can read: equal decimals on one axis, thousands separated, true minus signs.
#pragma once

#include <qcustomplot.h>

#include <functional>

#include "ui/plots/axis_range.h"

namespace mambarium {

// Linear axes. Decimals follow from the tick step; integers carry a thousands separator. Below a plot there are as many
// ticks as their labels leave room for, once fitTo() has named the axis.
class TidyTicker : public QCPAxisTicker {
 public:
  explicit TidyTicker(bool integers_only = false) : integers_only_(integers_only) {}
  void fitTo(const QCPAxis* horizontal_axis) { axis_ = horizontal_axis; }

 protected:
  double getTickStep(const QCPRange& range) override;
  int getSubTickCount(double) override { return 0; }
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

 private:
  double roomyStep(const QCPRange& range, double step) const;

  bool integers_only_;
  const QCPAxis* axis_ = nullptr;
  int decimals_ = 0;
};

// Logarithmic axes with a strip: decades, and 2 and 5 between them where there are fewer than two decades. `label`
// writes a tick's text; `strip_label` stands at the strip.
class LogStripTicker : public QCPAxisTicker {
 public:
  explicit LogStripTicker(std::function<QString(double)> label) : label_(std::move(label)) {}
  void setLogRange(const LogRange& range, const QString& strip_label);
  void generate(const QCPRange& range, const QLocale& locale, QChar format, int precision, QVector<double>& ticks,
                QVector<double>* sub_ticks, QVector<QString>* labels) override;

 private:
  std::function<QString(double)> label_;
  LogRange range_;
  QString strip_label_;
};

QString powerText(double value);  // "0.01", "5", and "2×10⁻⁵" below a thousandth of a tenth

}  // namespace mambarium
