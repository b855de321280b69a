#include "ui/plots/reconstruction_panel.h"

#include <QFontMetricsF>
#include <QSpinBox>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {

namespace {

constexpr double smallest_drawn = 1e-18;  // an error of 0 has no place on a logarithmic axis
constexpr int square = 1;
// Lengths of the 13-pixel design.
constexpr double room_for_legend = 210, room_for_position_title = 150;
constexpr double legend_and_strip = 42, position_axis = 44, between_rows = 14;

}  // namespace

ReconstructionPanel::ReconstructionPanel(QWidget* parent)
    : ChannelPanel(QStringLiteral("reconstruction"), tr("Reconstruction"),
                   tr("The state replayed from z alone will appear here, beside the state. Press Play (Space) to train "
                      "a Motif-Mamba."),
                   {.layer_name = tr("Layer of the reconstruction"),
                    .layer_tip = tr("Which layer's state is replayed"),
                    .channel_name = tr("Channel of the reconstruction"),
                    .channel_tip = tr("Which channel's state is replayed")},
                   parent),
      replayed_(addAligned(2)),
      error_(addAligned(3)),
      lines_(error_->axis(QCPAxis::atBottom), error_->axis(QCPAxis::atLeft)) {
  addControl(channelBox());
  state_cells_ = new CellMap(xAxis(), yAxis());
  replayed_cells_ = new CellMap(replayed_->axis(QCPAxis::atBottom), replayed_->axis(QCPAxis::atLeft));
}

nlohmann::json ReconstructionPanel::options() const {
  return withChannel({});
}

void ReconstructionPanel::setOptions(const nlohmann::json& options) {
  const std::int64_t probe = probeFrom(options);
  const Chosen wanted = channelFrom(options);
  setProbe(probe);
  if (wanted == chosen()) return;
  choose(wanted);
  redraw();
}

bool ReconstructionPanel::prepare(const PanelChange& change) {
  if (change.inspected) {
    readAnswer(answer_);
    setWindow(answer_.window);
  }
  if (change.runs) fillChannels();
  return !answer_.tokens.empty();
}

double ReconstructionPanel::largestError() const {
  if (answer_.error.empty()) return std::numeric_limits<double>::quiet_NaN();
  return *std::ranges::max_element(answer_.error);
}

void ReconstructionPanel::draw() {
  drawTokens();
  drawStates(answer_.state, state_cells_, rect(), fitting(tr("State hₜ"), tr("hₜ")));
  drawStates(answer_.replayed, replayed_cells_, replayed_, fitting(tr("From z"), tr("z")));
  xAxis()->setTickLabels(false);
  replayed_->axis(QCPAxis::atBottom)->setTickLabels(false);
  drawError();
  std::vector<LegendEntry> legend;
  const double largest = largestState();
  if (largest > 0 && chart()->viewport().height() >= room_for_legend * theme().scale())
    for (const double sign : {-1.0, 1.0})
      legend.push_back(
          {tr("state %1").arg(significantText(sign * largest, 2)), QPen(Qt::NoPen), square, theme().diverging(sign)});
  chart()->flowLegend()->setEntries(std::move(legend));
}

double ReconstructionPanel::largestState() const {
  double largest = 0;
  for (const float value : answer_.state.data)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

double ReconstructionPanel::rowHeight() const {
  constexpr int rows = 3;
  const double taken = legend_and_strip + position_axis + (rows - 1) * between_rows;
  return std::max(chart()->viewport().height() - taken * theme().scale(), 1.0) / rows;
}

QString ReconstructionPanel::fitting(const QString& title, const QString& brief) const {
  return QFontMetricsF(theme().axisFont()).horizontalAdvance(title) <= rowHeight() ? title : brief;
}

void ReconstructionPanel::drawStates(const Tensor& states, CellMap* cells, QCPAxisRect* where, const QString& title) {
  const double largest = largestState();
  const auto length = static_cast<int>(answer_.tokens.size());
  std::vector<QColor> colors;
  for (int row = 0; row < width(); ++row)
    for (int t = 0; t < length; ++t) {
      const auto value = static_cast<double>(states.data[static_cast<std::size_t>(t * width() + row)]);
      colors.push_back(theme().diverging(largest > 0 ? value / largest : 0));
    }
  cells->setCells(width(), length, std::move(colors), {}, 1);
  chart()->setAxisTitles(where, {}, title);
  QCPAxis* const y = where->axis(QCPAxis::atLeft);
  y->setTickLabels(false);
  y->setTicks(false);
  y->grid()->setVisible(false);
  y->setRange(-0.5, width() - 0.5);
  y->setRangeReversed(true);
}

void ReconstructionPanel::drawError() {
  lines_.begin();
  QCPGraph* const graph = lines_.next();
  QVector<QCPGraphData> points;
  double largest = 1e-16;
  for (std::size_t t = 0; t < answer_.error.size(); ++t) {
    const double error = answer_.error[t];
    points.append({static_cast<double>(t) + 1, std::max(error, smallest_drawn)});
    if (std::isfinite(error)) largest = std::max(largest, error);
  }
  const RunSeries* const run = currentRun();
  graph->setPen(theme().runPen(run ? run->palette_index : 0, 0));
  graph->data()->set(points, true);
  lines_.end();
  const bool has_room = chart()->viewport().height() >= room_for_position_title * theme().scale();
  chart()->setAxisTitles(error_, has_room ? positionTitle() : QString(), fitting(tr("Error"), {}));
  QCPAxis* const y = error_->axis(QCPAxis::atLeft);
  y->setScaleType(QCPAxis::stLogarithmic);
  y->setRange(smallest_drawn, 10 * largest);
  // From the lowest power of ten on, as many as have room.
  const double decades = std::log10(10 * largest / smallest_drawn);
  const double line = QFontMetricsF(theme().smallFont()).height();
  const int every = std::max(1, static_cast<int>(std::ceil(decades * line / rowHeight())));
  const QSharedPointer<QCPAxisTickerText> ticks(new QCPAxisTickerText);
  for (int power = 0; power <= decades; power += every) {
    const double tick = smallest_drawn * std::pow(10.0, power);
    ticks->addTick(tick, powerText(tick));
  }
  y->setTicker(ticks);
}

QString ReconstructionPanel::readout(int position) const {
  return tr("<br>largest difference of a state: %1").arg(powerText(answer_.error[static_cast<std::size_t>(position)]));
}

QString ReconstructionPanel::describe() const {
  const QString text =
      tr("Step %1, layer %2, channel %3: replayed from z, inputs and parameters alone, the %4 states "
         "differ by at most %5 from the model's recurrence in double, and its own float32 states by %6.")
          .arg(stepText(answer_.step))
          .arg(answer_.layer + 1)
          .arg(answer_.channel + 1)
          .arg(width())
          .arg(powerText(largestError()), powerText(answer_.float_error));
  return text + windowText();
}

PanelTable ReconstructionPanel::table() const {
  PanelTable table;
  table.columns = {QStringLiteral("t"), QStringLiteral("token"),    QStringLiteral("state"),
                   QStringLiteral("h"), QStringLiteral("replayed"), QStringLiteral("error")};
  if (!hasData()) return table;
  for (std::size_t t = 0; t < answer_.tokens.size(); ++t)
    for (int row = 0; row < width(); ++row) {
      const auto cell = t * static_cast<std::size_t>(width()) + static_cast<std::size_t>(row);
      table.rows.push_back({exactText(static_cast<std::int64_t>(t) + 1), exactText(std::int64_t{answer_.tokens[t]}),
                            exactText(std::int64_t{row + 1}), exactText(answer_.state.data[cell]),
                            exactText(answer_.replayed.data[cell]), exactText(answer_.error[t])});
    }
  return table;
}

}  // namespace mambarium
