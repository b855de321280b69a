// Timeline: how far training is, and the way back. The bar fills with training; its ticks are checkpoints.
//
// Dragging (or the arrow keys) shows the model as it was at a checkpoint; the right end is the model as it is now.
#pragma once

#include <QAbstractSlider>
#include <cstdint>
#include <optional>
#include <vector>

#include "ui/plots/theme.h"

namespace mambarium {

class Timeline : public QAbstractSlider {
  Q_OBJECT
 public:
  explicit Timeline(QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  void setProgress(std::int64_t step, std::int64_t steps);
  void setCheckpoints(const std::vector<std::int64_t>& steps);
  void setShown(std::optional<std::int64_t> checkpoint);  // nothing: now
  std::optional<std::int64_t> shown() const { return shown_; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void chosen(std::optional<std::int64_t> checkpoint);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  double xOf(std::int64_t step) const;
  void chooseAt(double x);
  void choose(std::optional<std::int64_t> checkpoint);
  std::optional<std::int64_t> neighbour(bool later) const;

  Theme theme_;
  std::vector<std::int64_t> checkpoints_;
  std::optional<std::int64_t> shown_;
  std::int64_t step_ = 0, steps_ = 1;
};

}  // namespace mambarium
