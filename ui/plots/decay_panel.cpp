#include "ui/plots/decay_panel.h"

#include <QComboBox>
#include <QToolButton>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/decay_histogram.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr double lowest_forgotten = 5e-8;  // below one step of a float32 next to 1
constexpr double narrowest_marked = 2.5;   // pixels a token must have for markers on the curve
constexpr int diamond = 2;                 // of the switch token
constexpr std::array view_names = {"factor", "horizon", "histogram"};

QString decayTickText(double forgotten) {
  const int exponent = static_cast<int>(std::floor(std::log10(forgotten) + 1e-9));
  return fixedText(1 - forgotten, std::max(0, -exponent));
}

QString horizonTickText(double forgotten) {
  return stepText(std::llround(1 / forgotten));
}

QString horizonText(double a) {
  return a >= 1 ? QStringLiteral("∞") : a > 0.9 ? stepText(std::llround(1 / (1 - a))) : fixedText(1 / (1 - a), 1);
}

}  // namespace

DecayPanel::DecayPanel(QWidget* parent)
    : TokenPanel(QStringLiteral("decay"), tr("Decay factors"),
                 tr("How much of its state the model keeps at every token, aₜ, will appear here. Press Play (Space) to "
                    "train."),
                 parent),
      log_ticker_(new LogStripTicker(decayTickText)),
      horizon_ticker_(new LogStripTicker(horizonTickText)),
      linear_ticker_(new TidyTicker) {
  view_box_ = addChoice({tr("aₜ"), tr("Horizon"), tr("Histogram")}, tr("View of the decay factors"),
                        tr("The factor aₜ along the sequence, the count horizon 1/(1 − aₜ), or a histogram of aₜ"));
  connect(view_box_, &QComboBox::currentIndexChanged, this, [this](int index) {
    view_ = static_cast<View>(index);
    redraw();
  });
  log_button_ = addToggle(tr("Log 1 − a"), tr("Spread out decay factors near 1"),
                          tr("Space the axis by the logarithm of 1 − aₜ, or linearly from 0 to 1"), log_);
  connect(log_button_, &QToolButton::toggled, this, [this](bool on) {
    log_ = on;
    redraw();
  });
  one_strip_ = new QCPItemRect(chart());
  one_strip_->setLayer(QStringLiteral("grid"));
  one_strip_->setClipAxisRect(rect());
  one_strip_->setPen(Qt::NoPen);
  for (auto* corner : {one_strip_->topLeft, one_strip_->bottomRight}) {
    corner->setAxes(xAxis(), yAxis());
    corner->setAxisRect(rect());
  }
}

nlohmann::json DecayPanel::options() const {
  return withProbe({{"view", view_names[static_cast<std::size_t>(view_)]}, {"scale", log_ ? "log" : "linear"}});
}

void DecayPanel::setOptions(const nlohmann::json& options) {
  const std::int64_t chosen = probeFrom(options);
  const std::string scale = optionChoice(options, "decay", "scale", log_ ? "log" : "linear", {"log", "linear"});
  const std::string view = optionChoice(options, "decay", "view", view_names[static_cast<std::size_t>(view_)],
                                        {view_names[0], view_names[1], view_names[2]});
  setProbe(chosen);
  view_box_->setCurrentIndex(static_cast<int>(std::ranges::find(view_names, view) - view_names.begin()));
  log_button_->setChecked(scale == "log");
}

bool DecayPanel::prepare(const PanelChange& change) {
  if (change.runs) log_range_.reset();
  if (change.inspected) readAnswer(answer_);
  return !answer_.tokens.empty() && !answer_.decay.data.empty();
}

int DecayPanel::states() const {
  const std::int32_t largest = *std::max_element(answer_.tokens.begin(), answer_.tokens.end());
  const RunSeries* run = currentRun();
  return std::max(largest + 1, run ? static_cast<int>(alphabet_of(run->config)) : 2);
}

float DecayPanel::factor(int layer, int head, int position) const {
  const auto length = answer_.tokens.size();
  return answer_.decay
      .data[static_cast<std::size_t>(layer * heads() + head) * length + static_cast<std::size_t>(position)];
}

double DecayPanel::drawn(float a) const {
  if (!isLog() || !log_range_) return static_cast<double>(a);
  return log_range_->place(1 - static_cast<double>(a));
}

std::vector<double> DecayPanel::drawnValues(int position) const {
  std::vector<double> values;
  for (int layer = 0; layer < layers(); ++layer)
    for (int head = 0; head < heads(); ++head) values.push_back(drawn(factor(layer, head, position)));
  return values;
}

QString DecayPanel::lineName(int layer, int head) const {
  if (layers() == 1 && heads() == 1) return tr("aₜ");
  if (layers() == 1) return tr("head %1").arg(head + 1);
  if (heads() == 1) return tr("layer %1").arg(layer + 1);
  return tr("layer %1, head %2").arg(layer + 1).arg(head + 1);
}

int DecayPanel::paletteOf(int layer, int head) const {
  const RunSeries* run = currentRun();
  return (run ? run->palette_index : 0) + layer * heads() + head;
}

void DecayPanel::updateDecayAxis() {
  LogRangeFinder finder(lowest_forgotten);
  for (const float a : answer_.decay.data) finder.add(1 - static_cast<double>(a));
  log_range_ = finder.range(log_range_);
  log_range_->upper = std::min(log_range_->upper, 1.0);
  log_range_->floor = std::min(log_range_->floor, 0.2);
  const bool upright = view_ != View::histogram;
  setUpDecayAxis(upright ? yAxis() : xAxis());
  one_strip_->setVisible(isLog() && log_range_->has_strip);
  one_strip_->setBrush(theme().grid());
  const auto along = upright ? &QCPItemPosition::setTypeY : &QCPItemPosition::setTypeX;
  const auto across = upright ? &QCPItemPosition::setTypeX : &QCPItemPosition::setTypeY;
  for (auto* corner : {one_strip_->topLeft, one_strip_->bottomRight}) {
    (corner->*along)(QCPItemPosition::ptPlotCoords);
    (corner->*across)(QCPItemPosition::ptAxisRectRatio);
  }
  const double near = log_range_->end(), far = log_range_->floor;
  one_strip_->topLeft->setCoords(upright ? 0 : near, upright ? near : 0);
  one_strip_->bottomRight->setCoords(upright ? 1 : far, upright ? far : 1);
}

void DecayPanel::setUpDecayAxis(QCPAxis* axis) {
  // Where the state is forgotten aₜ is near 0, on the axis' end: room for the whole of a marker there.
  const bool has_switches = switchToken().has_value() && view_ != View::histogram;
  if (isLog()) {
    const bool horizon = view_ == View::horizon;
    const auto& ticker = horizon ? horizon_ticker_ : log_ticker_;
    ticker->setLogRange(*log_range_, horizon ? QStringLiteral("∞") : QStringLiteral("1"));
    axis->setScaleType(QCPAxis::stLogarithmic);
    axis->setTicker(ticker);
    axis->setRange(log_range_->end(), log_range_->upper * (has_switches ? 1.25 : 1));
  } else {
    axis->setScaleType(QCPAxis::stLinear);
    axis->setTicker(linear_ticker_);
    axis->setRange(has_switches ? -0.03 : 0, 1);
  }
  axis->setRangeReversed(isLog());
}

void DecayPanel::draw() {
  setAlongTokens(view_ != View::histogram, view_ != View::histogram);
  drawTokens();
  log_button_->setEnabled(view_ != View::horizon);
  updateDecayAxis();
  const QString factor = log_ ? tr("Decay aₜ (log of 1 − aₜ)") : tr("Decay aₜ");
  if (view_ == View::histogram) {
    chart()->setAxisTitles(rect(), factor, tr("Share of tokens"));
    drawHistogram();
    return;
  }
  chart()->setAxisTitles(rect(), tr("Position t (tokens)"),
                         view_ == View::horizon ? tr("Horizon 1/(1 − aₜ) (tokens)") : factor);

  graphs().begin();
  std::vector<LegendEntry> legend;
  for (int layer = 0; layer < layers(); ++layer)
    for (int head = 0; head < heads(); ++head) {
      drawLine(layer, head);
      const int style = layer * heads() + head;
      const bool alone = view_ == View::horizon && layers() * heads() == 1;
      const QString name = alone ? tr("1/(1 − aₜ)") : lineName(layer, head);
      legend.push_back({name, theme().runPen(paletteOf(layer, head), style, 1.25), -1, {}});
    }
  graphs().end();
  constexpr int disc = 0;
  const QColor ink = theme().neutral();
  const int ordinary = states() - (switchToken() ? 1 : 0);
  for (int token = 0; markerSize() > 0 && token < std::min(ordinary, 4); ++token) {
    const double filled = ordinary > 1 ? token / double(ordinary - 1) : 1;
    legend.push_back({tr("at token %1").arg(token), QPen(Qt::NoPen), disc,
                      token == 0 ? ink : Theme::mixed(theme().panel(), ink, filled), token == 0});
  }
  if (auto entry = switchEntry(diamond)) legend.push_back(*std::move(entry));
  chart()->flowLegend()->setEntries(std::move(legend));
}

double DecayPanel::markerSize() const {
  const double spacing =
      chart()->viewport().width() * 0.85 / theme().scale() / static_cast<double>(answer_.tokens.size());
  return spacing < narrowest_marked || layers() * heads() > 4 ? 0 : std::min(spacing, 4.5);
}

void DecayPanel::drawLine(int layer, int head) {
  const int count = static_cast<int>(answer_.tokens.size());
  const QColor color = theme().runColor(paletteOf(layer, head));
  QVector<QCPGraphData> line;
  std::vector<QVector<QCPGraphData>> marks(static_cast<std::size_t>(states()));
  for (int position = 0; position < count; ++position) {
    const QCPGraphData point(position + 1, drawn(factor(layer, head, position)));
    line.append(point);
    marks[static_cast<std::size_t>(answer_.tokens[static_cast<std::size_t>(position)])].append(point);
  }
  QCPGraph* graph = graphs().next();
  graph->setPen(theme().runPen(paletteOf(layer, head), layer * heads() + head, 1.25));
  graph->data()->set(line, true);

  if (const auto switch_token = switchToken()) {
    QCPGraph* switches = graphs().next();
    switches->setLineStyle(QCPGraph::lsNone);
    switches->setScatterStyle(scatterStyle(theme(), diamond, theme().switchColor(), 8));
    switches->data()->set(marks[static_cast<std::size_t>(*switch_token)], true);
    marks.resize(static_cast<std::size_t>(*switch_token));
  }
  if (markerSize() == 0) return;
  for (std::size_t token = 0; token < marks.size(); ++token) {
    QCPGraph* scatter = graphs().next();
    scatter->setLineStyle(QCPGraph::lsNone);
    const double filled = marks.size() > 1 ? static_cast<double>(token) / static_cast<double>(marks.size() - 1) : 1;
    scatter->setScatterStyle({Theme::markerPath(0), QPen(color, theme().scale()),
                              QBrush(Theme::mixed(theme().panel(), color, filled)), markerSize() * theme().scale()});
    scatter->data()->set(marks[token], true);
  }
}

QString DecayPanel::readout(int position) const {
  QString text;
  for (int layer = 0; layer < layers(); ++layer)
    for (int head = 0; head < heads(); ++head)
      text += QStringLiteral("<br><span style='color:%1'>●</span> %2 = %3")
                  .arg(theme().runColor(paletteOf(layer, head)).name(), lineName(layer, head),
                       tr("%1, horizon %2")
                           .arg(decayText(static_cast<double>(factor(layer, head, position))),
                                horizonText(static_cast<double>(factor(layer, head, position)))));
  return text;
}

DecayPanel::Means DecayPanel::means(int layer, int head) const {
  double sums[2] = {}, counts[2] = {};
  for (int l = std::max(layer, 0); l < (layer < 0 ? layers() : layer + 1); ++l)
    for (int h = std::max(head, 0); h < (head < 0 ? heads() : head + 1); ++h)
      for (int position = 0; position < static_cast<int>(answer_.tokens.size()); ++position) {
        const bool is_switch = answer_.tokens[static_cast<std::size_t>(position)] == switchToken();
        sums[is_switch] += static_cast<double>(factor(l, h, position));
        ++counts[is_switch];
      }
  return {sums[1] / counts[1], sums[0] / counts[0]};
}

QString DecayPanel::switchSentence() const {
  const auto switches = std::ranges::count(answer_.tokens, *switchToken());
  const auto others = std::ssize(answer_.tokens) - switches;
  const Means mean = means(-1, -1);
  if (switches == 0 || others == 0) return {};
  return tr("Step %1: aₜ is %2 on average at %3 and %4 at the other %5")
      .arg(stepText(answer_.step), decayText(mean.at_switches),
           countText(switches, tr("switch token"), tr("switch tokens")), decayText(mean.elsewhere),
           QString::number(others));
}

std::vector<float> DecayPanel::finiteFactors() const {
  std::vector<float> finite;
  std::ranges::copy_if(answer_.decay.data, std::back_inserter(finite), [](float a) { return std::isfinite(a); });
  return finite;
}

QString DecayPanel::describeHorizon(const std::vector<float>& factors) const {
  const auto [lowest, highest] = std::ranges::minmax(factors);
  QString text = tr("Step %1: the effective count horizon 1/(1 − aₜ) lies between %2 and %3 tokens, median %4")
                     .arg(stepText(answer_.step), horizonText(static_cast<double>(lowest)),
                          horizonText(static_cast<double>(highest)), horizonText(medianOf(factors)));
  const Means mean = means(-1, -1);
  if (switchToken() && !std::isnan(mean.at_switches) && !std::isnan(mean.elsewhere))
    text += tr("; that of the mean aₜ is %1 at switch tokens and %2 elsewhere")
                .arg(horizonText(mean.at_switches), horizonText(mean.elsewhere));
  return text + tr("; the sequence has %1").arg(countText(std::ssize(answer_.tokens), tr("token"), tr("tokens")));
}

QString DecayPanel::describe() const {
  const std::vector<float> factors = finiteFactors();
  if (factors.empty()) return tr("Step %1: aₜ is not a number at any token.").arg(stepText(answer_.step));
  QString text = view_ == View::horizon     ? describeHorizon(factors)
                 : view_ == View::histogram ? describeHistogram()
                                            : describeFactors(factors);
  if (const auto lost = std::ssize(answer_.decay.data) - std::ssize(factors); lost > 0)
    text += tr("; %1 of %2 are not numbers")
                .arg(stepText(lost), countText(std::ssize(answer_.decay.data), tr("factor"), tr("factors")));
  return text + u'.';
}

QString DecayPanel::describeFactors(const std::vector<float>& factors) const {
  const auto ends = std::ranges::minmax(factors);
  const double lowest = static_cast<double>(ends.min), highest = static_cast<double>(ends.max);
  const double median = medianOf(factors);
  if (lowest >= 1) return tr("Step %1: aₜ is 1 at every token; the state forgets nothing").arg(stepText(answer_.step));
  QString text = switchToken() ? switchSentence() : QString();
  if (text.isEmpty())
    text = tr("Step %1: aₜ lies between %2 and %3 over %4, median %5")
               .arg(stepText(answer_.step), decayText(lowest), decayText(highest),
                    countText(std::ssize(answer_.tokens), tr("token"), tr("tokens")), decayText(median));
  if (layers() * heads() > 1) text += tr(", over %1 heads").arg(layers() * heads());
  if (median < 1)
    text += tr("; what is written fades to 1/e in about %1")
                .arg(countText(std::llround(-1 / std::log(std::max(median, 1e-6))), tr("token"), tr("tokens")));
  return text;
}

PanelTable DecayPanel::table() const {
  if (view_ == View::histogram && hasData()) return histogramTable();
  PanelTable table;
  table.columns = {QStringLiteral("layer"), QStringLiteral("head"), QStringLiteral("t"), QStringLiteral("token"),
                   QStringLiteral("a")};
  const auto switch_token = switchToken();
  if (switch_token)
    table.columns << QStringLiteral("is_switch") << QStringLiteral("mean_a_at_switches")
                  << QStringLiteral("mean_a_elsewhere");
  if (view_ == View::horizon) table.columns << QStringLiteral("horizon_tokens");
  if (!hasData()) return table;
  for (int layer = 0; layer < layers(); ++layer)
    for (int head = 0; head < heads(); ++head) {
      const Means mean = means(layer, head);
      for (int position = 0; position < static_cast<int>(answer_.tokens.size()); ++position) {
        const std::int32_t token = answer_.tokens[static_cast<std::size_t>(position)];
        QStringList row = {exactText(std::int64_t{layer + 1}), exactText(std::int64_t{head + 1}),
                           exactText(std::int64_t{position + 1}), exactText(std::int64_t{token}),
                           exactText(factor(layer, head, position))};
        if (switch_token)
          row << exactText(std::int64_t{token == *switch_token}) << exactText(mean.at_switches)
              << exactText(mean.elsewhere);
        if (view_ == View::horizon) row << exactText(1 / (1 - static_cast<double>(factor(layer, head, position))));
        table.rows.push_back(row);
      }
    }
  return table;
}

}  // namespace mambarium
