#include "ui/plots/decoding_scores.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "ui/plots/axis_range.h"
#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr double lowest_drawn = -1, share_of_axis = 0.72;
constexpr int square = 1;

QString scoreText(double r_squared) {
  return fixedText(r_squared, 3);
}

}  // namespace

DecodingScores::DecodingScores(Chart* chart)
    : DecodingView(chart),
      rect_(chart->addRect(0)),
      levels_(std::make_unique<GraphPool>(xAxis(), yAxis())),
      names_(std::make_unique<EndLabels>(rect_)) {}

DecodingScores::~DecodingScores() {
  setSeries(0);
  levels_->clear();
  names_.reset();
  chart()->removeRect(rect_);
  chart()->plotLayout()->simplify();
}

void DecodingScores::setSeries(std::size_t count) {
  for (; bars_.size() > count; bars_.pop_back()) chart()->removePlottable(bars_.back());
  while (bars_.size() < count) {
    auto* const bars = new QCPBars(xAxis(), yAxis());
    bars->setSelectable(QCP::stNone);
    bars->setWidthType(QCPBars::wtPlotCoords);
    bars_.push_back(bars);
  }
}

void DecodingScores::draw(const DecodingPicture& picture) {
  drawBars(picture);
  drawLevels(picture);
  nameOutputs(picture);
}

void DecodingScores::drawBars(const DecodingPicture& picture) {
  const DecodingData& data = picture.current.answer;
  std::vector<LegendEntry> legend;
  const std::size_t series = 1 + picture.others.size() + (picture.knowsIdeal() ? 1 : 0);
  setSeries(series);
  constexpr double share_of_bars = 0.8;
  const double wide = share_of_bars / static_cast<double>(series);
  double low = 0, high = 1;
  std::size_t next = 0;
  const auto drawSeries = [&](const std::vector<double>& scores, const QColor& color, const QString& name) {
    QVector<QCPBarsData> heights;
    const double first = -share_of_bars / 2 + wide * (static_cast<double>(next) + 0.5);
    for (std::size_t output = 0; output < scores.size(); ++output) {
      if (!std::isfinite(scores[output])) continue;
      const double height = std::max(scores[output], lowest_drawn);
      heights.append({static_cast<double>(output) + first, height});
      low = std::min(low, height);
      high = std::max(high, height);
    }
    QCPBars* const bars = bars_[next++];
    bars->setWidth(0.92 * wide);
    bars->setPen(Qt::NoPen);
    bars->setBrush(color);
    bars->data()->set(heights, true);
    legend.push_back({name, QPen(Qt::NoPen), square, color});
  };
  drawSeries(data.model.r_squared, theme().runColor(picture.current.palette_index), picture.current.title);
  for (const Decoded& other : picture.others)
    drawSeries(other.answer.model.r_squared, theme().runColor(other.palette_index),
               tr("%1, step %2").arg(other.title, stepText(other.answer.step)));
  if (picture.knowsIdeal()) drawSeries(data.ideal.r_squared, theme().underlay(), tr("ideal decoder"));
  chart()->flowLegend()->setEntries(std::move(legend));

  const AxisRange range = linearRange(low, high, std::nullopt);
  yAxis()->setRange(range.lower, range.upper);
  yAxis()->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker));
  yAxis()->grid()->setZeroLinePen(QPen(theme().neutral(), theme().scale()));
  chart()->setAxisTitles(rect_, {}, tr("R² of the output"));
}

void DecodingScores::drawLevels(const DecodingPicture& picture) {
  const DecodingData& data = picture.current.answer;
  const double last = static_cast<double>(picture.answers()) - 0.5;
  std::vector<EndLabel> labels;
  levels_->begin();
  const auto drawLevel = [&](double score, const QPen& pen, const QString& name) {
    if (!std::isfinite(score)) return;
    QCPGraph* const level = levels_->next();
    const double drawn = std::max(score, lowest_drawn);
    level->setPen(pen);
    level->setData({-0.5, last}, {drawn, drawn}, true);
    labels.push_back({drawn, name.arg(scoreText(score)), theme().text()});
  };
  if (picture.answers() > 1) {
    drawLevel(data.ideal.r_squared_of_all, theme().referencePen(Reference::oracle, 1.5), tr("ideal, all %1"));
    QPen pen = theme().referencePen(Reference::add_beta, 1.5);
    pen.setColor(theme().text());
    drawLevel(data.model.r_squared_of_all, pen, tr("all %1"));
  }
  levels_->end();
  names_->setTheme(theme());
  names_->setLabels(std::move(labels));
}

void DecodingScores::nameOutputs(const DecodingPicture& picture) {
  const QFontMetricsF metrics(theme().smallFont());
  const auto count = static_cast<int>(picture.answers());
  const double each = share_of_axis * chart()->viewport().width() / count;
  double widest = 0;
  QStringList names;
  for (int output = 0; output < count; ++output) {
    names << picture.answerName(static_cast<std::size_t>(output));
    widest = std::max(widest, metrics.horizontalAdvance(names.back() + u' '));
  }
  const bool slanted = widest > each;
  const int every = std::max(1, static_cast<int>(std::ceil(metrics.height() / std::max(each, 1.0))));
  const bool with_numbers = !slanted && metrics.horizontalAdvance(QStringLiteral("−0.000 ")) < each;
  const QSharedPointer<QCPAxisTickerText> ticks(new QCPAxisTickerText);
  for (int output = 0; output < count; output += slanted ? every : 1) {
    const double score = picture.current.answer.model.r_squared[static_cast<std::size_t>(output)];
    QString name = names[output];
    if (with_numbers)
      name += u'\n' + scoreText(score);
    else if (score < lowest_drawn)
      name += u' ' + scoreText(score);
    ticks->addTick(output, name);
  }
  constexpr double slant = -40;
  xAxis()->setTicker(ticks);
  xAxis()->setTickLabelRotation(slanted ? slant : 0);
  xAxis()->setRange(-0.5, count - 0.5);
  xAxis()->grid()->setVisible(false);
}

std::optional<DecodingReadout> DecodingScores::read(const DecodingPicture& picture, const QPointF& pixel) {
  const QRect outer = rect_->outerRect(), inner = rect_->rect();
  // The names below the bars belong to them.
  if (!QRect(inner.left(), inner.top(), inner.width(), outer.bottom() - inner.top()).contains(pixel.toPoint()))
    return std::nullopt;
  const double last = static_cast<double>(picture.answers() - 1);
  const auto output = static_cast<std::size_t>(std::clamp(std::round(xAxis()->pixelToCoord(pixel.x())), 0.0, last));
  QString text = QStringLiteral("<b>%1</b>").arg(picture.answerName(output).toHtmlEscaped());
  const auto add = [&](const QString& name, const std::vector<double>& scores) {
    if (output < scores.size()) text += tr("<br>%1: R² %2").arg(name.toHtmlEscaped(), scoreText(scores[output]));
  };
  add(picture.current.title, picture.current.answer.model.r_squared);
  for (const Decoded& other : picture.others) add(other.title, other.answer.model.r_squared);
  if (picture.knowsIdeal()) add(tr("ideal decoder"), picture.current.answer.ideal.r_squared);
  return DecodingReadout{text, pixel};
}

}  // namespace mambarium
