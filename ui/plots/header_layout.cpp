#include "ui/plots/header_layout.h"

#include <QWidgetItem>
#include <algorithm>
#include <numeric>

namespace mambarium {

void HeaderLayout::setTitle(QWidget* title) {
  addChildWidget(title);
  items_.insert(items_.begin(), std::make_unique<QWidgetItem>(title));
  invalidate();
}

void HeaderLayout::addControl(QWidget* control) {
  addChildWidget(control);
  items_.insert(items_.end() - static_cast<std::ptrdiff_t>(in_corner_), std::make_unique<QWidgetItem>(control));
  invalidate();
}

void HeaderLayout::addToCorner(QWidget* control) {
  addChildWidget(control);
  addItem(new QWidgetItem(control));
}

void HeaderLayout::addItem(QLayoutItem* item) {
  items_.emplace_back(item);
  ++in_corner_;
  invalidate();
}

QLayoutItem* HeaderLayout::itemAt(int index) const {
  return index >= 0 && index < count() ? items_[static_cast<std::size_t>(index)].get() : nullptr;
}

QLayoutItem* HeaderLayout::takeAt(int index) {
  if (index < 0 || index >= count()) return nullptr;
  if (index >= count() - static_cast<int>(in_corner_)) --in_corner_;
  QLayoutItem* const taken = items_[static_cast<std::size_t>(index)].release();
  items_.erase(items_.begin() + index);
  invalidate();
  return taken;
}

HeaderLayout::Items HeaderLayout::seen(std::size_t from, std::size_t to) const {
  Items found;
  for (std::size_t index = from; index < to; ++index)
    if (!items_[index]->isEmpty()) found.push_back(items_[index].get());
  return found;
}

int HeaderLayout::widthOf(const Items& items) const {
  int width = items.empty() ? 0 : spacing() * (static_cast<int>(items.size()) - 1);
  for (const QLayoutItem* const item : items) width += item->minimumSize().width();
  return width;
}

int HeaderLayout::widthOfOneRow(const QWidget* also) const {
  int width = 0, there = 0;
  for (const auto& item : items_) {
    const bool is_asked_for = also != nullptr && item->widget() == also;
    if (item->isEmpty() && !is_asked_for) continue;
    width += is_asked_for ? also->sizeHint().width() : item->sizeHint().width();
    ++there;
  }
  const QMargins around = contentsMargins();
  return width + spacing() * std::max(there - 1, 0) + around.left() + around.right();
}

// Each gives way in proportion to what it can.
std::vector<int> HeaderLayout::widths(const Items& items, int room) const {
  std::vector<int> found;
  int give = 0;
  for (const QLayoutItem* const item : items) {
    found.push_back(std::min(item->sizeHint().width(), std::max(room, 0)));
    give += std::max(found.back() - item->minimumSize().width(), 0);
  }
  const int gaps = items.empty() ? 0 : spacing() * (static_cast<int>(items.size()) - 1);
  int missing = std::accumulate(found.begin(), found.end(), gaps) - room;
  for (std::size_t index = 0; index < items.size() && missing > 0 && give > 0; ++index) {
    const int own = std::max(found[index] - items[index]->minimumSize().width(), 0);
    const int given = std::min(own, (missing * own + give - 1) / give);
    found[index] -= given;
    missing -= given;
    give -= own;
  }
  return found;
}

int HeaderLayout::placeRow(const Items& items, const std::vector<int>& each, int x, int y, bool moves) const {
  int height = 0;
  for (const QLayoutItem* const item : items) height = std::max(height, item->sizeHint().height());
  for (std::size_t index = 0; index < items.size() && moves; ++index) {
    const int own = items[index]->sizeHint().height();
    items[index]->setGeometry(QRect(x, y + (height - own) / 2, each[index], own));
    x += each[index] + spacing();
  }
  return height;
}

int HeaderLayout::place(const QRect& rect, bool moves) const {
  const QMargins around = contentsMargins();
  const QRect room = rect.marginsRemoved(around);
  const std::size_t corner_at = items_.size() - in_corner_, controls_at = std::min<std::size_t>(1, corner_at);
  const Items title = seen(0, controls_at), controls = seen(controls_at, corner_at),
              corner = seen(corner_at, items_.size());
  Items right = controls;
  right.insert(right.end(), corner.begin(), corner.end());
  const int beside = room.width() - widthOf(title) - spacing();
  const bool is_one_row = widthOf(right) <= beside;
  if (!is_one_row) right = corner;

  const std::vector<int> of_title = widths(title, room.width() - widthOf(corner) - spacing());
  const std::vector<int> of_right = widths(right, beside);
  const int gaps = right.empty() ? 0 : spacing() * (static_cast<int>(right.size()) - 1);
  const int width = std::accumulate(of_right.begin(), of_right.end(), gaps);
  // The title stands in the middle of the buttons beside it.
  const int first = std::max(placeRow(title, of_title, 0, 0, false), placeRow(right, of_right, 0, 0, false));
  const auto placeCentred = [&](const Items& items, const std::vector<int>& of_items, int x) {
    const int own = placeRow(items, of_items, 0, 0, false);
    placeRow(items, of_items, x, room.top() + (first - own) / 2, moves);
  };
  placeCentred(title, of_title, room.left());
  placeCentred(right, of_right, room.left() + room.width() - width);
  int bottom = room.top() + first;
  for (std::size_t next = 0; !is_one_row && next < controls.size();) {
    Items row;
    while (next < controls.size()) {
      row.push_back(controls[next]);
      if (row.size() > 1 && widthOf(row) > room.width()) {
        row.pop_back();
        break;
      }
      ++next;
    }
    bottom += spacing();
    bottom += placeRow(row, widths(row, room.width()), room.left(), bottom, moves);
  }
  return bottom + around.bottom() - rect.top();
}

void HeaderLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  place(rect, true);
}

QSize HeaderLayout::sizeHint() const {
  const int width = widthOfOneRow();
  return {width, heightForWidth(width)};
}

QSize HeaderLayout::minimumSize() const {
  const std::size_t corner_at = items_.size() - in_corner_;
  Items first = seen(0, std::min<std::size_t>(1, corner_at));
  const Items corner = seen(corner_at, items_.size());
  first.insert(first.end(), corner.begin(), corner.end());
  int width = widthOf(first);
  for (const QLayoutItem* const control : seen(std::min<std::size_t>(1, corner_at), corner_at))
    width = std::max(width, control->minimumSize().width());
  const QMargins around = contentsMargins();
  return {width + around.left() + around.right(), sizeHint().height()};
}

}  // namespace mambarium
