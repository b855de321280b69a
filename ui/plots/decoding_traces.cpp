#include "ui/plots/decoding_traces.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr double pause = 2;  // between windows that are no neighbours, in windows
// Lengths of the 13-pixel design.
constexpr double legend_and_axis = 70, time_axis = 42, lowest_row = 30, row_for_all_ticks = 48, room_for_scores = 420;
constexpr int disc = 0, cross = 5;

double at(const Tensor& trace, std::size_t window, std::size_t output) {
  return static_cast<double>(trace.data[window * static_cast<std::size_t>(trace.shape[1]) + output]);
}

bool isThere(const Tensor& trace) {
  return !trace.data.empty();
}

QString valueText(double value) {
  return significantText(value, 3);
}

// Whether no multiple of the step is nearer to another bin.
bool standsAt(std::int64_t bin, double unit, double step) {
  constexpr double half = 0.499;
  return std::abs(std::remainder(static_cast<double>(bin) * unit, step)) <= half * unit;
}

// The roundest step of time (in seconds, or bins) of which a multiple lies in at least half of the stretches.
double stepOfStretches(const std::vector<std::int64_t>& bins,
                       const std::vector<std::pair<std::size_t, std::size_t>>& stretches, double unit) {
  std::size_t longest = 1;
  for (const auto& [first, end] : stretches) longest = std::max(longest, end - first);
  for (double step = niceBelow(static_cast<double>(longest) * unit); step > unit; step = niceBelow(0.99 * step)) {
    const auto holds = [&](const std::pair<std::size_t, std::size_t>& stretch) {
      const auto first = bins.begin() + static_cast<std::ptrdiff_t>(stretch.first);
      const auto end = bins.begin() + static_cast<std::ptrdiff_t>(stretch.second);
      return std::any_of(first, end, [&](std::int64_t bin) { return standsAt(bin, unit, step); });
    };
    const auto held = std::ranges::count_if(stretches, holds);
    if (2 * static_cast<std::size_t>(held) >= stretches.size()) return step;
  }
  return unit;
}

// 0 and a round number on either side of it; `only_one` of them has its name where there is no room for more.
QSharedPointer<QCPAxisTicker> lowRowTicker(double low, double high, bool only_one) {
  const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  const double round = niceBelow(0.95 * std::max(-low, high));
  ticker->addTick(0, only_one ? QString() : QStringLiteral("0"));
  for (const double tick : {round, -round})
    if (tick >= low && tick <= high)
      ticker->addTick(tick, only_one && ticker->ticks().size() > 1 ? QString() : valueText(tick));
  return ticker;
}

}  // namespace

void DecodingTraces::setRows(std::size_t count) {
  if (rows_.size() == count) return;
  for (Row& row : rows_) {
    chart()->removeItem(row.cursor);
    row.graphs->clear();
    row.name.reset();
    chart()->removeRect(row.rect);
  }
  rows_.clear();
  sides_.reset();
  chart()->plotLayout()->simplify();
  if (count == 0) return;
  sides_ = std::make_unique<QCPMarginGroup>(chart());
  for (std::size_t i = 0; i < count; ++i) {
    Row row;
    row.rect = chart()->addRect(static_cast<int>(i));
    row.rect->setMinimumSize(20, 12);
    QCPAxis* const x = row.rect->axis(QCPAxis::atBottom);
    QCPAxis* const y = row.rect->axis(QCPAxis::atLeft);
    row.graphs = std::make_unique<GraphPool>(x, y);
    row.name = std::make_unique<EndLabels>(row.rect);
    row.rect->setMarginGroup(QCP::msLeft, sides_.get());
    row.cursor = new QCPItemStraightLine(chart());
    row.cursor->setLayer(QLatin1String(Chart::highlight_layer));
    row.cursor->setClipAxisRect(row.rect);
    for (QCPItemPosition* point : {row.cursor->point1, row.cursor->point2}) {
      point->setAxisRect(row.rect);
      point->setAxes(x, y);
      point->setTypeX(QCPItemPosition::ptPlotCoords);
      point->setTypeY(QCPItemPosition::ptAxisRectRatio);
    }
    row.cursor->setVisible(false);
    rows_.push_back(std::move(row));
  }
}

void DecodingTraces::placeWindows(const std::vector<std::int64_t>& bins) {
  stretches_ = stretches(bins);
  places_.clear();
  for (std::size_t i = 0; i < stretches_.size(); ++i)
    for (std::size_t window = stretches_[i].first; window < stretches_[i].second; ++window)
      places_.push_back(static_cast<double>(window) + pause * static_cast<double>(i));
}

void DecodingTraces::draw(const DecodingPicture& picture) {
  const DecodingData& data = picture.current.answer;
  const double fitting = std::floor((height() - legend_and_axis) / lowest_row);
  std::size_t shown = 1;
  if (data.outputs && !picture.output)
    shown = static_cast<std::size_t>(std::clamp(fitting, 1.0, static_cast<double>(picture.answers())));
  setRows(shown);
  placeWindows(data.bins);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].output = picture.output && data.outputs ? *picture.output : i;
    drawLines(rows_[i], picture);
  }
  drawAxes(picture);
  nameRows(picture);
  drawLegend(picture);
}

QCPGraph* DecodingTraces::drawLine(Row& row, const Tensor& trace, const QPen& pen) {
  QVector<QCPGraphData> line;
  for (const auto& [first, end] : stretches_) {
    if (!line.isEmpty()) line.append({places_[first] - pause / 2, std::numeric_limits<double>::quiet_NaN()});
    for (std::size_t window = first; window < end; ++window)
      line.append({places_[window], at(trace, window, row.output)});
  }
  QCPGraph* const graph = row.graphs->next();
  graph->setPen(pen);
  graph->data()->set(line, true);
  return graph;
}

void DecodingTraces::drawDots(Row& row, const Tensor& trace, const QCPScatterStyle& style) {
  QVector<QCPGraphData> dots;
  for (std::size_t window = 0; window < places_.size(); ++window)
    dots.append({places_[window], at(trace, window, row.output)});
  QCPGraph* const graph = row.graphs->next();
  graph->setLineStyle(QCPGraph::lsNone);
  graph->setScatterStyle(style);
  graph->data()->set(dots, true);
}

void DecodingTraces::drawLines(Row& row, const DecodingPicture& picture) {
  const Decoded& run = picture.current;
  const DecodingData& data = run.answer;
  const QColor color = theme().runColor(run.palette_index);
  QPen pale(theme().underlay(), 4 * theme().scale());
  pale.setCapStyle(Qt::RoundCap);
  const bool alone = stretches_.size() == places_.size();  // every window: no line would be seen
  row.graphs->begin();
  drawLine(row, data.truth, pale);
  if (alone) drawDots(row, data.truth, scatterStyle(theme(), disc, theme().underlay(), 7));
  if (data.outputs) {
    if (isThere(data.ideal.trace)) drawLine(row, data.ideal.trace, theme().referencePen(Reference::oracle, 1.5));
    drawLine(row, data.model.trace, QPen(color, 1.5 * theme().scale()));
    if (alone) drawDots(row, data.model.trace, scatterStyle(theme(), disc, color, 4));
  } else {
    if (isThere(data.ideal.trace)) {
      drawLine(row, data.ideal.trace, theme().referencePen(Reference::oracle, 1.5))
          ->setLineStyle(QCPGraph::lsStepCenter);
      if (alone) drawDots(row, data.ideal.trace, scatterStyle(theme(), cross, theme().neutral(), 5));
    }
    drawDots(row, data.model.trace, scatterStyle(theme(), disc, color, 5));
  }
  row.graphs->end();
}

void DecodingTraces::drawAxes(const DecodingPicture& picture) {
  const DecodingData& data = picture.current.answer;
  const bool of_time = data.bin_seconds > 0;
  QString title = of_time ? tr("Time in the recording (s)") : tr("Last bin of the window");
  if (stretches_.size() > 1) title += tr(", pauses left out");

  // Ticks stand at round times: one in a stretch, or evenly along a single one.
  const QFontMetricsF metrics(theme().smallFont());
  const double unit = of_time ? data.bin_seconds : 1;
  const double widest = metrics.horizontalAdvance(picture.timeText(data.bins.back())) + theme().px(8);
  constexpr double share_of_axis = 0.75;
  const double room = share_of_axis * chart()->viewport().width();
  const double span = places_.back() - places_.front() + pause;
  const double step = stretches_.size() == 1 ? std::max(unit, niceAbove(widest / room * span * unit))
                                             : stepOfStretches(data.bins, stretches_, unit);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  const QSharedPointer<QCPAxisTickerText> ticks(new QCPAxisTickerText);
  double free_from = -std::numeric_limits<double>::infinity();
  for (const auto& [first, end] : stretches_)
    for (std::size_t window = first; window < end; ++window) {
      if (!standsAt(data.bins[window], unit, step)) continue;
      if (const double pixel = places_[window] / span * room; pixel >= free_from) {
        const double time = static_cast<double>(data.bins[window]) * unit;
        ticks->addTick(places_[window], of_time ? fixedText(time, decimals) : stepText(data.bins[window]));
        free_from = pixel + widest;
      }
      if (stretches_.size() > 1) break;
    }

  const double each = (height() - legend_and_axis) / static_cast<double>(rows_.size());
  const std::size_t classes = picture.answers();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const bool lowest = i + 1 == rows_.size();
    QCPAxis* const x = row.rect->axis(QCPAxis::atBottom);
    QCPAxis* const y = row.rect->axis(QCPAxis::atLeft);
    // Equal heights, though the lowest row has the time axis below it.
    chart()->plotLayout()->setRowStretchFactor(static_cast<int>(i) + 1,
                                               lowest ? 1 + time_axis / std::max(each, 1.0) : 1);
    row.rect->setMinimumMargins(QMargins(theme().px(28), theme().px(3), theme().px(10), theme().px(3)));
    x->setTicker(ticks);
    x->setRange(places_.front() - pause / 2, places_.back() + pause / 2);
    x->setTickLabels(lowest);
    QString name;
    if (data.outputs) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const Tensor* trace : {&data.truth, &data.model.trace, &data.ideal.trace})
        for (std::size_t window = 0; isThere(*trace) && window < places_.size(); ++window) {
          const double value = at(*trace, window, row.output);
          if (!std::isfinite(value)) continue;
          low = std::min(low, value);
          high = std::max(high, value);
        }
      const AxisRange range = low <= high ? linearRange(low, high, std::nullopt) : AxisRange{};
      y->setTicker(rows_.size() > 1 && low < 0 && high > 0 ? lowRowTicker(low, high, each < row_for_all_ticks)
                                                           : QSharedPointer<QCPAxisTicker>(new TidyTicker));
      y->setRange(range.lower, range.upper);
      y->setRangeReversed(false);
      y->grid()->setZeroLinePen(QPen(theme().line(), theme().scale()));
      if (picture.output) name = picture.answerName(row.output);
    } else {
      const QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
      const double line = each * theme().scale() / static_cast<double>(classes);
      const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(metrics.height() / std::max(line, 1.0))));
      for (std::size_t answer = 0; answer < classes; answer += every)
        names->addTick(static_cast<double>(answer), picture.answerName(answer));
      y->setTicker(names);
      y->setRange(-0.5, static_cast<double>(classes) - 0.5);
      y->setRangeReversed(true);
      name = picture.angles ? tr("Direction") : tr("Class");
    }
    chart()->setAxisTitles(row.rect, lowest ? title : QString(), name);
  }
}

void DecodingTraces::nameRows(const DecodingPicture& picture) {
  const std::vector<double>& scores = picture.current.answer.model.r_squared;
  int margin = 0;
  for (const Row& row : rows_) {
    std::vector<EndLabel> labels;
    if (picture.current.answer.outputs && !picture.output) {
      const QCPRange range = row.rect->axis(QCPAxis::atLeft)->range();
      QString text = picture.answerName(row.output);
      if (width() >= room_for_scores) text += tr("  R² %1").arg(fixedText(scores[row.output], 2));
      labels.push_back({range.center(), text, theme().text()});
    }
    row.name->setTheme(theme());
    row.name->setLabels(std::move(labels));
    margin = std::max(margin, row.rect->margins().right());
  }
  for (const Row& row : rows_) {
    QMargins margins = row.rect->margins();
    margins.setRight(margin);
    row.rect->setMargins(margins);
  }
}

void DecodingTraces::drawLegend(const DecodingPicture& picture) {
  const Decoded& run = picture.current;
  const QColor color = theme().runColor(run.palette_index);
  const bool outputs = run.answer.outputs;
  std::vector<LegendEntry> legend = {
      {outputs ? tr("recorded") : tr("true"), QPen(theme().underlay(), 4 * theme().scale()), -1, {}},
      {run.title, outputs ? QPen(color, 1.5 * theme().scale()) : QPen(Qt::NoPen), outputs ? -1 : disc, color}};
  if (isThere(run.answer.ideal.trace))
    legend.push_back({tr("ideal decoder"), theme().referencePen(Reference::oracle, 1.5), -1, {}});
  if (outputs && !picture.output && rows_.size() < picture.answers())
    legend.push_back(
        {tr("%1 of %2 outputs have room").arg(rows_.size()).arg(picture.answers()), QPen(Qt::NoPen), -1, {}});
  chart()->flowLegend()->setEntries(std::move(legend));
}

std::optional<DecodingReadout> DecodingTraces::read(const DecodingPicture& picture, const QPointF& pixel) {
  const auto row = std::ranges::find_if(
      rows_, [&](const Row& candidate) { return candidate.rect->rect().contains(pixel.toPoint()); });
  if (row == rows_.end()) {
    leave();
    return std::nullopt;
  }
  const double wanted = row->rect->axis(QCPAxis::atBottom)->pixelToCoord(pixel.x());
  const auto nearest = std::ranges::min_element(places_, {}, [&](double place) { return std::abs(place - wanted); });
  const auto window = static_cast<std::size_t>(nearest - places_.begin());
  for (const Row& other : rows_) {
    other.cursor->point1->setCoords(*nearest, 0);
    other.cursor->point2->setCoords(*nearest, 1);
    other.cursor->setPen(QPen(theme().highlight(), 2 * theme().scale()));
    other.cursor->setVisible(true);
  }
  chart()->replotHighlight();

  const DecodingData& data = picture.current.answer;
  QCPAxis* const y = row->rect->axis(QCPAxis::atLeft);
  DecodingReadout readout{QStringLiteral("<b>%1</b>").arg(picture.timeText(data.bins[window])),
                          {row->rect->axis(QCPAxis::atBottom)->coordToPixel(*nearest), pixel.y()}};
  if (data.outputs) readout.text += QStringLiteral("<br>") + picture.answerName(row->output).toHtmlEscaped();
  const auto add = [&](const QString& name, const Tensor& trace) {
    if (!isThere(trace)) return;
    const double value = at(trace, window, row->output);
    readout.text +=
        QStringLiteral("<br>%1: %2")
            .arg(name, data.outputs ? valueText(value) : picture.answerName(static_cast<std::size_t>(value)));
    readout.avoid.emplace_back(readout.anchor.x(), y->coordToPixel(value));
  };
  add(data.outputs ? tr("recorded") : tr("true"), data.truth);
  add(tr("decoded"), data.model.trace);
  add(tr("ideal decoder"), data.ideal.trace);
  return readout;
}

void DecodingTraces::leave() {
  if (rows_.empty() || !rows_.front().cursor->visible()) return;
  for (const Row& row : rows_) row.cursor->setVisible(false);
  chart()->replotHighlight();
}

}  // namespace mambarium
