#include "ui/plots/sweep_matrix.h"

#include <QFontMetricsF>
#include <cmath>

#include "ui/plots/sweep_text.h"

namespace mambarium {
namespace {

class Matrix {
 public:
  Matrix(SweepCanvas& canvas, const SweepSlice& slice) : canvas_(canvas), slice_(slice), values_(slice) {
    const auto& axes = slice.result().axes;
    down_ = axes.size() / 2;
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      (axis < down_ ? rows_ : columns_) *= axes[axis].labels.size();
    for (std::size_t cell = 0; cell < rows_ * columns_; ++cell) {
      values_.add(slice.summary(cell));
      for (const double value : slice.values(cell)) values_.add(value);
    }
  }

  void draw() {
    for (std::size_t row = 0; row < rows_; ++row)
      for (std::size_t column = 0; column < columns_; ++column) drawTile(row, column);
    levelTiles();
    const Theme& theme = canvas_.theme();
    const QColor color = theme.runColor(0);
    std::vector<LegendEntry> legend = {{measureTitle(slice_.measure()), theme.runPen(0, 0), -1, {}},
                                       {slice_.cellLabel(0), theme.referencePen(Reference::add_beta), -1, {}},
                                       {QObject::tr("seeds"), QPen(Qt::NoPen), 0, color, true}};
    if (slice_.result().seeds.size() > 1)
      legend.push_back({QObject::tr("band: 95 % interval"), QPen(Qt::NoPen), -1, {}});
    canvas_.chart().flowLegend()->setEntries(std::move(legend));
  }

 private:
  // On one line where there is room for it.
  QString joined(const QString& first, const QString& second, double room) const {
    const QString line = QStringLiteral("%1 %2").arg(first, second).trimmed();
    const bool fits = QFontMetricsF(canvas_.theme().smallFont()).horizontalAdvance(line) <= room;
    return fits ? line : first + u'\n' + second;
  }

  // "Gate off" over "MLP none": the positions of a cell along some axes.
  QString labels(std::size_t cell, std::size_t first_axis, std::size_t end, double room) const {
    const SweepResult& result = slice_.result();
    QStringList lines;
    for (std::size_t axis = first_axis; axis < end; ++axis)
      lines << joined(QString::fromStdString(result.axes[axis].title),
                      QString::fromStdString(result.axes[axis].labels[result.cells[cell].position[axis]]), room);
    return lines.join(u'\n');
  }

  QString number(std::size_t cell, double room) const {
    const SweepSummary& summary = slice_.summary(cell);
    const auto seeds = static_cast<std::int64_t>(slice_.result().seeds.size());
    if (summary.n == 0) return QObject::tr("to come");
    const QString mean = measureText(slice_.measure(), summary.mean);
    if (summary.n < seeds) return joined(mean, QObject::tr("(%1 of %2)").arg(summary.n).arg(seeds), room);
    return joined(mean, halfIntervalText(slice_.measure(), summary), room);
  }

  double tileWidth() const { return 0.85 * canvas_.width() / static_cast<double>(columns_); }
  double tileHeight() const { return usual_share * canvas_.height() / static_cast<double>(rows_); }

  QString heading(std::size_t cell, std::size_t row) const {
    const double room = tileWidth();
    const QString names = row == 0 ? labels(cell, down_, slice_.result().axes.size(), room) : QString();
    return names.isEmpty() ? number(cell, room) : names + u'\n' + number(cell, room);
  }

  // The first row has names above it and the first column numbers beside it: they take that much more.
  void levelTiles() const {
    const QFontMetricsF metrics(canvas_.theme().smallFont());
    const auto lines = heading(0, 0).count(u'\n') - heading(0, 1).count(u'\n');
    const double above = static_cast<double>(lines) * metrics.height(), beside = 2.5 * metrics.height();
    QCPLayoutGrid* layout = canvas_.chart().plotLayout();
    layout->setRowStretchFactor(1, 1 + above / tileHeight());
    layout->setColumnStretchFactor(0, 1 + beside / tileWidth());
  }

  void drawTile(std::size_t row, std::size_t column) {
    const Theme& theme = canvas_.theme();
    const std::size_t cell = row * columns_ + column;
    const auto seeds = static_cast<double>(slice_.result().seeds.size());
    QCPAxisRect* rect = canvas_.addRect(static_cast<int>(row), static_cast<int>(column));
    if (row == 0) rect->setMarginGroup(QCP::msTop, canvas_.edges());
    rect->setMinimumSize(theme.px(24), theme.px(24));
    QCPAxis* x = rect->axis(QCPAxis::atBottom);
    QCPAxis* y = rect->axis(QCPAxis::atLeft);
    x->setRange(-0.5, seeds - 0.5);
    x->setTicks(false);
    x->setTickLabels(false);
    x->grid()->setVisible(false);
    values_.apply(y, theme, tileHeight());
    y->setTickLabels(column == 0);
    if (column == 0) y->setLabel(labels(cell, 0, down_, tileHeight()));
    canvas_.chart().setHeading(rect, heading(cell, row));
    rect->axis(QCPAxis::atTop)->setLabelFont(theme.smallFont());
    drawReference(rect, seeds);
    drawSeeds(rect, cell, seeds);
  }

  void drawReference(QCPAxisRect* rect, double seeds) {
    const SweepSummary& whole = slice_.summary(0);
    if (whole.n == 0) return;
    QCPGraph* line = canvas_.addGraph(rect);
    line->setPen(canvas_.theme().referencePen(Reference::add_beta, 1));
    const double mean = values_.place(whole.mean);
    line->setData({-0.5, seeds - 0.5}, {mean, mean}, true);
  }

  void drawSeeds(QCPAxisRect* rect, std::size_t cell, double seeds) {
    const SweepSummary& summary = slice_.summary(cell);
    if (summary.n == 0) return;
    const Theme& theme = canvas_.theme();
    const QColor color = theme.runColor(0);
    const double mean = values_.place(summary.mean);
    const QVector<double> ends = {-0.5, seeds - 0.5};
    if (!std::isnan(summary.low)) {
      const double low = values_.place(summary.low), high = values_.place(summary.high);
      addBand(canvas_, rect, ends, {low, low}, {high, high}, color);
    }
    QCPGraph* line = canvas_.addGraph(rect);
    line->setPen(theme.runPen(0, 0));
    line->setData(ends, {mean, mean}, true);
    QCPGraph* rings = canvas_.addGraph(rect);
    rings->setLineStyle(QCPGraph::lsNone);
    rings->setScatterStyle(scatterStyle(theme, 0, color, 5, true));
    const std::vector<double> values = slice_.values(cell);
    for (std::size_t seed = 0; seed < values.size(); ++seed)
      if (!std::isnan(values[seed])) rings->addData(static_cast<double>(seed), values_.place(values[seed]));
    canvas_.markCell(rect, (seeds - 1) / 2, mean, slice_, cell);
  }

  SweepCanvas& canvas_;
  const SweepSlice& slice_;
  SweepValueAxis values_;
  std::size_t down_ = 0;  // so many axes run down
  std::size_t rows_ = 1, columns_ = 1;
};

}  // namespace

void drawSweepMatrix(SweepCanvas& canvas, const SweepSlice& slice) {
  Matrix(canvas, slice).draw();
}

}  // namespace mambarium
