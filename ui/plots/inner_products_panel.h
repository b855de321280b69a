// InnerProductsPanel: which windows of tokens the model takes for the same context. The inner products b(v) . c(u) of
// the first layer for all windows v and u of w tokens (figure 5 of the paper), as a matrix with the numbers in the
// cells. (In later layers b and c depend on the whole past and belong to no window.)
//
// A model that counts order-k transitions adds its token under b(v) where the k tokens before the newest of v are the
// context, and asks with c(u) for the context that the last k tokens of u are. Cells where the two agree are framed:
// there a counting model has some number, and 0 everywhere else. A window of k tokens or fewer holds no such pair.
// More than 64 windows cannot be asked for; the panel then says so. It has no options.
#pragma once

#include "ui/plots/color_scale.h"
#include "ui/plots/plot_panel.h"

namespace mambarium {

class InnerProductsPanel : public PlotPanel {
  Q_OBJECT
 public:
  explicit InnerProductsPanel(QWidget* parent = nullptr);
  std::optional<InspectRequest> wants() const override;
  PanelTable table() const override;

 protected:
  bool prepare(const PanelChange& change) override;
  void draw() override;
  QString describe() const override;
  QString emptyText() const override;
  void hover(const QPointF& pixel) override;

 private:
  int count() const { return static_cast<int>(answer_.windows.size()); }
  double product(int key, int query) const;
  bool agree(int key, int query) const;  // the framed ones
  QString windowName(int index) const {
    return QString::fromStdString(answer_.windows[static_cast<std::size_t>(index)]);
  }
  bool tooManyWindows() const;
  std::int64_t order() const;

  InnerProductData answer_;
  std::vector<std::vector<int>> tokens_;  // of each window, oldest first
  QCPAxisRect* rect_;
  CellMap* cells_;
  ColorScale scale_;
};

}  // namespace mambarium
