// The part of CircuitPanel that draws its views and puts them into words.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "ui/plots/axis_range.h"
#include "ui/plots/axis_ticker.h"
#include "ui/plots/circuit_panel.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr int square = 1;
constexpr double motifs = motif_count;
constexpr std::size_t most_edges = 1500;
constexpr double faintest = 0.3, behind = 0.1;  // opacity of a small entry, and of what is not lit up
constexpr double room_for_graph = 540, room_for_scale = 640, room_for_training = 330;
constexpr double row_of_legend = 20, length_of_legend = 500, headings_and_names = 92, height_of_training = 110,
                 low_panel = 220, height_of_titles = 36, room_below = 200, smallest_matrix = 120;

QString text(std::string_view of) {
  return QString::fromUtf8(of.data(), static_cast<qsizetype>(of.size()));
}

// "021U 2"
QString shortName(std::size_t triad) {
  return QStringLiteral("%1 %2").arg(text(triads()[triad].name)).arg(triads()[triad].motif);
}

QString percent(double share) {
  return fixedText(100 * share, 1) + QStringLiteral(" %");
}

QString small(double value) {
  constexpr double smallest_written_out = 1e-4;
  if (value > 0 && value < smallest_written_out) return powerText(value);
  return significantText(value, 2);
}

QString signedSmall(double value) {
  return (value > 0 ? QStringLiteral("+") : QString()) + small(value);
}

// Hidden, it takes no room in either direction; its plottables are the panel's to hide.
void setRoom(QCPAxisRect* rect, bool shown, const QSize& most) {
  rect->setVisible(shown);
  rect->setAutoMargins(shown ? QCP::msAll : QCP::msNone);
  if (!shown) rect->setMargins({});
  rect->setMinimumSize(shown ? QSize(50, 50) : QSize(0, 0));
  rect->setMaximumSize(shown ? most : QSize(0, QWIDGETSIZE_MAX));
}

}  // namespace

bool CircuitPanel::edgeAt(std::size_t row, std::size_t column) const {
  return answer_.causal ? circuit_.hasEdge(column, row) : circuit_.hasEdge(row, column);
}

std::vector<std::pair<double, double>> CircuitPanel::training() const {
  std::vector<std::pair<double, double>> points;
  if (const RunSeries* run = currentRun())
    for (const MetricsRow& row : run->rows)
      if (std::isfinite(row.motif_r_squared)) points.emplace_back(static_cast<double>(row.step), row.motif_r_squared);
  return points;
}

bool CircuitPanel::isLow() const {
  return chart()->viewport().height() < low_panel * theme().scale();
}

// A low panel has room for the first line only.
QString CircuitPanel::fitting(const QString& heading) const {
  return isLow() ? heading.section(u'\n', 0, 0) : heading;
}

void CircuitPanel::arrange() {
  const double unit = theme().scale();
  const double width = chart()->viewport().width() / unit, height = chart()->viewport().height() / unit;
  const bool with_scale = width >= room_for_scale;
  const bool with_training = height >= room_for_training && training().size() > 1;
  const double legend = row_of_legend * std::ceil(length_of_legend / std::max(width, 1.0));
  double room = height - legend - headings_and_names;
  if (with_training) room -= height_of_training;
  if (isLow()) room += height_of_titles;
  // A high panel has the graph below the matrix, a wide one beside it.
  const double beside = 0.27 * width, alone = (with_scale ? 0.36 : 0.31) * width;
  const bool below = room - std::max(beside, smallest_matrix) >= room_below;
  const bool with_graph = below || width >= room_for_graph;
  double across = with_graph ? beside : 0.31 * width;
  if (below) across = std::min(alone, std::max(room - room_below, beside));
  const int side = std::max(static_cast<int>(std::min(room, across) * unit), 50);
  stackGraph(below);
  const QSize any(QWIDGETSIZE_MAX, QWIDGETSIZE_MAX);
  setRoom(matrix_, true, {side, side});
  matrix_->setMinimumSize(side, side);
  setRoom(scale_.rect(), with_scale, any);
  setRoom(wiring_, with_graph, any);
  graph_->setVisible(with_graph);
  training_->setVisible(with_training);
  training_->setAutoMargins(with_training ? QCP::msAll : QCP::msNone);
  if (!with_training) training_->setMargins({});
  training_->setMinimumSize(with_training ? QSize(50, 50) : QSize(0, 0));
  training_->setMaximumSize(QWIDGETSIZE_MAX, with_training ? QWIDGETSIZE_MAX : 0);
  chart()->plotLayout()->setColumnStretchFactor(0, below ? (with_scale ? 1.7 : 1) : with_graph ? 2.4 : 1);
}

QString CircuitPanel::matrixHeading() const {
  QString heading = tr("M = k P Q, rank %1").arg(answer_.rank);
  if (std::isnan(answer_.bound)) return heading + tr("\n‖M‖₂ %1").arg(small(answer_.norm));
  return heading + (mayGrow() ? tr("\n‖M‖₂ %1 > %2: may grow") : tr("\n‖M‖₂ %1 ≤ %2: stable"))
                       .arg(small(answer_.norm), small(answer_.bound));
}

// About zero, and the same on both sides; the diagonal has no colour and no say.
AxisRange CircuitPanel::mapRange() const {
  double largest = 1e-9;
  for (std::size_t i = 0; i < states(); ++i)
    for (std::size_t j = 0; j < states(); ++j)
      if (i != j && std::isfinite(entry(i, j))) largest = std::max(largest, std::abs(entry(i, j)));
  return linearRange(-largest, largest, std::nullopt);
}

void CircuitPanel::drawMatrix() {
  const std::size_t n = states();
  const AxisRange range = mapRange();
  std::vector<char> framed(n * n);
  const auto frame = [&](std::size_t from, std::size_t to) {
    if (circuit_.hasEdge(from, to)) framed[answer_.causal ? to * n + from : from * n + to] = 1;
  };
  for (const TriadInstance& nodes : lit())
    for (const std::size_t from : nodes)
      for (const std::size_t to : nodes) frame(from, to);
  if (!isLit())
    for (std::size_t from = 0; from < n; ++from)
      for (std::size_t to = 0; to < n; ++to) frame(from, to);

  std::vector<QColor> colors;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const QColor color = i == j ? theme().missing() : theme().diverging(entry(i, j) / range.upper);
      colors.push_back(isLit() && !framed[i * n + j] ? Theme::mixed(color, theme().panel(), 0.7) : color);
    }
  const int count = static_cast<int>(n);
  cells_->setCells(count, count, std::move(colors));
  cells_->setBackdrop(theme().grid());
  cells_->setSeparator(theme().scale());
  const int side = std::min(matrix_->maximumSize().width(), matrix_->maximumSize().height());
  const bool has_room = side >= 6 * theme().scale() * count;
  if (!has_room && !isLit()) framed.clear();
  const QPen pen(QColor(0x1b1f24), (isLit() ? 1.75 : 1) * theme().scale(), Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin);
  cells_->setFrames(std::move(framed), pen);

  QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
  for (int i = 0; i < count; i += std::max(1, (count - 1) / 3)) names->addTick(i, QString::number(i + 1));
  for (QCPAxis* axis : {matrix_->axis(QCPAxis::atBottom), matrix_->axis(QCPAxis::atLeft)}) {
    axis->setTicker(names);
    axis->setRange(-0.5, count - 0.5);
    axis->grid()->setVisible(false);
  }
  matrix_->axis(QCPAxis::atLeft)->setRangeReversed(true);
  chart()->setAxisTitles(matrix_, answer_.causal ? tr("From state j") : tr("To state j"),
                         answer_.causal ? tr("To state i") : tr("From state i"));
  if (isLow()) chart()->setAxisTitles(matrix_, {}, {});
  chart()->setHeading(matrix_, isLow() && mayGrow() ? tr("‖M‖₂: may grow") : fitting(matrixHeading()));
  QCPAxis* top = matrix_->axis(QCPAxis::atTop);
  top->setLabelFont(theme().smallFont());
  top->setLabelColor(mayGrow() ? theme().warning() : theme().text());
  if (scale_.rect()->visible()) {
    scale_.draw({}, range.lower, range.upper,
                [this, range](double value) { return theme().diverging(value / range.upper); });
    chart()->setHeading(scale_.rect(), fitting(tr("M\n")));
    scale_.rect()->axis(QCPAxis::atTop)->setLabelFont(theme().smallFont());
  }
}

QString CircuitPanel::graphHeading() const {
  const auto n = static_cast<std::int64_t>(states());
  if (!isLit())
    return tr("%1 of %2\nundecided: %3 bits")
        .arg(stepText(static_cast<std::int64_t>(circuit_.edgeCount())), countText(n * (n - 1), tr("edge"), tr("edges")),
             fixedText(answer_.entropy, 2));
  const auto triad = static_cast<std::size_t>(triad_ - 1);
  const std::int64_t count = circuit_.instanceCount(triad);
  const QString all = tr("%1: %2").arg(text(triads()[triad].name), countText(count, tr("triple"), tr("triples")));
  const std::size_t one = litInstance();
  if (one == 0) {
    const bool has_more = count > static_cast<std::int64_t>(instances_.size());
    return all + (has_more ? tr("\nthe first %1 are lit").arg(instances_.size()) : tr("\n"));
  }
  const TriadInstance& nodes = instances_[one - 1];
  return tr("%1\nnumber %2: states %3, %4, %5").arg(all).arg(one).arg(nodes[0] + 1).arg(nodes[1] + 1).arg(nodes[2] + 1);
}

void CircuitPanel::drawGraph() {
  graph_->setTheme(theme());
  for (QCPAxis* axis : {wiring_->axis(QCPAxis::atBottom), wiring_->axis(QCPAxis::atLeft)}) axis->setRange(-1, 1);
  const std::size_t n = states();
  std::vector<char> lit_edges(n * n), lit_nodes(n);
  for (const TriadInstance& nodes : lit())
    for (const std::size_t from : nodes) {
      lit_nodes[from] = 1;
      for (const std::size_t to : nodes) lit_edges[from * n + to] = 1;
    }
  std::vector<CircuitGraph::Node> nodes;
  const std::vector<Circuit::Place> places = circuit_.layout();
  for (std::size_t node = 0; node < n; ++node) {
    const bool apart = circuit_.outDegree(node) + circuit_.inDegree(node) == 0;
    const bool faded = isLit() ? !lit_nodes[node] : apart;
    const QColor color = faded ? theme().panel() : isLit() ? theme().accent() : theme().neutral();
    nodes.push_back({{places[node].x, places[node].y}, QString::number(node + 1), color, faded});
  }
  const std::vector<Circuit::Edge>& all = circuit_.edges();
  const double largest = all.empty() ? 1 : std::abs(all.back().weight);
  std::vector<CircuitGraph::Edge> dark, bright;
  for (std::size_t i = all.size() - std::min(all.size(), most_edges); i < all.size(); ++i) {
    const Circuit::Edge& edge = all[i];
    const bool is_lit = lit_edges[edge.from * n + edge.to] != 0;
    QColor color = theme().diverging(edge.weight < 0 ? -1 : 1);
    const double strength = faintest + (1 - faintest) * std::abs(edge.weight) / largest;
    color.setAlphaF(static_cast<float>(isLit() ? (is_lit ? 1 : behind) : strength));
    (is_lit ? bright : dark).push_back({edge.from, edge.to, edge.mutual, color, is_lit ? 1.75 : 1});
  }
  dark.insert(dark.end(), bright.begin(), bright.end());
  graph_->setGraph(std::move(nodes), std::move(dark));
  graph_->setMessage(circuit_.edgeCount() > 0 ? QString()
                                              : tr("No entry of M is above %1 yet.").arg(small(threshold())));
  chart()->setHeading(wiring_, fitting(graphHeading()));
  QCPAxis* top = wiring_->axis(QCPAxis::atTop);
  top->setLabelFont(theme().smallFont());
  top->setLabelColor(theme().text());
  if (!wiring_->visible()) top->setVisible(false);
}

void CircuitPanel::drawTriads() {
  const RunSeries* run = currentRun();
  constexpr int green = 2;  // of the runs' colours: blue and vermillion are signs of M here
  const QColor color = theme().runColor(green);
  const QColor pale = Theme::mixed(color, theme().panel(), 0.6);
  double largest = 0.01;
  const auto fill = [&](QCPBars* bars, const std::vector<double>& shares, double beside, const QColor& fill_color) {
    QVector<QCPBarsData> data;
    for (std::size_t triad = 0; triad < motif_count && triad < shares.size(); ++triad) {
      if (!std::isfinite(shares[triad])) continue;
      largest = std::max(largest, shares[triad]);
      data.append({static_cast<double>(triad) + beside, 100 * shares[triad]});
    }
    bars->data()->set(data, true);
    bars->setPen(Qt::NoPen);
    bars->setBrush(fill_color);
  };
  fill(soft_, answer_.soft, -0.2, pale);
  fill(hard_, answer_.hard, 0.2, color);

  targets_.begin();
  if (!answer_.target.empty()) {
    QVector<QCPGraphData> places;
    for (std::size_t triad = 0; triad < motif_count; ++triad) {
      if (!(answer_.target[triad] > 0)) continue;
      largest = std::max(largest, answer_.target[triad]);
      places.append({static_cast<double>(triad), 100 * answer_.target[triad]});
    }
    QPainterPath stroke(QPointF(0, -3));
    stroke.lineTo(0, 3);
    QCPGraph* graph = targets_.next();
    graph->setLineStyle(QCPGraph::lsNone);
    const double height = std::max(0.8 * triads_->height() / motifs, 8.0 * theme().scale());
    // The pen grows with the shape, which is 6 high.
    const QPen pen(theme().text(), 2 * theme().scale() * 6 / height, Qt::SolidLine, Qt::FlatCap);
    graph->setScatterStyle(QCPScatterStyle(stroke, pen, Qt::NoBrush, height));
    graph->data()->set(places, true);
  }
  targets_.end();

  const double taken =
      isLow() ? row_of_legend + headings_and_names - height_of_titles : row_of_legend + headings_and_names;
  const double row = (chart()->viewport().height() - taken * theme().scale()) / motifs;
  constexpr double lowest_row = 9.5, worth_a_name = 0.1;
  QFont font = theme().smallFont();
  font.setPixelSize(
      std::clamp(static_cast<int>(row * 0.92), std::min(theme().px(9), font.pixelSize()), font.pixelSize()));
  const bool all_named = row >= lowest_row * theme().scale();  // else only what there is, the most frequent first
  std::vector<std::size_t> named(motif_count);
  std::iota(named.begin(), named.end(), 0);
  const auto share = [&](std::size_t triad) { return std::max(answer_.soft[triad], answer_.hard[triad]); };
  if (!all_named) {
    std::erase_if(named, [&](std::size_t triad) { return !(share(triad) > worth_a_name * largest); });
    std::ranges::stable_sort(named, std::greater(), share);
  }
  QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
  for (const std::size_t triad : named) {
    const auto at = static_cast<double>(triad);
    const auto overlaps = [&](double other) { return std::abs(other - at) * row < 0.95 * font.pixelSize(); };
    if (all_named || std::ranges::none_of(names->ticks().keys(), overlaps)) names->addTick(at, shortName(triad));
  }
  QCPAxis* y = triads_->axis(QCPAxis::atLeft);
  y->setTicker(names);
  y->setRange(-0.6, motifs - 0.4);
  y->setRangeReversed(true);
  y->grid()->setVisible(false);
  y->setTickLabelFont(font);
  QCPAxis* x = triads_->axis(QCPAxis::atBottom);
  const QSharedPointer<TidyTicker> ticker(new TidyTicker);
  ticker->fitTo(x);
  x->setTicker(ticker);
  x->setRange(0, linearRange(0, 103 * largest, std::nullopt).upper);
  const bool of_connected = run && run->config.text("model.motif_shares") == "connected";
  chart()->setAxisTitles(triads_, of_connected ? tr("Share of the connected (%)") : tr("Share of triples (%)"), {});
  if (isLow()) chart()->setAxisTitles(triads_, tr("%"), {});
  QString heading = tr("Triads\nno motif asked for");
  if (!answer_.target.empty())
    heading = std::isnan(answer_.r_squared)
                  ? tr("Triads\nmotif loss %1").arg(small(answer_.loss))
                  : tr("Triads, R² %1\nmotif loss %2").arg(fixedText(answer_.r_squared, 3), small(answer_.loss));
  chart()->setHeading(triads_, fitting(heading));
  triads_->axis(QCPAxis::atTop)->setLabelFont(theme().smallFont());
  triads_->axis(QCPAxis::atTop)->setLabelColor(theme().text());

  std::vector<LegendEntry> legend = {
      {tr("edge: |M| > %1").arg(small(threshold())), QPen(Qt::NoPen), square, theme().text(), true}};
  if (!scale_.rect()->visible() && !isLow()) {
    const double end = mapRange().upper;
    for (const double value : {-end, end})
      legend.push_back({signedSmall(value), QPen(Qt::NoPen), square, theme().diverging(value / end)});
  }
  legend.push_back({tr("soft"), QPen(Qt::NoPen), square, pale});
  legend.push_back({tr("hard"), QPen(Qt::NoPen), square, color});
  if (!answer_.target.empty()) legend.push_back({tr("asked for"), QPen(theme().text(), 2 * theme().scale()), -1, {}});
  chart()->flowLegend()->setEntries(std::move(legend));
}

void CircuitPanel::drawCursor() {
  const auto place = [this](QCPItemRect* band, int triad, bool shown) {
    band->topLeft->setCoords(0, triad - 1.5);
    band->bottomRight->setCoords(1, triad - 0.5);
    band->setVisible(shown);
  };
  place(lit_band_, triad_, isLit());
  lit_band_->setPen(Qt::NoPen);
  lit_band_->setBrush(theme().highlight());
  place(cursor_band_, cursor_, hasFocus());
  cursor_band_->setPen(QPen(theme().accent(), theme().scale()));
  cursor_band_->setBrush(Qt::NoBrush);
}

void CircuitPanel::drawTraining() {
  training_lines_.begin();
  if (training_->visible()) {
    const RunSeries* run = currentRun();
    QVector<QCPGraphData> line;
    double lowest = 0;
    for (const auto& [step, r_squared] : training()) {
      line.append({step, r_squared});
      lowest = std::min(lowest, r_squared);
    }
    QCPAxis* x = training_->axis(QCPAxis::atBottom);
    QCPAxis* y = training_->axis(QCPAxis::atLeft);
    const AxisRange steps = stepRange(run->rows.back().step, run->config.integer("training.steps"));
    x->setRange(steps.lower, steps.upper);
    const double floor = std::max(lowest, -1.0);  // R² of a start far from the target has no bottom
    y->setRange(floor - 0.05, 1.05);
    const QSharedPointer<TidyTicker> whole(new TidyTicker(true));
    whole->fitTo(x);
    x->setTicker(whole);
    y->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker));
    QCPGraph* now = training_lines_.next();
    now->setPen(QPen(theme().underlay(), 3 * theme().scale()));
    const auto step = static_cast<double>(answer_.step);
    now->setData({step, step}, {floor - 0.05, 1.05}, true);
    QCPGraph* graph = training_lines_.next();
    graph->setPen(theme().runPen(run->palette_index, 0));
    graph->data()->set(line, true);
    chart()->setAxisTitles(training_, tr("Training step"), tr("R² of the motif"));
  }
  training_lines_.end();
}

QString CircuitPanel::readout(std::size_t row, std::size_t column) const {
  QString what = tr("no edge: at most %1").arg(small(threshold()));
  if (row == column) {
    what = tr("acts on the state itself, counts in no triad");
  } else if (edgeAt(row, column)) {
    what = tr("edge from state %1 to state %2")
               .arg((answer_.causal ? column : row) + 1)
               .arg((answer_.causal ? row : column) + 1);
  }
  const QString value = fixedText(entry(row, column), 4);
  return tr("<b>M(%1, %2) = %3</b><br>%4").arg(row + 1).arg(column + 1).arg(value, what);
}

QString CircuitPanel::stateReadout(std::size_t state) const {
  return tr("<b>State %1</b><br>sends to %2, receives from %3")
      .arg(state + 1)
      .arg(circuit_.outDegree(state))
      .arg(circuit_.inDegree(state));
}

QString CircuitPanel::triadReadout(int triad) const {
  const auto index = static_cast<std::size_t>(triad - 1);
  QString said = tr("<b>%1</b>, %2<br>soft %3, hard %4 (%5)")
                     .arg(QString::fromStdString(triad_title(index)), text(triads()[index].description).toHtmlEscaped(),
                          percent(answer_.soft[index]), percent(answer_.hard[index]),
                          countText(circuit_.instanceCount(index), tr("triple"), tr("triples")));
  if (!answer_.target.empty()) said += tr("<br>asked for %1").arg(percent(answer_.target[index]));
  return said;
}

QString CircuitPanel::sharesSentence() const {
  if (states() < 3) return tr("fewer than three states make no triads");
  if (circuit_.edgeCount() == 0) return tr("no entry of M is above %1 yet").arg(small(threshold()));
  const bool asked = !answer_.target.empty();
  const std::vector<double>& ranked = asked ? answer_.target : answer_.hard;
  std::size_t triad = 0;
  for (std::size_t other = 1; other < motif_count; ++other)
    if (ranked[other] > ranked[triad] || std::isnan(ranked[triad])) triad = other;
  if (!(ranked[triad] > 0)) return tr("no three states hang together");
  const QString of =
      tr("%1 is %2 of the triples by soft edges and %3 by hard ones")
          .arg(QString::fromStdString(triad_title(triad)), percent(answer_.soft[triad]), percent(answer_.hard[triad]));
  if (!asked) return tr("of the connected triads %1, the most").arg(of);
  QString said = tr("%1, asked for is %2").arg(of, percent(answer_.target[triad]));
  if (!std::isnan(answer_.r_squared)) said += tr(" (R² %1)").arg(fixedText(answer_.r_squared, 3));
  return said;
}

QString CircuitPanel::describe() const {
  QString said = tr("Step %1, layer %2").arg(stepText(answer_.step)).arg(answer_.layer + 1);
  if (!answer_.shared) said += tr(", channel %1").arg(answer_.channel + 1);
  said += tr(": %1").arg(sharesSentence());
  if (!std::isnan(answer_.bound))
    said += (mayGrow() ? tr("; ‖M‖₂ = %1 is above %2, so the state may grow")
                       : tr("; ‖M‖₂ = %1 is within %2, so no token makes the state grow by itself"))
                .arg(small(answer_.norm), small(answer_.bound));
  if (!answer_.picard.empty()) {
    QStringList errors;
    for (const double error : answer_.picard) errors << powerText(error);
    said += tr("; a plain scan corrected %1 is off by %2")
                .arg(answer_.picard.size() == 1 ? tr("once") : tr("1 to %1 times").arg(answer_.picard.size()),
                     errors.join(QStringLiteral(", ")));
  }
  if (const std::size_t edges = circuit_.edges().size(); edges > most_edges)
    said += tr("; of %1 connections the %2 strongest are drawn").arg(edges).arg(most_edges);
  return said + u'.';
}

}  // namespace mambarium
