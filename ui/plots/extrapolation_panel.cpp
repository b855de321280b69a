#include "ui/plots/extrapolation_panel.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr double marker_size = 6;

double keyOf(std::int64_t length) {
  return std::log2(static_cast<double>(length));
}

QString percent(double share) {
  // 99.8 % are not all of them.
  const bool nearly_whole = share > 0.99 && share<1, nearly_none = share> 0 && share < 0.1;
  return percentText(share, nearly_whole || nearly_none ? 1 : 0);
}

// "four times the trained length"
QString timesText(std::int64_t length, std::int64_t trained) {
  if (trained <= 0) return {};
  const double times = static_cast<double>(length) / static_cast<double>(trained);
  if (times == 1) return ExtrapolationPanel::tr("the trained length");
  if (times == 2) return ExtrapolationPanel::tr("twice the trained length");
  if (times == 4) return ExtrapolationPanel::tr("four times the trained length");
  if (times == 8) return ExtrapolationPanel::tr("eight times the trained length");
  if (times == 0.5) return ExtrapolationPanel::tr("half the trained length");
  return ExtrapolationPanel::tr("%1 times the trained length")
      .arg(times == std::round(times) ? stepText(std::llround(times)) : fixedText(times, 2));
}

QString tokensText(std::int64_t length) {
  return countText(length, ExtrapolationPanel::tr("token"), ExtrapolationPanel::tr("tokens"));
}

}  // namespace

ExtrapolationPanel::ExtrapolationPanel(QWidget* parent)
    : PlotPanel(QStringLiteral("extrapolation"), tr("Extrapolation"),
                tr("How often the model's answer is right at lengths it was never trained on will appear here. Press "
                   "Play (Space) to train."),
                parent),
      rect_(chart()->addRect(0)),
      end_labels_(new EndLabels(rect_)),
      trained_label_(new QCPItemText(chart())),
      graphs_(xAxis(), yAxis()) {
  compareByAnswers();
  trained_label_->setLayer(QStringLiteral("axes"));
  trained_label_->setClipAxisRect(rect_);
  trained_label_->position->setAxisRect(rect_);
  trained_label_->position->setAxes(xAxis(), yAxis());
  trained_label_->position->setTypeX(QCPItemPosition::ptPlotCoords);
  trained_label_->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
}

std::optional<InspectRequest> ExtrapolationPanel::wants() const {
  return InspectRequest{"extrapolation"};
}

bool ExtrapolationPanel::prepare(const PanelChange& change) {
  if (change.inspected || change.runs) readCurves();
  return !curves_.empty();
}

void ExtrapolationPanel::readCurves() {
  curves_.clear();
  std::vector<Curve> curves;
  for (std::size_t run = 0; run < data().runs.size(); ++run) {
    ExtrapolationData answer;
    if (run == data().current) {
      readAnswer(answer);
    } else if (const auto found = data().others.find(data().runs[run].folder); found != data().others.end()) {
      answer = found->second.get<ExtrapolationData>();
    }
    std::erase_if(answer.points, [](const ExtrapolationData::Point& point) { return point.length <= 0; });
    std::ranges::sort(answer.points, {}, &ExtrapolationData::Point::length);
    if (!answer.points.empty()) curves.push_back({run, std::move(answer)});
  }
  curves_ = std::move(curves);
}

const ExtrapolationPanel::Curve* ExtrapolationPanel::currentCurve() const {
  const auto found = std::ranges::find(curves_, data().current, &Curve::run);
  return found == curves_.end() ? nullptr : &*found;
}

void ExtrapolationPanel::draw() {
  drawLengthAxis();
  graphs_.begin();
  drawReferences();
  std::vector<LegendEntry> legend;
  for (const Curve& curve : curves_) {
    drawCurve(curve);
    const RunSeries& run = runOf(curve);
    const QString title = QString::fromStdString(run.title);
    legend.push_back({curves_.size() > 1 ? tr("%1, step %2").arg(title, stepText(curve.answer.step)) : title,
                      theme().runPen(run.palette_index, run.marker_index), run.marker_index,
                      theme().runColor(run.palette_index)});
  }
  graphs_.end();
  legend.push_back({tr("band: 95 % interval"), QPen(Qt::NoPen), -1, {}});
  chart()->flowLegend()->setEntries(std::move(legend));
}

void ExtrapolationPanel::drawLengthAxis() {
  std::set<std::int64_t> lengths;
  for (const Curve& curve : curves_) {
    for (const ExtrapolationData::Point& point : curve.answer.points) lengths.insert(point.length);
    if (curve.answer.trained_length > 0) lengths.insert(curve.answer.trained_length);
  }
  constexpr double beside = 0.35;
  xAxis()->setRange(keyOf(*lengths.begin()) - beside, keyOf(*lengths.rbegin()) + beside);
  const QFontMetricsF metrics(theme().smallFont());
  const double widest = metrics.horizontalAdvance(stepText(*lengths.rbegin())) + theme().px(8);
  const double room = 0.8 * chart()->viewport().width() / xAxis()->range().size();
  const int doublings = std::max(1, static_cast<int>(std::ceil(widest / room)));
  QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
  const auto first = static_cast<int>(std::ceil(xAxis()->range().lower));
  for (int power = std::max(first, 0); power < xAxis()->range().upper; power += doublings)
    names->addTick(power, stepText(std::int64_t{1} << power));
  xAxis()->setTicker(names);
  yAxis()->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker(true)));
  yAxis()->setRange(-3, 103);
  chart()->setAxisTitles(rect_, tr("Length of the sequence (tokens)"), tr("Right answers (%)"));
}

void ExtrapolationPanel::drawReferences() {
  const Curve* current = currentCurve();
  const ExtrapolationData& shown = (current ? *current : curves_.front()).answer;
  QCPGraph* trained = graphs_.next();
  trained->setPen(QPen(theme().neutral(), theme().scale()));
  trained_label_->setVisible(shown.trained_length > 0);
  if (shown.trained_length > 0) {
    const double key = keyOf(shown.trained_length);
    trained->setData({key, key}, {yAxis()->range().lower, yAxis()->range().upper}, true);
    const QFontMetricsF metrics(theme().smallFont());
    const QString text = tr(" trained at %1 ").arg(stepText(shown.trained_length));
    const double right = (xAxis()->range().upper - key) / xAxis()->range().size() * 0.8 * chart()->viewport().width();
    const bool fits = right > metrics.horizontalAdvance(text);
    trained_label_->setText(text);
    trained_label_->setFont(theme().smallFont());
    trained_label_->setColor(theme().mutedText());
    const double wide = xAxis()->range().size() * metrics.horizontalAdvance(text) / (0.8 * chart()->viewport().width());
    trained_label_->position->setCoords(key,
                                        freeHeight(fits ? key : key - wide, fits ? key + wide : key, shown.chance));
    trained_label_->setPositionAlignment((fits ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
  } else {
    trained->data()->clear();
  }
  QCPGraph* chance = graphs_.next();
  chance->setPen(theme().referencePen(Reference::add_beta));
  std::vector<EndLabel> labels;
  if (std::isfinite(shown.chance)) {
    const double level = 100 * shown.chance;
    chance->setData({xAxis()->range().lower, xAxis()->range().upper}, {level, level}, true);
    labels.push_back({level, tr("guessing"), theme().mutedText()});
  } else {
    chance->data()->clear();
  }
  end_labels_->setTheme(theme());
  end_labels_->setLabels(std::move(labels));
}

double ExtrapolationPanel::freeHeight(double from, double to, double chance) const {
  constexpr double heights[] = {0.88, 0.5, 0.06};
  const auto distance = [](double value, double a, double b) {
    return std::max({std::min(a, b) - value, value - std::max(a, b), 0.0});
  };
  double best = heights[0], farthest = -1;
  for (const double height : heights) {
    const double value = yAxis()->range().upper - height * yAxis()->range().size();
    double nearest = std::isfinite(chance) ? std::abs(value - 100 * chance) : 100;
    for (const Curve& curve : curves_)
      for (std::size_t i = 0; i < curve.answer.points.size(); ++i) {
        const ExtrapolationData::Point& before = curve.answer.points[i > 0 ? i - 1 : 0];
        const ExtrapolationData::Point& point = curve.answer.points[i];
        if (keyOf(point.length) < from || keyOf(before.length) > to) continue;
        nearest = std::min(nearest, distance(value, 100 * before.accuracy(), 100 * point.accuracy()));
      }
    if (nearest > farthest) {
      farthest = nearest;
      best = height;
    }
  }
  return best;
}

void ExtrapolationPanel::drawCurve(const Curve& curve) {
  const RunSeries& run = runOf(curve);
  QVector<QCPGraphData> line, low, high;
  for (const ExtrapolationData::Point& point : curve.answer.points) {
    const double key = keyOf(point.length), accuracy = point.accuracy();
    line.append({key, 100 * accuracy});
    low.append({key, 100 * (std::isnan(point.low) ? accuracy : point.low)});
    high.append({key, 100 * (std::isnan(point.high) ? accuracy : point.high)});
  }
  QCPGraph* floor = graphs_.next();
  QCPGraph* ceiling = graphs_.next();
  for (QCPGraph* edge : {floor, ceiling}) edge->setPen(Qt::NoPen);
  QColor color = theme().runColor(run.palette_index);
  QCPGraph* graph = graphs_.next();
  graph->setPen(theme().runPen(run.palette_index, run.marker_index));
  graph->setScatterStyle(scatterStyle(theme(), run.marker_index, color, marker_size));
  color.setAlpha(curves_.size() > 1 ? 36 : 60);  // bands of several runs lie on one another
  ceiling->setBrush(color);
  ceiling->setChannelFillGraph(floor);
  floor->data()->set(low, true);
  ceiling->data()->set(high, true);
  graph->data()->set(line, true);
}

void ExtrapolationPanel::hover(const QPointF& pixel) {
  if (!rect_->rect().contains(pixel.toPoint())) {
    leave();
    return;
  }
  const double wanted = xAxis()->pixelToCoord(pixel.x());
  std::int64_t nearest = 0;
  double nearest_distance = std::numeric_limits<double>::infinity();
  for (const Curve& curve : curves_)
    for (const ExtrapolationData::Point& point : curve.answer.points)
      if (const double distance = std::abs(keyOf(point.length) - wanted); distance < nearest_distance) {
        nearest_distance = distance;
        nearest = point.length;
      }
  QString text = QStringLiteral("<b>%1</b>").arg(tokensText(nearest));
  std::vector<QPointF> avoid;
  for (const Curve& curve : curves_)
    for (const ExtrapolationData::Point& point : curve.answer.points) {
      avoid.emplace_back(xAxis()->coordToPixel(keyOf(point.length)), yAxis()->coordToPixel(100 * point.accuracy()));
      if (point.length != nearest) continue;
      text += tr("<br>%1: %2 (%3 to %4), %5 of %6")
                  .arg(QString::fromStdString(runOf(curve).title).toHtmlEscaped(), percent(point.accuracy()),
                       percent(point.low), percent(point.high), stepText(point.right), stepText(point.sequences));
    }
  hoverLabel()->showAt(text, {xAxis()->coordToPixel(keyOf(nearest)), pixel.y()}, avoid, rect_->rect());
}

QString ExtrapolationPanel::describe() const {
  const Curve* curve = currentCurve();
  if (!curve) return tr("The current run has no curve yet; the others show what they had when they were current.");
  const ExtrapolationData& answer = curve->answer;
  constexpr std::int64_t far = 4;  // times the trained length: what is told where it was measured
  auto told = std::ranges::find(answer.points, far * answer.trained_length, &ExtrapolationData::Point::length);
  if (told == answer.points.end()) told = answer.points.end() - 1;
  const QString times = timesText(told->length, answer.trained_length);
  QString text = tr("At %1").arg(tokensText(told->length));
  if (!times.isEmpty()) text += tr(", %1").arg(times);
  text += tr(", %1 of the answers are right").arg(percent(told->accuracy()));
  const auto trained = std::ranges::find(answer.points, answer.trained_length, &ExtrapolationData::Point::length);
  if (trained != answer.points.end() && trained != told)
    text += tr(", at the trained length %1").arg(percent(trained->accuracy()));
  if (std::isfinite(answer.chance)) text += tr("; guessing gives %1").arg(percent(answer.chance));
  text += tr(" (step %1).").arg(stepText(answer.step));
  const std::int64_t longest = answer.points.back().length;
  if (longest > answer.trained_length)  // else its positions end there
    text += tr(" Lengths beyond %1 are asked for by mambarium-worker evaluate --lengths.").arg(stepText(longest));
  return text;
}

PanelTable ExtrapolationPanel::table() const {
  PanelTable table;
  table.columns = {QStringLiteral("run"),       QStringLiteral("step"),  QStringLiteral("trained_length"),
                   QStringLiteral("length"),    QStringLiteral("low"),   QStringLiteral("high"),
                   QStringLiteral("sequences"), QStringLiteral("right"), QStringLiteral("accuracy")};
  if (!hasData()) return table;
  for (const Curve& curve : curves_)
    for (const ExtrapolationData::Point& point : curve.answer.points)
      table.rows.push_back({QString::fromStdString(runOf(curve).title), exactText(curve.answer.step),
                            exactText(curve.answer.trained_length), exactText(point.length), exactText(point.low),
                            exactText(point.high), exactText(point.sequences), exactText(point.right),
                            exactText(point.accuracy())});
  return table;
}

}  // namespace mambarium
