// The part of FiltersPanel that shows the taps over training.

#include <algorithm>
#include <cmath>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/filters_panel.h"
#include "ui/plots/number_text.h"

namespace mambarium {

void FiltersPanel::drawTraining(std::size_t index) {
  QCPAxisRect* rect = rects_[index];
  chart()->setAxisTitles(rect, tr("Training step"), index == 0 ? tr("Tap") : QString());
  QCPAxis* x = rect->axis(QCPAxis::atBottom);
  const QSharedPointer<TidyTicker> ticker(new TidyTicker(true));
  ticker->fitTo(x);
  x->setTicker(ticker);
  const RunSeries* run = currentRun();
  const AxisRange range = stepRange(history_.back().step, run ? run->config.integer("training.steps") : 0);
  x->setRange(range.lower, range.upper);
  x->grid()->setVisible(true);
  setTapAxis(rect->axis(QCPAxis::atLeft));

  const Segment now = segments(answer_)[index];
  std::vector<LegendEntry> legend;
  for (int tap = 0; tap < now.width(); ++tap) {
    const QColor color = theme().runColor(tap);
    const QPen pen(color, theme().scale());
    const int lag = now.width() - 1 - tap;
    legend.push_back({lag == 0 ? tr("current token") : tr("lag %1").arg(lagText(lag)), pen, 0, color});
    for (int channel = 0; channel < now.channels(); ++channel) {
      QVector<QCPGraphData> points;
      for (const FilterData& answer : history_)
        points.append(
            {static_cast<double>(answer.step), static_cast<double>(segments(answer)[index].tap(channel, tap))});
      QCPGraph* graph = addGraph(rect);
      graph->setPen(pen);
      graph->setScatterStyle(scatterStyle(theme(), 0, color, 2.5));
      graph->data()->set(points, true);
    }
  }
  chart()->flowLegend()->setEntries(std::move(legend));
}

void FiltersPanel::hoverTraining(const QPointF& pixel) {
  for (std::size_t i = 0; i < rects_.size(); ++i) {
    QCPAxisRect* rect = rects_[i];
    if (!rect->rect().contains(pixel.toPoint())) continue;
    const double step = rect->axis(QCPAxis::atBottom)->pixelToCoord(pixel.x());
    const double value = rect->axis(QCPAxis::atLeft)->pixelToCoord(pixel.y());
    const auto& answer = *std::ranges::min_element(
        history_, {}, [step](const FilterData& one) { return std::abs(static_cast<double>(one.step) - step); });
    const Segment segment = segments(answer)[i];
    int nearest = 0;
    const auto distance = [&](int cell) {
      return std::abs(static_cast<double>(segment.taps->data[static_cast<std::size_t>(cell)]) - value);
    };
    for (int cell = 1; cell < segment.channels() * segment.width(); ++cell)
      if (distance(cell) < distance(nearest)) nearest = cell;
    const int lag = segment.width() - 1 - nearest % segment.width();
    hoverLabel()->showAt(
        tr("<b>%1, channel %2</b><br>step %3, lag %4: %5")
            .arg(segment.name)
            .arg(nearest / segment.width())
            .arg(stepText(answer.step), lagText(lag),
                 signedText(static_cast<double>(segment.taps->data[static_cast<std::size_t>(nearest)]))),
        pixel, {}, chart()->viewport());
    return;
  }
  leave();
}

QString FiltersPanel::describeTraining() const {
  const FilterData& first = history_.front();
  const FilterData& last = history_.back();
  const QString layer = answer_.layers.size() > 1 ? tr(", layer %1").arg(shownLayer() + 1) : QString();
  if (history_.size() == 1)
    return tr("Step %1%2: only this step has been seen; more come with checkpoints and while the run trains.")
        .arg(stepText(first.step), layer);
  double largest = 0;
  QString moved;
  const auto before = segments(first), after = segments(last);
  for (std::size_t i = 0; i < after.size(); ++i)
    for (int channel = 0; channel < after[i].channels(); ++channel)
      for (int tap = 0; tap < after[i].width(); ++tap) {
        const double from = static_cast<double>(before[i].tap(channel, tap));
        const double to = static_cast<double>(after[i].tap(channel, tap));
        if (!(std::abs(to - from) >= largest)) continue;
        largest = std::abs(to - from);
        moved = tr("in channel %1 of %2 at lag %3, from %4 to %5")
                    .arg(channel)
                    .arg(after[i].name, lagText(after[i].width() - 1 - tap), signedText(from), signedText(to));
      }
  return tr("Steps %1 to %2%3, seen at %4 of them: the tap that moved most is %5.")
      .arg(stepText(first.step), stepText(last.step), layer, QString::number(history_.size()), moved);
}

PanelTable FiltersPanel::trainingTable() const {
  PanelTable table;
  table.columns = {QStringLiteral("step"),    QStringLiteral("layer"), QStringLiteral("input"),
                   QStringLiteral("channel"), QStringLiteral("lag"),   QStringLiteral("tap")};
  for (const FilterData& answer : history_)
    for (const Segment& segment : segments(answer))
      for (int channel = 0; channel < segment.channels(); ++channel)
        for (int tap = 0; tap < segment.width(); ++tap)
          table.rows.push_back({exactText(answer.step), exactText(std::int64_t{shownLayer() + 1}), segment.name,
                                exactText(std::int64_t{channel}), exactText(std::int64_t{tap + 1 - segment.width()}),
                                exactText(segment.tap(channel, tap))});
  return table;
}

}  // namespace mambarium
