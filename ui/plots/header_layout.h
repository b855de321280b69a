// HeaderLayout: the header of a panel: its title, the controls of what is shown, and a corner of buttons that all
// panels have. It cuts no words: where a row has no room for all, choices first become as narrow as what they say now,
// and then the controls go below the title, into as many rows as they need.
//
// Widths are those that the widgets ask for, with the font that is theirs, so it follows fonts, themes and screens. A
// widget that is hidden takes no room.
#pragma once

#include <QLayout>
#include <memory>
#include <vector>

namespace mambarium {

class HeaderLayout : public QLayout {
 public:
  void setTitle(QWidget* title);       // once, before all others
  void addControl(QWidget* control);   // right of those that are there
  void addToCorner(QWidget* control);  // at the right end of the first row

  // Of one row in which nothing is narrower than it would be, `also` among them whether it is to be seen or not.
  int widthOfOneRow(const QWidget* also = nullptr) const;

  void addItem(QLayoutItem* item) override;  // to the corner
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override;
  QLayoutItem* takeAt(int index) override;
  void setGeometry(const QRect& rect) override;
  QSize sizeHint() const override;
  QSize minimumSize() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), false); }
  Qt::Orientations expandingDirections() const override { return {}; }

 private:
  using Items = std::vector<QLayoutItem*>;
  Items seen(std::size_t from, std::size_t to) const;  // of items_, without those that take no room
  int widthOf(const Items& items) const;               // of a row of them at their narrowest
  std::vector<int> widths(const Items& items, int room) const;
  // Puts them at y from x on, where `moves`; returns the height of the row.
  int placeRow(const Items& items, const std::vector<int>& each, int x, int y, bool moves) const;
  int place(const QRect& rect, bool moves) const;  // returns the height of all

  std::vector<std::unique_ptr<QLayoutItem>> items_;  // the title, the controls, the corner
  std::size_t in_corner_ = 0;
};

}  // namespace mambarium
