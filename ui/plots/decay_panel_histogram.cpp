// The part of DecayPanel that draws its histogram.

#include <algorithm>
#include <cmath>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/decay_histogram.h"
#include "ui/plots/decay_panel.h"
#include "ui/plots/number_text.h"

namespace mambarium {

std::vector<DecayPanel::Part> DecayPanel::parts() const {
  std::vector<Part> all;
  for (int layer = 0; layer < layers(); ++layer)
    for (int head = 0; head < heads(); ++head)
      for (const bool at_switches : {false, true}) {
        Part part{layer, head, at_switches, {}};
        for (int position = 0; position < static_cast<int>(answer_.tokens.size()); ++position)
          if ((answer_.tokens[static_cast<std::size_t>(position)] == switchToken()) == at_switches &&
              std::isfinite(factor(layer, head, position)))
            part.factors.push_back(factor(layer, head, position));
        if (!part.factors.empty()) all.push_back(std::move(part));
      }
  return all;
}

QString DecayPanel::partName(const Part& part) const {
  const QString tokens = part.at_switches ? tr("at switch tokens") : switchToken() ? tr("elsewhere") : tr("all tokens");
  return layers() * heads() == 1 ? tokens : tr("%1, %2").arg(lineName(part.layer, part.head), tokens);
}

QPen DecayPanel::partPen(const Part& part) const {
  QPen pen = theme().runPen(paletteOf(part.layer, part.head), part.layer * heads() + part.head, 1.5);
  if (part.at_switches) pen.setColor(theme().switchColor());
  return pen;
}

std::vector<double> DecayPanel::binEdges() const {
  return decayBinEdges(log_ ? log_range_ : std::nullopt);
}

std::vector<double> DecayPanel::keysOf(const Part& part) const {
  std::vector<double> keys;
  for (const float a : part.factors) keys.push_back(drawn(a));
  return keys;
}

void DecayPanel::drawHistogram() {
  const std::vector<double> edges = binEdges();
  double highest = 0;
  std::vector<LegendEntry> legend;
  graphs().begin();
  for (const Part& part : parts()) {
    const DecayHistogram histogram = decayHistogram(keysOf(part), edges);
    QVector<QCPGraphData> steps = {{edges.front(), 0}};
    for (std::size_t bin = 0; bin + 1 < edges.size(); ++bin) {
      steps.append({edges[bin], histogram.share(bin)});
      highest = std::max(highest, histogram.share(bin));
    }
    steps.append({edges.back(), 0});
    QCPGraph* graph = graphs().next();
    graph->setLineStyle(QCPGraph::lsStepLeft);
    graph->setPen(partPen(part));
    if (layers() * heads() == 1) {
      QColor fill = partPen(part).color();
      fill.setAlpha(90);
      graph->setBrush(fill);
    }
    graph->data()->set(steps, true);
    legend.push_back({tr("%1 (%2)").arg(partName(part), stepText(std::ssize(part.factors))), partPen(part), -1, {}});
  }
  graphs().end();
  yAxis()->setScaleType(QCPAxis::stLinear);
  yAxis()->setRangeReversed(false);
  yAxis()->setTicker(linear_ticker_);
  const AxisRange range = linearRange(0, highest > 0 ? highest : 1, std::nullopt);
  yAxis()->setRange(range.lower, range.upper);
  chart()->flowLegend()->setEntries(std::move(legend));
}

void DecayPanel::hover(const QPointF& pixel) {
  if (view_ != View::histogram) {
    TokenPanel::hover(pixel);
    return;
  }
  if (!rect()->rect().contains(pixel.toPoint())) {
    leave();
    return;
  }
  const std::vector<double> edges = binEdges();
  const double key = xAxis()->pixelToCoord(pixel.x());
  const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, key) - edges.begin();
  const auto bin = static_cast<std::size_t>(above - 1);
  const auto factorAt = [&](double edge) { return log_ ? 1 - edge : edge; };
  const bool is_one = log_ && log_range_->has_strip && bin == 0;
  QString text = is_one ? tr("<b>aₜ = 1</b>")
                        : tr("<b>aₜ from %1 to %2</b>")
                              .arg(decayText(std::min(factorAt(edges[bin]), factorAt(edges[bin + 1]))),
                                   decayText(std::max(factorAt(edges[bin]), factorAt(edges[bin + 1]))));
  for (const Part& part : parts()) {
    const DecayHistogram histogram = decayHistogram(keysOf(part), edges);
    text += tr("<br>%1: %2 of %3").arg(partName(part)).arg(histogram.counts[bin]).arg(histogram.total);
  }
  hoverLabel()->showAt(text, pixel, {}, rect()->rect());
}

QString DecayPanel::describeHistogram() const {
  QStringList medians;
  for (const bool at_switches : {true, false}) {
    std::vector<float> factors;
    for (const Part& part : parts())
      if (part.at_switches == at_switches) factors.insert(factors.end(), part.factors.begin(), part.factors.end());
    if (factors.empty()) continue;
    const QString where = at_switches ? tr("switch tokens") : switchToken() ? tr("other tokens") : tr("tokens");
    medians << tr("%1 at %2 %3")
                   .arg(decayText(medianOf(factors)), stepText(std::ssize(factors) / (layers() * heads())), where);
  }
  QString text = tr("Step %1: the median of aₜ is %2").arg(stepText(answer_.step), medians.join(tr(" and ")));
  if (layers() * heads() > 1) text += tr(", over %1 heads").arg(layers() * heads());
  return text;
}

PanelTable DecayPanel::histogramTable() const {
  PanelTable table;
  table.columns = {QStringLiteral("layer"), QStringLiteral("head"),  QStringLiteral("tokens"), QStringLiteral("from_a"),
                   QStringLiteral("to_a"),  QStringLiteral("count"), QStringLiteral("share")};
  const std::vector<double> edges = binEdges();
  for (const Part& part : parts()) {
    const DecayHistogram histogram = decayHistogram(keysOf(part), edges);
    for (std::size_t bin = 0; bin + 1 < edges.size(); ++bin) {
      double low = edges[bin], high = edges[bin + 1];
      if (log_) {
        const bool is_one = log_range_->has_strip && bin == 0;
        low = is_one ? 1 : 1 - edges[bin + 1];
        high = is_one ? 1 : 1 - edges[bin];
      }
      table.rows.push_back({exactText(std::int64_t{part.layer + 1}), exactText(std::int64_t{part.head + 1}),
                            part.at_switches ? QStringLiteral("switch")
                            : switchToken()  ? QStringLiteral("other")
                                             : QStringLiteral("all"),
                            exactText(low), exactText(high), exactText(histogram.counts[bin]),
                            exactText(histogram.share(bin))});
    }
  }
  return table;
}

}  // namespace mambarium
