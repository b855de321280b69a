// The part of Chart that leaves out what a low chart has no room for.

#include <QFontMetricsF>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/plots/chart.h"

namespace mambarium {
namespace {

constexpr std::array lower_axes = {0.7, 0.45, 0.25};  // of their smallest height, when all else is left out
constexpr qsizetype shortest_title = 3;

}  // namespace

std::vector<QCPAxisRect*> Chart::stretchingRects() const {
  std::vector<QCPAxisRect*> found;
  QCPLayoutGrid* const grid = plotLayout();
  for (int index = 0; index < grid->elementCount(); ++index) {
    QCPLayoutElement* const element = grid->elementAt(index);
    if (qobject_cast<QCPLayout*>(element)) return {};
    auto* const rect = qobject_cast<QCPAxisRect*>(element);
    if (rect && rect->visible() && rect->maximumSize().height() == QWIDGETSIZE_MAX) found.push_back(rect);
  }
  return found;
}

// QCustomPlot takes from everything, texts too, where not all can have its smallest size.
bool Chart::isSqueezed() const {
  return std::ranges::any_of(stretchingRects(),
                             [](const QCPAxisRect* rect) { return rect->height() < rect->minimumSize().height() - 1; });
}

void Chart::restoreParts() {
  legend_->setShown(true);
  for (QCPAxis* const heading : std::as_const(left_out_)) heading->setVisible(true);
  left_out_.clear();
  for (auto lowered = lowered_.cbegin(); lowered != lowered_.cend(); ++lowered) {
    QCPAxisRect* const rect = lowered.key();
    // Unless its panel has given it another one since.
    if (rect->minimumSize().height() == lowered->now) rect->setMinimumSize(rect->minimumSize().width(), lowered->usual);
  }
  lowered_.clear();
  for (auto titles = titles_.cbegin(); titles != titles_.cend(); ++titles) {
    titles.key()->axis(QCPAxis::atBottom)->setLabel(titles->x);
    titles.key()->axis(QCPAxis::atLeft)->setLabel(titles->y);
  }
}

void Chart::leaveOutTitles() {
  for (QCPAxisRect* const rect : stretchingRects())
    if (titles_.contains(rect)) rect->axis(QCPAxis::atBottom)->setLabel({});
}

void Chart::leaveOutHeadings() {
  for (QCPAxisRect* const rect : stretchingRects()) {
    QCPAxis* const top = rect->axis(QCPAxis::atTop);
    if (!top->visible() || top->label().isEmpty()) continue;
    top->setVisible(false);
    left_out_.insert(top);
  }
}

void Chart::lowerAxes(double share) {
  for (QCPAxisRect* const rect : stretchingRects()) {
    const int usual = lowered_.contains(rect) ? lowered_[rect].usual : rect->minimumSize().height();
    const int now = static_cast<int>(usual * share);
    lowered_[rect] = {usual, now};
    rect->setMinimumSize(rect->minimumSize().width(), now);
  }
}

// "Decay aₜ (log of 1 − aₜ)", "Decay aₜ", "Dec…": what has room between the next titles of its kind and in the chart.
void Chart::shortenTitles() {
  struct Title {
    QCPAxis* axis;
    QRect around;
    double middle;
  };
  const int top = legend_->isShown() ? legend_->outerRect().bottom() : viewport().top();
  for (const QCPAxis::AxisType side : {QCPAxis::atLeft, QCPAxis::atBottom}) {
    const bool upright = side == QCPAxis::atLeft;
    std::vector<Title> drawn;
    for (QCPAxisRect* const rect : titles_.keys()) {
      QCPAxis* const axis = rect->axis(side);
      if (!rect->visible() || !axis->visible() || axis->label().isEmpty()) continue;
      const QPointF middle = QRectF(rect->rect()).center();
      drawn.push_back({axis, rect->outerRect(), upright ? middle.y() : middle.x()});
    }
    const double first = upright ? top : viewport().left(), last = upright ? viewport().bottom() : viewport().right();
    for (const Title& title : drawn) {
      double room = 2 * std::min(title.middle - first, last - title.middle);
      for (const Title& other : drawn) {
        const bool is_beside =
            upright ? other.around.left() <= title.around.right() && title.around.left() <= other.around.right()
                    : other.around.top() <= title.around.bottom() && title.around.top() <= other.around.bottom();
        if (other.axis != title.axis && is_beside) room = std::min(room, std::abs(other.middle - title.middle));
      }
      const QFontMetricsF metrics(title.axis->labelFont());
      const QString whole = title.axis->label();
      if (metrics.horizontalAdvance(whole) <= room) continue;
      const qsizetype unit = whole.endsWith(u')') ? whole.indexOf(QStringLiteral(" (")) : -1;
      QString part = metrics.elidedText(unit > 0 ? whole.left(unit) : whole, Qt::ElideRight, room);
      if (part.size() <= shortest_title && part.endsWith(QChar(0x2026))) part.clear();
      title.axis->setLabel(part);
    }
  }
}

void Chart::updateLayout() {
  restoreParts();
  QCustomPlot::updateLayout();
  if (!isVisible()) return;
  const auto unlessItFits = [this](const auto& leaveOut) {
    if (!isSqueezed()) return;
    leaveOut();
    QCustomPlot::updateLayout();
  };
  unlessItFits([this] { leaveOutTitles(); });
  unlessItFits([this] { legend_->setShown(false); });
  unlessItFits([this] { leaveOutHeadings(); });
  for (const double share : lower_axes) unlessItFits([this, share] { lowerAxes(share); });
  shortenTitles();
}

}  // namespace mambarium
