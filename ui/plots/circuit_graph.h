// CircuitGraph: a directed graph drawn in an axis rect, nodes as discs with their names, edges as lines with arrow
// heads at their ends, two where they run both ways. The axes' ranges do not matter: the places from -1 to 1 fill the
// rect, up to 1.7 times as long one way as the other. Discs are as large as no two of them overlap. Everything about
// how it looks is told by the panel; names are left out where discs are too small for them.
#pragma once

#include <qcustomplot.h>

#include <optional>
#include <vector>

#include "ui/plots/theme.h"

namespace mambarium {

class CircuitGraph : public QCPAbstractPlottable {
 public:
  struct Node {
    QPointF place;  // from -1 to 1, y upwards
    QString name;
    QColor color;  // of the disc
    bool faded = false;
  };
  struct Edge {
    std::size_t from = 0, to = 0;
    bool both = false;
    QColor color;
    double width = 1;  // in the 13-pixel design
  };

  CircuitGraph(QCPAxis* key_axis, QCPAxis* value_axis);

  void setTheme(const Theme& theme) { theme_ = theme; }
  void setGraph(std::vector<Node> nodes, std::vector<Edge> edges);
  void setMessage(const QString& text) { message_ = text; }  // written in the middle; "": none
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Edge>& edges() const { return edges_; }
  const QString& message() const { return message_; }
  QPointF pixelOf(std::size_t node) const;
  double radius() const;  // of a disc, in pixels
  std::optional<std::size_t> nodeAt(const QPointF& pixel) const;

  double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
  QCPRange getKeyRange(bool& found, QCP::SignDomain domain) const override;
  QCPRange getValueRange(bool& found, QCP::SignDomain domain, const QCPRange& keys) const override;

 protected:
  void draw(QCPPainter* painter) override;
  void drawLegendIcon(QCPPainter*, const QRectF&) const override {}

 private:
  QSizeF halves() const;  // of what the places from -1 to 1 fill, in pixels
  void drawEdge(QCPPainter* painter, const Edge& edge, double radius) const;

  Theme theme_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  QString message_;
};

}  // namespace mambarium
