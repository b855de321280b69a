// The part of PredictionPanel that is not along the sequence: one position, and a tile for every context.

#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/plots/estimator_name.h"
#include "ui/plots/number_text.h"
#include "ui/plots/prediction_panel.h"

namespace mambarium {
namespace {

constexpr std::size_t most_tiles = 16;
constexpr int most_written_out = 4;  // symbols whose probabilities a caption lists

}  // namespace

int PredictionPanel::shownPosition() const {
  return std::clamp(position_, 0, static_cast<int>(answer_.tokens.size()) - 1);
}

void PredictionPanel::choosePosition(int position) {
  if (position == position_) return;
  position_ = position;
  redraw();
}

void PredictionPanel::highlightToken(int position) {
  const bool marks_its_own = position < 0 && view_ == View::position && hasData();
  TokenPanel::highlightToken(marks_its_own ? shownPosition() : position);
}

void PredictionPanel::updateSlider() {
  const QSignalBlocker blocker(position_slider_);
  position_slider_->setRange(1, std::max(static_cast<int>(answer_.tokens.size()), 1));
  position_slider_->setPageStep(10);
  position_slider_->setValue(position_ + 1);
  const QString widest = tr("t = %1").arg(position_slider_->maximum());
  position_label_->setMinimumWidth(position_label_->fontMetrics().horizontalAdvance(widest));
  position_label_->setText(tr("t = %1").arg(position_slider_->value()));
  for (QWidget* widget : {static_cast<QWidget*>(position_label_), static_cast<QWidget*>(position_slider_)})
    widget->setVisible(view_ == View::position && !answer_.tokens.empty());
}

void PredictionPanel::drawPosition() {
  chart()->setAxisTitles(rect(), tr("Next token"), tr("P(next token)"));
  xAxis()->setRange(-0.5, states() - 0.5);
  const Look pens = look();
  const QPen outline(theme().neutral(), 1.25 * theme().scale());
  const std::vector<std::pair<const Tensor*, QBrush>> shown = {
      {&answer_.model, pens.color}, {&answer_.add_beta, theme().underlay()}, {&answer_.oracle, Qt::NoBrush}};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto& [tensor, brush] = shown[i];
    bars_[i]->setPen(brush.style() == Qt::NoBrush ? outline : QPen(Qt::NoPen));
    bars_[i]->setBrush(brush);
    QVector<QCPBarsData> heights;
    for (int symbol = 0; symbol < states(); ++symbol)
      heights.append({double(symbol), probability(*tensor, shownPosition(), symbol)});
    bars_[i]->data()->set(heights, true);
  }
  highlightToken(-1);
  constexpr int square = 1;
  std::vector<LegendEntry> legend = {{pens.name, QPen(Qt::NoPen), square, pens.color},
                                     {estimatorName(data().runs), QPen(Qt::NoPen), square, theme().underlay()},
                                     {tr("oracle"), QPen(Qt::NoPen), square, theme().neutral(), true}};
  chart()->flowLegend()->setEntries(std::move(legend));
}

std::vector<PredictionPanel::Occurrences> PredictionPanel::occurrences() const {
  std::map<std::vector<std::int32_t>, std::vector<int>> found;
  const int order = static_cast<int>(answer_.order);
  for (int position = order - 1; position < static_cast<int>(answer_.tokens.size()); ++position) {
    const auto end = answer_.tokens.begin() + position + 1;
    found[{end - order, end}].push_back(position);
  }
  std::vector<Occurrences> all;
  for (auto& [context, positions] : found) {
    QStringList tokens;
    for (const std::int32_t token : context) tokens << QString::number(token);
    Occurrences one{tokens.join(u' '), std::move(positions), 0};
    for (const int position : one.positions)
      one.difference += std::abs(probability(answer_.model, position) - probability(answer_.add_beta, position)) /
                        static_cast<double>(one.positions.size());
    all.push_back(std::move(one));
  }
  return all;
}

void PredictionPanel::drawContexts() {
  std::vector<Occurrences> shown = occurrences();
  if (shown.size() > most_tiles) {
    std::ranges::stable_sort(shown, std::greater(), [](const Occurrences& one) { return one.positions.size(); });
    shown.resize(most_tiles);
  }
  tiles_.setCount(static_cast<int>(shown.size()));
  const Look pens = look();
  std::size_t longest = 1;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const int tile = static_cast<int>(i);
    longest = std::max(longest, shown[i].positions.size());
    tiles_.setHeading(tile, tr("after %1").arg(shown[i].context));
    GraphPool& pool = tiles_.graphs(tile);
    pool.begin();
    for (const auto& [pen, tensor] :
         {std::pair(&pens.oracle, &answer_.oracle), std::pair(&pens.estimator, &answer_.add_beta),
          std::pair(&pens.model, &answer_.model)}) {
      QCPGraph* graph = pool.next();
      graph->setPen(*pen);
      QVector<QCPGraphData> points;
      for (const int position : shown[i].positions)
        points.append({static_cast<double>(points.size() + 1), probability(*tensor, position)});
      graph->data()->set(points, true);
    }
    pool.end();
  }
  tiles_.setAxes({0, static_cast<double>(longest) + 1}, tr("Occurrence of the context"), {0, 1},
                 tr("P(next token = %1)").arg(shownSymbol()));
  chart()->flowLegend()->setEntries({{pens.name, pens.model, -1, {}},
                                     {estimatorName(data().runs), pens.estimator, -1, {}},
                                     {tr("oracle"), pens.oracle, -1, {}}});
}

void PredictionPanel::hoverBars(const QPointF& pixel) {
  TokenPanel::leave();
  const int symbol = std::clamp(static_cast<int>(std::lround(xAxis()->pixelToCoord(pixel.x()))), 0, states() - 1);
  const int position = shownPosition();
  hoverLabel()->showAt(
      tr("<b>next token %1</b><br>model %2<br>%3 %4<br>oracle %5")
          .arg(symbol)
          .arg(probabilityText(probability(answer_.model, position, symbol)), estimatorName(data().runs),
               probabilityText(probability(answer_.add_beta, position, symbol)),
               probabilityText(probability(answer_.oracle, position, symbol))),
      pixel, {}, rect()->rect());
}

void PredictionPanel::hoverTile(int tile, const QPointF& pixel) {
  const QString heading = tiles_.rect(tile)->axis(QCPAxis::atTop)->label();
  for (const Occurrences& one : occurrences()) {
    if (heading != tr("after %1").arg(one.context)) continue;
    const auto last = std::ssize(one.positions) - 1;
    const double key = tiles_.rect(tile)->axis(QCPAxis::atBottom)->pixelToCoord(pixel.x());
    const auto index = std::clamp<std::ptrdiff_t>(std::lround(key) - 1, 0, last);
    const int position = one.positions[static_cast<std::size_t>(index)];
    hoverLabel()->showAt(tr("<b>after %1, occurrence %2</b> (t = %3)<br>model %4<br>%5 %6<br>oracle %7")
                             .arg(one.context)
                             .arg(index + 1)
                             .arg(position + 1)
                             .arg(probabilityText(probability(answer_.model, position)), estimatorName(data().runs),
                                  probabilityText(probability(answer_.add_beta, position)),
                                  probabilityText(probability(answer_.oracle, position))),
                         pixel, {}, chart()->viewport());
    return;
  }
}

QString PredictionPanel::describePosition() const {
  const int position = shownPosition();
  const bool is_last = position + 1 == static_cast<int>(answer_.tokens.size());
  const auto next = is_last ? answer_.last_target : answer_.tokens[static_cast<std::size_t>(position) + 1];
  QString text = tr("Step %1, after token %2 of probe sequence %3: ")
                     .arg(stepText(answer_.step), QString::number(position + 1), QString::number(probe() + 1));
  const auto list = [&](const Tensor& tensor) {
    QStringList values;
    for (int symbol = 0; symbol < states(); ++symbol) values << probabilityText(probability(tensor, position, symbol));
    return values.join(u' ');
  };
  double distance = 0;
  for (int symbol = 0; symbol < states(); ++symbol)
    distance +=
        std::abs(probability(answer_.model, position, symbol) - probability(answer_.add_beta, position, symbol)) / 2;
  if (states() <= most_written_out)
    text += tr("P(next token = 0, 1 …) is %1 by the model, %2 by %3 and %4 by the oracle; ")
                .arg(list(answer_.model), list(answer_.add_beta), estimatorName(data().runs), list(answer_.oracle));
  return text + tr("model and %1 are %2 apart in total variation; next came token %3.")
                    .arg(estimatorName(data().runs), probabilityText(distance), QString::number(next));
}

QString PredictionPanel::describeContexts() const {
  const std::vector<Occurrences> all = occurrences();
  if (all.empty()) return tr("The probe sequence is shorter than a context.");
  const auto worst = std::ranges::max_element(all, {}, &Occurrences::difference);
  QString text =
      tr("Step %1: P(next = %2) after each of the %3 that occur in probe sequence %4; the model is farthest from %5 "
         "after %6, by %7 on average over %8")
          .arg(stepText(answer_.step), QString::number(shownSymbol()),
               countText(std::ssize(all), tr("context"), tr("contexts")), QString::number(probe() + 1),
               estimatorName(data().runs), worst->context, probabilityText(worst->difference),
               countText(std::ssize(worst->positions), tr("occurrence"), tr("occurrences")));
  if (all.size() > most_tiles) text += tr("; the %1 most frequent are drawn").arg(most_tiles);
  return text + u'.';
}

PanelTable PredictionPanel::positionTable() const {
  PanelTable table;
  table.columns = {QStringLiteral("t"), QStringLiteral("symbol"), QStringLiteral("p_model"),
                   QStringLiteral("p_add_beta"), QStringLiteral("p_oracle")};
  for (int symbol = 0; symbol < states(); ++symbol) {
    const auto index = static_cast<std::size_t>(shownPosition() * states() + symbol);
    table.rows.push_back({exactText(std::int64_t{shownPosition() + 1}), exactText(std::int64_t{symbol}),
                          exactText(answer_.model.data[index]), exactText(answer_.add_beta.data[index]),
                          exactText(answer_.oracle.data[index])});
  }
  return table;
}

PanelTable PredictionPanel::contextsTable() const {
  PanelTable table;
  table.columns = {QStringLiteral("context"), QStringLiteral("occurrence"), QStringLiteral("t"),
                   QStringLiteral("symbol"),  QStringLiteral("p_model"),    QStringLiteral("p_add_beta"),
                   QStringLiteral("p_oracle")};
  for (const Occurrences& one : occurrences()) {
    std::int64_t occurrence = 0;
    for (const int position : one.positions) {
      const auto index = static_cast<std::size_t>(position * states() + shownSymbol());
      table.rows.push_back({one.context, exactText(++occurrence), exactText(std::int64_t{position + 1}),
                            exactText(std::int64_t{shownSymbol()}), exactText(answer_.model.data[index]),
                            exactText(answer_.add_beta.data[index]), exactText(answer_.oracle.data[index])});
    }
  }
  return table;
}

}  // namespace mambarium
