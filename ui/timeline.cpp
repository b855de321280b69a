#include "ui/timeline.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace mambarium {

namespace {

constexpr double knob_radius = 7;
constexpr double bar_height = 4;
constexpr double closest_ticks = 4;

}  // namespace

Timeline::Timeline(QWidget* parent) : QAbstractSlider(parent) {
  setOrientation(Qt::Horizontal);
  setFocusPolicy(Qt::TabFocus);
  setTracking(true);
  setRange(0, 1);
}

void Timeline::setTheme(const Theme& theme) {
  theme_ = theme;
  updateGeometry();
  update();
}

void Timeline::setProgress(std::int64_t step, std::int64_t steps) {
  if (step == step_ && steps == steps_) return;
  step_ = step;
  steps_ = std::max<std::int64_t>(1, steps);
  setRange(0, static_cast<int>(steps_));
  setValue(static_cast<int>(shown_.value_or(step_)));
  update();
}

void Timeline::setCheckpoints(const std::vector<std::int64_t>& steps) {
  if (steps == checkpoints_) return;
  checkpoints_ = steps;
  update();
}

void Timeline::setShown(std::optional<std::int64_t> checkpoint) {
  if (checkpoint == shown_) return;
  shown_ = checkpoint;
  setValue(static_cast<int>(shown_.value_or(step_)));
  update();
}

double Timeline::xOf(std::int64_t step) const {
  const double margin = knob_radius * theme_.scale() + 1;
  return margin + (width() - 2 * margin) * static_cast<double>(step) / static_cast<double>(steps_);
}

void Timeline::choose(std::optional<std::int64_t> checkpoint) {
  if (checkpoint == shown_) return;
  setShown(checkpoint);
  Q_EMIT chosen(shown_);
}

void Timeline::chooseAt(double x) {
  if (checkpoints_.empty()) return;
  const auto nearest = std::min_element(checkpoints_.begin(), checkpoints_.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(xOf(a) - x) < std::abs(xOf(b) - x);
  });
  const bool now = std::abs(xOf(step_) - x) <= std::abs(xOf(*nearest) - x);
  choose(now ? std::nullopt : std::optional(*nearest));
}

std::optional<std::int64_t> Timeline::neighbour(bool later) const {
  const std::int64_t here = shown_.value_or(step_);
  if (later) {
    const auto next = std::upper_bound(checkpoints_.begin(), checkpoints_.end(), here);
    return next == checkpoints_.end() || *next >= step_ ? std::nullopt : std::optional(*next);
  }
  const auto next = std::lower_bound(checkpoints_.begin(), checkpoints_.end(), here);
  return next == checkpoints_.begin() ? shown_ : std::optional(*std::prev(next));
}

void Timeline::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) chooseAt(event->position().x());
}

void Timeline::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) chooseAt(event->position().x());
}

void Timeline::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      choose(neighbour(false));
      break;
    case Qt::Key_Right:
      choose(neighbour(true));
      break;
    case Qt::Key_Home:
      if (!checkpoints_.empty()) choose(checkpoints_.front());
      break;
    case Qt::Key_End:
      choose(std::nullopt);
      break;
    default:
      event->ignore();
  }
}

void Timeline::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double scale = theme_.scale(), middle = height() / 2.0, bar = bar_height * scale;
  const double left = xOf(0), right = xOf(steps_), now = xOf(step_);
  const QColor off = theme_.line();
  painter.setPen(Qt::NoPen);
  painter.setBrush(off);
  painter.drawRoundedRect(QRectF(left, middle - bar / 2, right - left, bar), bar / 2, bar / 2);
  painter.setBrush(isEnabled() ? theme_.mutedText() : off);
  painter.drawRoundedRect(QRectF(left, middle - bar / 2, now - left, bar), bar / 2, bar / 2);

  double last_tick = -closest_ticks;
  painter.setPen(QPen(theme_.mutedText(), std::max(1.0, scale)));
  for (const std::int64_t checkpoint : checkpoints_) {
    const double x = std::round(xOf(checkpoint)) + 0.5;
    if (x - last_tick < closest_ticks * scale) continue;
    last_tick = x;
    painter.drawLine(QPointF(x, middle + 5 * scale), QPointF(x, middle + 9 * scale));
  }

  const double radius = knob_radius * scale;
  painter.setPen(QPen(hasFocus() || shown_ ? theme_.accent() : theme_.mutedText(), (hasFocus() ? 2.0 : 1.2) * scale));
  painter.setBrush(shown_ ? theme_.accent() : theme_.panel());
  painter.drawEllipse(QPointF(shown_ ? xOf(*shown_) : now, middle), radius, radius);
}

QSize Timeline::sizeHint() const {
  return {static_cast<int>(320 * theme_.scale()), static_cast<int>(28 * theme_.scale())};
}

QSize Timeline::minimumSizeHint() const {
  return {static_cast<int>(120 * theme_.scale()), static_cast<int>(24 * theme_.scale())};
}

}  // namespace mambarium
