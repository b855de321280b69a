// The part of TheoryPanel that draws its views and puts them into words and tables.

#include <algorithm>
#include <cmath>
#include <map>

#include "core/contract/lower_bound.h"
#include "ui/plots/axis_ticker.h"
#include "ui/plots/estimator_name.h"
#include "ui/plots/number_text.h"
#include "ui/plots/theory_panel.h"

namespace mambarium {
namespace {

constexpr std::int64_t orders_shown = 10;
constexpr std::int64_t float32_bits = 32;
constexpr int disc = 0;

QString bitsText(double bits) {
  return bits < 100 ? fixedText(bits, 1) : stepText(std::llround(bits));
}

QString divergenceText(double nats) {
  return significantText(nats, 2);
}

struct Measured {
  const char* which;
  const TheoremData::Divergence* of;
  double value;
};

std::vector<Measured> measured(const TheoremData& data) {
  return {{"mean", &data.every_short, data.every_short.mean},
          {"largest", &data.every_short, data.every_short.largest},
          {"mean", &data.random_long, data.random_long.mean},
          {"largest", &data.random_long, data.random_long.largest}};
}

}  // namespace

std::vector<std::int64_t> TheoryPanel::alphabets() const {
  std::vector<std::int64_t> all;
  for (const RunSeries& run : data().runs) {
    const std::int64_t states = run.config.integer("task.states");
    if (std::ranges::count(all, states) == 0) all.push_back(states);
  }
  return all;
}

std::int64_t TheoryPanel::lastOrder() const {
  std::int64_t last = orders_shown;
  for (const RunSeries& run : data().runs) last = std::max(last, run.config.integer("task.order"));
  return last;
}

void TheoryPanel::drawLogAxis(const LogRange& range, const QString& strip_label) {
  log_ticker_->setLogRange(range, strip_label);
  yAxis()->setScaleType(QCPAxis::stLogarithmic);
  yAxis()->setTicker(log_ticker_);
  yAxis()->setRange(range.end() * 0.8, range.upper * 1.25);  // room for the whole of a marker
}

void TheoryPanel::drawDots(const std::vector<Point>& dots, const QColor& color, int marker, const LogRange* range) {
  for (const bool in_strip : {false, true}) {
    QVector<QCPGraphData> places;
    for (const Point& dot : dots) {
      if ((range && range->inStrip(dot.y)) != in_strip) continue;
      const double y = range ? range->place(dot.y) : dot.y;
      places.append({dot.x, y});
      points_.push_back({dot.x, y, dot.text});
    }
    if (places.isEmpty()) continue;
    QCPGraph* graph = graphs_.next();
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(scatterStyle(theme(), marker, color, 9, in_strip));
    graph->data()->set(places, false);
  }
}

void TheoryPanel::drawBound() {
  chart()->setAxisTitles(rect_, tr("Order k of the chain"), tr("Bits of state"));
  xAxis()->setRange(0.5, static_cast<double>(lastOrder()) + 0.5);
  LogRangeFinder finder(0.1);
  std::vector<EndLabel> labels;
  std::vector<LegendEntry> legend;
  const std::vector<std::int64_t> all = alphabets();
  const bool several = all.size() > 1;
  int style = 0;
  for (const std::int64_t states : all) {
    QVector<QCPGraphData> line;
    for (std::int64_t order = 1; order <= lastOrder(); ++order) {
      const double bits = lower_bound_bits(states, order, epsilon_);
      finder.add(bits);
      if (bits <= 0) continue;
      line.append({static_cast<double>(order), bits});
      points_.push_back(
          {static_cast<double>(order), bits, tr("<b>order %1</b><br>at least %2 bits").arg(order).arg(bitsText(bits))});
    }
    QPen pen(theme().neutral(), 1.75 * theme().scale());
    if (style > 0) pen.setStyle(style % 2 ? Qt::DashLine : Qt::DotLine);
    ++style;
    QCPGraph* graph = graphs_.next();
    graph->setPen(pen);
    graph->setScatterStyle(scatterStyle(theme(), disc, theme().neutral(), 3.5));
    graph->data()->set(line, true);
    const QString name = several ? tr("bound, S = %1").arg(states) : tr("lower bound");
    legend.push_back({name, pen, -1, {}});
    if (several && !line.isEmpty())
      labels.push_back({line.back().value, tr("S = %1").arg(states), theme().mutedText()});
  }
  std::map<std::int64_t, int> beside;  // runs of one order stand beside each other, not on one another
  for (const RunSeries& run : data().runs) {
    const auto numbers = recurrent_state_numbers(run.config);
    if (!numbers) continue;
    const double bits = static_cast<double>(*numbers) * bits_;
    const std::int64_t order = run.config.integer("task.order");
    finder.add(bits);
    const QString title = QString::fromStdString(run.title);
    const double x = static_cast<double>(order) + 0.18 * beside[order]++;
    drawDots({{x, bits,
               tr("<b>%1</b><br>%2 of %3: %4 bits")
                   .arg(title.toHtmlEscaped(), countText(*numbers, tr("number"), tr("numbers")),
                        countText(std::llround(bits_), tr("bit"), tr("bits")), bitsText(bits))}},
             theme().runColor(run.palette_index), run.marker_index, nullptr);
    legend.push_back({title, QPen(Qt::NoPen), run.marker_index, theme().runColor(run.palette_index)});
  }
  LogRange range = finder.range(std::nullopt);
  range.has_strip = false;
  drawLogAxis(range, {});
  end_labels_->setLabels(std::move(labels));
  chart()->flowLegend()->setEntries(std::move(legend));
}

QString TheoryPanel::describeBound() const {
  const RunSeries* run = currentRun();
  if (!run) return tr("The current run is hidden; the others stand beside the bits that each must carry at least.");
  const std::int64_t order = run->config.integer("task.order"), states = run->config.integer("task.states");
  const double bound = lower_bound_bits(states, order, epsilon_);
  QString text =
      tr("To be within epsilon = %1 of %2 on a chain of order %3, a recurrent model needs at least %4 bits of "
         "state")
          .arg(exactText(epsilon_), estimatorName(run->config), QString::number(order), bitsText(bound));
  const auto numbers = recurrent_state_numbers(run->config);
  if (!numbers)
    return text + tr("; the memory of %1 grows with the sequence, so this does not bind it.")
                      .arg(QString::fromStdString(run->title));
  const double has = static_cast<double>(*numbers) * bits_;
  text += tr("; %1 carries %2 of %3, %4 bits")
              .arg(QString::fromStdString(run->title), countText(*numbers, tr("number"), tr("numbers")),
                   countText(std::llround(bits_), tr("bit"), tr("bits")), bitsText(has));
  if (bound > 0) text += has >= bound ? tr(", %1 times that").arg(bitsText(has / bound)) : tr(", too few");
  if (states > 2) text += tr(" (proved for two states; for %1 a guide)").arg(states);
  return text + u'.';
}

PanelTable TheoryPanel::boundTable() const {
  PanelTable table;
  table.columns = {QStringLiteral("series"),  QStringLiteral("states"),        QStringLiteral("order"),
                   QStringLiteral("epsilon"), QStringLiteral("state_numbers"), QStringLiteral("bits_per_number"),
                   QStringLiteral("bits")};
  for (const std::int64_t states : alphabets())
    for (std::int64_t order = 1; order <= lastOrder(); ++order)
      table.rows.push_back({QStringLiteral("lower bound"),
                            exactText(states),
                            exactText(order),
                            exactText(epsilon_),
                            {},
                            {},
                            exactText(lower_bound_bits(states, order, epsilon_))});
  for (const RunSeries& run : data().runs)
    if (const auto numbers = recurrent_state_numbers(run.config))
      table.rows.push_back({QString::fromStdString(run.title),
                            exactText(run.config.integer("task.states")),
                            exactText(run.config.integer("task.order")),
                            {},
                            exactText(*numbers),
                            exactText(bits_),
                            exactText(static_cast<double>(*numbers) * bits_)});
  return table;
}

void TheoryPanel::drawQuantisation() {
  chart()->setAxisTitles(rect_, tr("Bits of every number of the state"), tr("Gap (nats per token)"));
  const RunSeries* run = currentRun();
  const QColor color = theme().runColor(run ? run->palette_index : 0);
  const int marker = run ? run->marker_index : 0;
  LogRangeFinder finder(1e-6);
  for (const double gap : quantised_->gap) finder.add(gap);
  const LogRange range = finder.range(std::nullopt);
  drawLogAxis(range, QStringLiteral("≤ 0"));

  QVector<QCPGraphData> line;
  QVector<double> errors;
  std::vector<Point> dots;
  std::vector<EndLabel> labels;
  double last = 2;
  for (std::size_t i = 0; i < quantised_->bits.size(); ++i) {
    const auto bits = static_cast<double>(quantised_->bits[i]);
    const double gap = quantised_->gap[i];
    if (quantised_->bits[i] == float32_bits) {
      if (range.inStrip(gap)) continue;
      labels.push_back({gap, tr("float32"), theme().mutedText()});
      continue;
    }
    last = std::max(last, bits);
    line.append({bits, range.inStrip(gap) ? NAN : gap});
    errors.append(range.inStrip(gap) ? NAN : quantised_->standard_error[i]);
    dots.push_back(
        {bits, gap,
         tr("<b>%1 bits</b><br>gap %2 ± %3").arg(bits).arg(natsText(gap), natsText(quantised_->standard_error[i]))});
  }
  xAxis()->setRange(1.5, last + 0.5);
  if (!labels.empty()) {
    QCPGraph* whole = graphs_.next();
    whole->setPen(theme().referencePen(Reference::add_beta));
    whole->setData({xAxis()->range().lower, xAxis()->range().upper}, {labels[0].value, labels[0].value}, true);
  }
  QCPGraph* graph = graphs_.next();
  graph->setPen(QPen(color, 1.5 * theme().scale()));
  graph->data()->set(line, true);
  errors_->setDataPlottable(graph);
  errors_->setData(errors);
  errors_->setPen(QPen(color, theme().scale()));
  errors_->setWhiskerWidth(theme().px(6));
  errors_->setSymbolGap(0);
  drawDots(dots, color, marker, &range);
  end_labels_->setLabels(std::move(labels));
  std::vector<LegendEntry> legend = {
      {run ? QString::fromStdString(run->title) : tr("model"), graph->pen(), marker, color}};
  chart()->flowLegend()->setEntries(std::move(legend));
}

QString TheoryPanel::describeQuantisation() const {
  const auto& bits = quantised_->bits;
  const auto whole = static_cast<std::size_t>(std::ranges::find(bits, float32_bits) - bits.begin());
  const QString state = countText(quantised_->state_numbers, tr("number"), tr("numbers"));
  QString text = tr("Step %1: its state of %2").arg(stepText(quantised_->step), state);
  if (whole == bits.size() || bits.empty()) return text + u'.';
  text += tr(" in float32 leaves a gap of %1 ± %2 nats per token")
              .arg(natsText(quantised_->gap[whole]), natsText(quantised_->standard_error[whole]));
  // The fewest bits from which on nothing is lost that the test set could show.
  std::optional<std::size_t> enough;
  for (std::size_t i = whole; i-- > 0;) {
    const double error = std::hypot(quantised_->standard_error[i], quantised_->standard_error[whole]);
    if (quantised_->gap[i] - quantised_->gap[whole] > error) break;
    enough = i;
  }
  if (enough)
    text += tr("; from %1 a number on, the loss is no more than one standard error")
                .arg(countText(bits[*enough], tr("bit"), tr("bits")));
  if (!enough || *enough > 0)
    text += tr("; with %1 the gap is %2")
                .arg(countText(bits.front(), tr("bit"), tr("bits")), natsText(quantised_->gap.front()));
  return text + u'.';
}

PanelTable TheoryPanel::quantisationTable() const {
  PanelTable table;
  table.columns = {QStringLiteral("bits"), QStringLiteral("state_numbers"), QStringLiteral("gap_nats_per_token"),
                   QStringLiteral("standard_error")};
  for (std::size_t i = 0; i < quantised_->bits.size(); ++i)
    table.rows.push_back({exactText(quantised_->bits[i]), exactText(quantised_->state_numbers),
                          exactText(quantised_->gap[i]), exactText(quantised_->standard_error[i])});
  return table;
}

void TheoryPanel::drawConstruction() {
  chart()->setAxisTitles(rect_,
                         tr("All %1 sequences of %2 tokens; %3 random ones of %4")
                             .arg(stepText(theorem_->every_short.sequences), stepText(theorem_->every_short.length),
                                  stepText(theorem_->random_long.sequences), stepText(theorem_->random_long.length)),
                         tr("Divergence (nats)"));
  QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
  LogRangeFinder finder(1e-12);
  finder.add(theorem_->epsilon);
  std::vector<Point> dots;
  for (const Measured& one : measured(*theorem_)) {
    const double x = static_cast<double>(dots.size()) + (dots.size() < 2 ? 0 : 0.4);
    names->addTick(x, (std::string_view(one.which) == "mean" ? tr("mean") : tr("largest")) + u'\n' +
                          (one.of == &theorem_->every_short ? tr("all short") : tr("random")));
    finder.add(one.value);
    dots.push_back({x, one.value,
                    tr("<b>%1</b><br>%2 of %3 tokens")
                        .arg(divergenceText(one.value), countText(one.of->sequences, tr("sequence"), tr("sequences")))
                        .arg(one.of->length)});
  }
  xAxis()->setTicker(names);
  xAxis()->setRange(-0.6, 4);
  const LogRange range = finder.range(std::nullopt);
  drawLogAxis(range, QStringLiteral("≤ 0"));

  QCPGraph* promised = graphs_.next();
  promised->setPen(theme().referencePen(Reference::add_beta, 1.75));
  promised->setData({xAxis()->range().lower, xAxis()->range().upper}, {theorem_->epsilon, theorem_->epsilon}, true);
  drawDots(dots, theme().accent(), disc, &range);
  end_labels_->setLabels({{theorem_->epsilon, tr("promised"), theme().mutedText()}});
  chart()->flowLegend()->setEntries(
      {{tr("epsilon = %1, promised").arg(exactText(theorem_->epsilon)), promised->pen(), -1, {}},
       {tr("measured divergence from add-%1").arg(exactText(theorem_->beta)), QPen(Qt::NoPen), disc,
        theme().accent()}});
}

QString TheoryPanel::describeConstruction() const {
  const TheoremData& data = *theorem_;
  const double largest = std::max(data.every_short.largest, data.random_long.largest);
  QString text =
      tr("Theorem 4 with beta = %1: after every prefix of all %2 of %3 tokens, and of %4 random ones of %5, the "
         "divergence from add-%1 is at most %6 nats")
          .arg(exactText(data.beta), countText(data.every_short.sequences, tr("sequence"), tr("sequences")),
               QString::number(data.every_short.length), stepText(data.random_long.sequences),
               QString::number(data.random_long.length), divergenceText(largest));
  if (largest > data.epsilon) return text + tr(", above the promised %1.").arg(exactText(data.epsilon));
  text += tr(", below the promised %1").arg(exactText(data.epsilon));
  return largest > 0 ? text + tr(" by a factor of %1.").arg(bitsText(data.epsilon / largest)) : text + u'.';
}

PanelTable TheoryPanel::constructionTable() const {
  PanelTable table;
  table.columns = {QStringLiteral("epsilon"), QStringLiteral("beta"),  QStringLiteral("sequences"),
                   QStringLiteral("length"),  QStringLiteral("which"), QStringLiteral("divergence_nats")};
  for (const Measured& one : measured(*theorem_))
    table.rows.push_back({exactText(theorem_->epsilon), exactText(theorem_->beta), exactText(one.of->sequences),
                          exactText(one.of->length), QLatin1String(one.which), exactText(one.value)});
  return table;
}

}  // namespace mambarium
