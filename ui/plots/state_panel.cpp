#include "ui/plots/state_panel.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr std::size_t most_rows = 48, most_lines = 8;
constexpr int most_read_off = 4;                          // transitions in the readout next to the mouse
constexpr double counts_well = 0.8, counts_partly = 0.2;  // shares from which the caption says so

}  // namespace

StatePanel::StatePanel(QWidget* parent)
    : TokenPanel(
          QStringLiteral("state"), tr("State"),
          tr("The model's recurrent state will appear here, above the transitions it may be counting. Press Play "
             "(Space) to train."),
          parent),
      counts_(addAligned(2)),
      read_(addAligned(3)),
      lines_(counts_->axis(QCPAxis::atBottom), counts_->axis(QCPAxis::atLeft)) {
  view_box_ = addChoice({tr("Lines"), tr("Maps")}, tr("View of the counts"),
                        tr("The transition counts and what is read out of the state, as lines or as maps"));
  layer_box_ = addChoice({}, tr("Layer of the state"), tr("Which layer's state is shown"));
  head_box_ = addChoice({}, tr("Head of the state"), tr("Which head's state is shown"));
  const auto makeCells = [](QCPAxisRect* rect) {
    return new CellMap(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
  };
  state_cells_ = makeCells(rect());
  count_cells_ = makeCells(counts_);
  read_cells_ = makeCells(read_);
  updateChoices();
  connect(view_box_, &QComboBox::currentIndexChanged, this, [this](int index) {
    maps_ = index == 1;
    redraw();
  });
  const auto choose = [this](std::int64_t StatePanel::*which) {
    return [this, which](int index) {
      this->*which = index;
      redraw();
    };
  };
  connect(layer_box_, &QComboBox::activated, this, choose(&StatePanel::layer_));
  connect(head_box_, &QComboBox::activated, this, choose(&StatePanel::head_));
}

std::optional<InspectRequest> StatePanel::wants() const {
  InspectRequest request = *TokenPanel::wants();
  const RunSeries* run = currentRun();
  request.layer = run ? std::min(layer_, run->config.integer("model.layers") - 1) : layer_;
  request.head = run ? std::min(head_, d_inner_of(run->config) / headdim_of(run->config) - 1) : head_;
  return request;
}

nlohmann::json StatePanel::options() const {
  return withProbe({{"view", maps_ ? "maps" : "lines"}, {"layer", layer_}, {"head", head_}});
}

void StatePanel::setOptions(const nlohmann::json& options) {
  const std::int64_t chosen = probeFrom(options);
  const std::string view = optionChoice(options, "state", "view", maps_ ? "maps" : "lines", {"lines", "maps"});
  const std::int64_t layer = optionInteger(options, "state", "layer", layer_, 0, 63);
  const std::int64_t head = optionInteger(options, "state", "head", head_, 0, 4095);
  setProbe(chosen);
  if (layer != layer_ || head != head_) {
    layer_ = layer;
    head_ = head;
    redraw();
  }
  view_box_->setCurrentIndex(view == "maps" ? 1 : 0);
}

bool StatePanel::prepare(const PanelChange& change) {
  if (change.inspected) readAnswer(answer_);
  if (change.runs) updateChoices();
  return !answer_.tokens.empty() && !answer_.state.data.empty();
}

void StatePanel::updateChoices() {
  const RunSeries* run = currentRun();
  const std::int64_t layers = run ? run->config.integer("model.layers") : 1;
  const std::int64_t heads = run ? d_inner_of(run->config) / headdim_of(run->config) : 1;
  fillNumbered(layer_box_, tr("Layer %1"), layers, layer_);
  fillNumbered(head_box_, tr("Head %1"), heads, head_);
}

int StatePanel::states() const {
  const RunSeries* run = currentRun();
  return run ? static_cast<int>(alphabet_of(run->config)) : static_cast<int>(answer_.states);
}

float StatePanel::number(int position, int index) const {
  return answer_.state
      .data[static_cast<std::size_t>(position) * static_cast<std::size_t>(numbers()) + static_cast<std::size_t>(index)];
}

float StatePanel::count(const Tensor& tensor, int position, int pair) const {
  return tensor
      .data[static_cast<std::size_t>(position) * static_cast<std::size_t>(pairs()) + static_cast<std::size_t>(pair)];
}

QString StatePanel::numberName(int index) const {
  const auto width = static_cast<int>(answer_.state.shape[2]);
  return tr("channel %1, index %2").arg(index / width).arg(index % width);
}

QString StatePanel::pairName(int pair) const {
  const auto base = static_cast<int>(answer_.states);
  QStringList context;
  for (int rest = pair / base, k = 0; k < static_cast<int>(answer_.order); ++k, rest /= base)
    context.prepend(QString::number(rest % base));
  return tr("%1 → %2").arg(context.join(u' ')).arg(pair % base);
}

std::vector<int> StatePanel::shownNumbers() const {
  std::vector<int> all(static_cast<std::size_t>(numbers()));
  std::iota(all.begin(), all.end(), 0);
  if (all.size() <= most_rows) return all;
  const auto spread = [this](int index) {
    double sum = 0, squares = 0;
    for (int t = 0; t < length(); ++t) {
      const auto value = static_cast<double>(number(t, index));
      sum += value;
      squares += value * value;
    }
    return squares - sum * sum / length();
  };
  std::vector<double> spreads;
  for (const int index : all) spreads.push_back(spread(index));
  std::ranges::stable_sort(all, std::greater(), [&](int index) { return spreads[static_cast<std::size_t>(index)]; });
  all.resize(most_rows);
  std::ranges::sort(all);
  return all;
}

std::vector<int> StatePanel::shownPairs() const {
  std::vector<int> all(static_cast<std::size_t>(pairs()));
  std::iota(all.begin(), all.end(), 0);
  if (all.size() <= most_lines) return all;
  const auto highest = [this](int pair) {
    float most = 0;
    for (int t = 0; t < length(); ++t) most = std::max(most, count(answer_.counts, t, pair));
    return most;
  };
  std::ranges::stable_sort(all, std::greater(), highest);
  all.resize(most_lines);
  std::ranges::sort(all);
  return all;
}

void StatePanel::draw() {
  drawTokens();
  chart()->setShown(read_, maps_);
  read_cells_->setCells(0, 0, {});
  count_cells_->setCells(0, 0, {});
  drawState();
  lines_.begin();
  if (!maps_) drawLines();
  lines_.end();
  if (maps_) drawMaps();
}

void StatePanel::drawState() {
  const std::vector<int> rows = shownNumbers();
  double largest = 0;
  for (const float value : answer_.state.data)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  if (largest == 0) largest = 1;
  std::vector<QColor> colors;
  for (const int row : rows)
    for (int t = 0; t < length(); ++t)
      colors.push_back(theme().diverging(static_cast<double>(number(t, row)) / largest));
  state_cells_->setCells(static_cast<int>(rows.size()), length(), std::move(colors), {}, 1);
  chart()->setAxisTitles(rect(), {}, tr("State Hₜ"));
  xAxis()->setTickLabels(false);
  yAxis()->setTickLabels(false);
  yAxis()->setTicks(false);
  yAxis()->grid()->setVisible(false);
  yAxis()->setRange(-0.5, static_cast<double>(rows.size()) - 0.5);
  yAxis()->setRangeReversed(true);
}

void StatePanel::drawLines() {
  double low = 0, high = 1;
  std::vector<LegendEntry> legend;
  int style = 0;
  for (const int pair : shownPairs()) {
    const QColor color = theme().runColor(style++);
    QColor pale = color;
    pale.setAlpha(90);
    for (const auto& [tensor, pen] : {std::pair(&answer_.counts, QPen(pale, 4 * theme().scale())),
                                      std::pair(&answer_.read_out, QPen(color, 1.25 * theme().scale()))}) {
      QVector<QCPGraphData> points;
      for (int t = 0; t < length(); ++t) {
        const auto value = static_cast<double>(count(*tensor, t, pair));
        points.append({t + 1.0, value});
        low = std::min(low, value);
        high = std::max(high, value);
      }
      QCPGraph* graph = lines_.next();
      graph->setPen(pen);
      graph->data()->set(points, true);
    }
    legend.push_back({pairName(pair), QPen(color, 1.5 * theme().scale()), -1, {}});
  }
  QPen pale(theme().underlay(), 4 * theme().scale());
  legend.push_back({tr("true count"), pale, -1, {}});
  legend.push_back({tr("read out of Hₜ"), QPen(theme().neutral(), 1.25 * theme().scale()), -1, {}});
  chart()->flowLegend()->setEntries(std::move(legend));
  chart()->setAxisTitles(counts_, tr("Position t (tokens)"), tr("Count"));
  QCPAxis* y = counts_->axis(QCPAxis::atLeft);
  y->setRange(low * 1.05, linearRange(0, high, std::nullopt).upper);
  y->setRangeReversed(false);
  y->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker));
  y->grid()->setVisible(true);
  counts_->axis(QCPAxis::atBottom)->setTickLabels(true);
}

void StatePanel::drawMaps() {
  drawCountMap(answer_.counts, count_cells_, counts_, tr("Counts"));
  drawCountMap(answer_.read_out, read_cells_, read_, tr("Read out"));
  counts_->axis(QCPAxis::atBottom)->setTickLabels(false);
  chart()->setAxisTitles(read_, tr("Position t (tokens)"), tr("Read out"));
  double most = 1;
  for (const float value : answer_.counts.data) most = std::max(most, static_cast<double>(value));
  constexpr int square = 1;
  chart()->flowLegend()->setEntries({{tr("count 0"), QPen(Qt::NoPen), square, theme().sequential(0)},
                                     {tr("%1").arg(most / 2), QPen(Qt::NoPen), square, theme().sequential(0.5)},
                                     {tr("%1").arg(most), QPen(Qt::NoPen), square, theme().sequential(1)}});
}

void StatePanel::drawCountMap(const Tensor& tensor, CellMap* cells, QCPAxisRect* where, const QString& title) {
  double most = 1;
  for (const float value : answer_.counts.data) most = std::max(most, static_cast<double>(value));
  std::vector<QColor> colors;
  for (int pair = 0; pair < pairs(); ++pair)
    for (int t = 0; t < length(); ++t)
      colors.push_back(theme().sequential(static_cast<double>(count(tensor, t, pair)) / most));
  cells->setCells(pairs(), length(), std::move(colors), {}, 1);
  chart()->setAxisTitles(where, {}, title);
  QCPAxis* y = where->axis(QCPAxis::atLeft);
  QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
  if (pairs() <= static_cast<int>(most_lines))
    for (int pair = 0; pair < pairs(); ++pair) names->addTick(pair, pairName(pair));
  y->setTicker(names);
  y->setRange(-0.5, pairs() - 0.5);
  y->setRangeReversed(true);
  y->grid()->setVisible(false);
}

QString StatePanel::readout(int position) const {
  QString text;
  std::vector<int> shown = shownPairs();
  if (shown.size() > most_read_off) shown.resize(most_read_off);
  for (const int pair : shown)
    text += tr("<br>%1: %2, read out %3")
                .arg(pairName(pair), fixedText(static_cast<double>(count(answer_.counts, position, pair)), 0),
                     fixedText(static_cast<double>(count(answer_.read_out, position, pair)), 1));
  return text;
}

QString StatePanel::describe() const {
  // Of what token frequencies alone leave open, the share that the state knows.
  const double share = (answer_.r_squared - answer_.r_squared_tokens) / (1 - answer_.r_squared_tokens);
  const QString verdict = share >= counts_well     ? tr("it counts")
                          : share >= counts_partly ? tr("it counts in part")
                                                   : tr("it does not count");
  QString text =
      tr("Step %1, layer %2, head %3: a linear map reads the transition counts out of the state with R² = %4 "
         "on other sequences, %5 from token frequencies alone: %6")
          .arg(stepText(answer_.step))
          .arg(answer_.layer + 1)
          .arg(answer_.head + 1)
          .arg(fixedText(answer_.r_squared, 3), fixedText(answer_.r_squared_tokens, 3), verdict);
  if (const auto drawn = shownNumbers().size(); static_cast<int>(drawn) < numbers())
    text += tr("; of its %1 numbers the %2 that vary most are drawn").arg(numbers()).arg(drawn);
  if (!maps_ && pairs() > static_cast<int>(most_lines))
    text += tr("; of %1 transitions the %2 most frequent are drawn").arg(pairs()).arg(most_lines);
  return text + u'.';
}

PanelTable StatePanel::table() const {
  PanelTable table;
  table.columns = {QStringLiteral("t"), QStringLiteral("token"), QStringLiteral("quantity"), QStringLiteral("which"),
                   QStringLiteral("value")};
  if (!hasData()) return table;
  for (int t = 0; t < length(); ++t) {
    const auto add = [&](const char* quantity, const QString& which, float value) {
      table.rows.push_back({exactText(std::int64_t{t + 1}),
                            exactText(std::int64_t{answer_.tokens[static_cast<std::size_t>(t)]}),
                            QLatin1String(quantity), which, exactText(value)});
    };
    for (int index = 0; index < numbers(); ++index) add("state", numberName(index), number(t, index));
    for (int pair = 0; pair < pairs(); ++pair) {
      add("count", pairName(pair), count(answer_.counts, t, pair));
      add("read_out", pairName(pair), count(answer_.read_out, t, pair));
    }
  }
  return table;
}

}  // namespace mambarium
