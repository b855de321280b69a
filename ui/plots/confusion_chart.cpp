#include "ui/plots/confusion_chart.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

// Lengths of the 13-pixel design: what stands beside the cells of the map, and what these should have at least.
constexpr double beside_map = 66, beside_strip = 142, width_of_scale = 95, map_with_strip = 216, map_with_scale = 300;
constexpr double marker_size = 8, width_of_a_run = 26, least_strip = 34, most_strip = 160, low_chart = 190;
constexpr double around_map = 96, cell_for_large = 46, cell_for_unit = 30, cell_for_text = 18, line_height = 13;
constexpr int square = 1;

double stripWidth(const DecodingPicture& picture) {
  const double runs = static_cast<double>(picture.others.size()) + 1;
  return std::clamp(width_of_a_run * runs, least_strip, most_strip);
}

QString percent(double share) {
  return percentText(share, 1);
}

QString intervalText(const ShareInterval& interval) {
  return DecodingView::tr("%1 to %2").arg(fixedText(100 * interval.low, 1), percent(interval.high));
}

// The current run is drawn last, above the others.
std::vector<const Decoded*> allRuns(const DecodingPicture& picture) {
  std::vector<const Decoded*> runs;
  for (const Decoded& other : picture.others) runs.push_back(&other);
  runs.push_back(&picture.current);
  return runs;
}

}  // namespace

ConfusionChart::ConfusionChart(Chart* chart) : DecodingView(chart) {
  build(Room::map);
}

ConfusionChart::~ConfusionChart() {
  clear();
}

void ConfusionChart::build(Room room) {
  room_ = room;
  int column = 0;
  edges_ = std::make_unique<QCPMarginGroup>(chart());
  map_ = chart()->addRect(0, column++);
  QCPAxis* const x = map_->axis(QCPAxis::atBottom);
  QCPAxis* const y = map_->axis(QCPAxis::atLeft);
  cells_ = new CellMap(x, y);
  lit_ = new QCPItemRect(chart());
  lit_->setLayer(QLatin1String(Chart::highlight_layer));
  lit_->setClipAxisRect(map_);
  for (QCPItemPosition* corner : {lit_->topLeft, lit_->bottomRight}) {
    corner->setAxisRect(map_);
    corner->setAxes(x, y);
    corner->setType(QCPItemPosition::ptPlotCoords);
  }
  lit_->setVisible(false);
  std::vector<QCPAxisRect*> rects = {map_};
  if (room == Room::all) {
    scale_ = std::make_unique<ColorScale>(chart(), 0, column++);
    rects.push_back(scale_->rect());
  }
  if (room != Room::map) {
    strip_ = chart()->addRect(0, column);
    strip_labels_ = std::make_unique<EndLabels>(strip_);
    strip_graphs_ = std::make_unique<GraphPool>(strip_->axis(QCPAxis::atBottom), strip_->axis(QCPAxis::atLeft));
    rects.push_back(strip_);
  }
  for (QCPAxisRect* rect : rects) rect->setMarginGroup(QCP::msTop | QCP::msBottom, edges_.get());
}

void ConfusionChart::clear() {
  chart()->removeItem(lit_);
  chart()->removePlottable(cells_);
  if (scale_) scale_->remove();
  scale_.reset();
  if (strip_) {
    strip_graphs_->clear();
    strip_graphs_.reset();
    strip_labels_.reset();
    chart()->removeRect(strip_);
    strip_ = nullptr;
  }
  chart()->removeRect(map_);
  edges_.reset();
  chart()->plotLayout()->simplify();
}

void ConfusionChart::draw(const DecodingPicture& picture) {
  const double left = width() - beside_map - beside_strip - stripWidth(picture);  // for the map, beside the strip
  const Room room = left < map_with_strip                    ? Room::map
                    : left - width_of_scale < map_with_scale ? Room::map_and_strip
                                                             : Room::all;
  if (room != room_) {
    clear();
    build(room);
  }
  map_width_ = room == Room::map ? width() - beside_map : room == Room::all ? left - width_of_scale : left;
  drawMap(picture);
  if (strip_) drawStrip(picture);
  drawLegend(picture);
}

double ConfusionChart::mapHeight() const {
  return height() - around_map;
}

bool ConfusionChart::hasTexts(std::size_t answers) const {
  const auto count = static_cast<double>(answers);
  return map_width_ >= cell_for_text * count && mapHeight() >= line_height * count;
}

void ConfusionChart::nameAnswers(QCPAxis* axis, const DecodingPicture& picture) {
  const QFontMetricsF metrics(theme().smallFont());
  const auto count = static_cast<int>(picture.answers());
  const bool across = axis->orientation() == Qt::Horizontal;
  double widest = metrics.height();
  for (int answer = 0; across && answer < count; ++answer)
    widest = std::max(widest, metrics.horizontalAdvance(picture.answerName(static_cast<std::size_t>(answer)) + u' '));
  const double room = (across ? map_width_ : mapHeight()) * theme().scale() / count;
  const int every = std::max(1, static_cast<int>(std::ceil(widest / std::max(room, 1.0))));
  const QSharedPointer<QCPAxisTickerText> names(new QCPAxisTickerText);
  for (int answer = 0; answer < count; answer += every)
    names->addTick(answer, picture.answerName(static_cast<std::size_t>(answer)));
  axis->setTicker(names);
  axis->setRange(-0.5, count - 0.5);
  axis->setRangeReversed(!across);
  axis->grid()->setVisible(false);
}

void ConfusionChart::drawMap(const DecodingPicture& picture) {
  const Tensor& confusion = picture.current.answer.model.confusion;
  const std::size_t count = picture.answers();
  const double cell = map_width_ / static_cast<double>(count), line = mapHeight() / static_cast<double>(count);
  const bool with_counts = line > 2.4 * line_height;
  std::vector<QColor> colors;
  std::vector<QString> texts;
  for (std::size_t truth = 0; truth < count; ++truth)
    for (std::size_t answer = 0; answer < count; ++answer) {
      const double share = rowShare(confusion, truth, answer);
      const auto windows = static_cast<std::int64_t>(confusion.data[truth * count + answer]);
      colors.push_back(theme().sequential(share));
      constexpr double rare = 0.01;
      const int decimals = share < rare ? 1 : 0;
      const QString text = cell < cell_for_unit ? fixedText(100 * share, decimals) : percentText(share, decimals);
      if (windows > 0 && hasTexts(count))
        texts.push_back(with_counts ? text + u'\n' + stepText(windows) : text);
      else
        texts.emplace_back();
    }
  cells_->setCells(static_cast<int>(count), static_cast<int>(count), std::move(colors), std::move(texts));
  cells_->setTextFont(cell < cell_for_large ? theme().smallFont() : theme().font());
  cells_->setBackdrop(theme().grid());
  cells_->setSeparator(theme().scale());
  nameAnswers(map_->axis(QCPAxis::atBottom), picture);
  nameAnswers(map_->axis(QCPAxis::atLeft), picture);
  chart()->setAxisTitles(map_, picture.angles ? tr("Decoded direction") : tr("Decoded class"),
                         picture.angles ? tr("True direction") : tr("True class"));
  if (scale_)
    scale_->draw(tr("Share of the row (%)"), 0, 100, [this](double value) { return theme().sequential(value / 100); });
}

void ConfusionChart::drawStrip(const DecodingPicture& picture) {
  const std::vector<const Decoded*> runs = allRuns(picture);
  const double last = static_cast<double>(runs.size()) - 1;
  const int wide = theme().px(stripWidth(picture));
  strip_->setMinimumSize(wide, 50);
  strip_->setMaximumSize(wide, QWIDGETSIZE_MAX);
  QCPAxis* const x = strip_->axis(QCPAxis::atBottom);
  QCPAxis* const y = strip_->axis(QCPAxis::atLeft);
  x->setRange(-0.6, last + 0.6);
  x->setTicks(false);
  x->setTickLabels(false);
  x->grid()->setVisible(false);
  y->setRange(0, 100);
  y->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker(true)));
  chart()->setAxisTitles(strip_, {}, height() < low_chart ? tr("Right (%)") : tr("Right answers (%)"));

  strip_graphs_->begin();
  std::vector<EndLabel> labels;
  const auto drawLevel = [&](double share, const QString& name, Reference reference) {
    QCPGraph* const level = strip_graphs_->next();
    level->setPen(theme().referencePen(reference));
    level->setData({-0.6, last + 0.6}, {100 * share, 100 * share}, true);
    labels.push_back({100 * share, name.arg(percent(share)), theme().mutedText()});
  };
  drawLevel(picture.guessing(), tr("guessing %1"), Reference::uniform);
  if (picture.knowsIdeal()) drawLevel(picture.current.answer.ideal.accuracy, tr("ideal %1"), Reference::oracle);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Decoded& run = *runs[i];
    const double accuracy = 100 * run.answer.model.accuracy;
    const QColor color = theme().runColor(run.palette_index);
    const ShareInterval interval = run.interval();
    QCPGraph* const bar = strip_graphs_->next();
    QPen pen(color, 2 * theme().scale());
    pen.setCapStyle(Qt::FlatCap);
    bar->setPen(pen);
    bar->setData({static_cast<double>(i), static_cast<double>(i)}, {100 * interval.low, 100 * interval.high}, true);
    QCPGraph* const dot = strip_graphs_->next();
    dot->setLineStyle(QCPGraph::lsNone);
    dot->setScatterStyle(scatterStyle(theme(), run.marker_index, color, marker_size));
    dot->setData({static_cast<double>(i)}, {accuracy}, true);
  }
  strip_graphs_->end();
  labels.push_back(
      {100 * picture.current.answer.model.accuracy, percent(picture.current.answer.model.accuracy), theme().text()});
  strip_labels_->setTheme(theme());
  strip_labels_->setLabels(std::move(labels));
}

void ConfusionChart::drawLegend(const DecodingPicture& picture) {
  std::vector<LegendEntry> legend;
  for (const Decoded* run : allRuns(picture)) {
    const double accuracy = run->answer.model.accuracy;
    QString text = run->title;
    if (picture.others.size() > 0) text = tr("%1, step %2").arg(text, stepText(run->answer.step));
    if (!strip_) text = tr("%1: %2 right").arg(text, percent(accuracy));
    if (const ShareInterval interval = run->interval(); !strip_ && std::isfinite(interval.low))
      text += QStringLiteral(" (%1)").arg(intervalText(interval));
    legend.push_back({text, QPen(Qt::NoPen), run->marker_index, theme().runColor(run->palette_index)});
  }
  if (strip_ && std::isfinite(picture.current.interval().low))
    legend.push_back({tr("bar: 95 % interval"), QPen(theme().text(), 2 * theme().scale()), -1, {}});
  if (!strip_ && picture.knowsIdeal())
    legend.push_back({tr("ideal decoder: %1").arg(percent(picture.current.answer.ideal.accuracy)),
                      theme().referencePen(Reference::oracle),
                      -1,
                      {}});
  if (!strip_)
    legend.push_back(
        {tr("guessing: %1").arg(percent(picture.guessing())), theme().referencePen(Reference::uniform), -1, {}});
  if (!scale_ && !hasTexts(picture.answers()))
    for (const double share : {0.0, 1.0})
      legend.push_back(
          {tr("%1 of the row").arg(percentText(share, 0)), QPen(Qt::NoPen), square, theme().sequential(share)});
  chart()->flowLegend()->setEntries(std::move(legend));
}

std::optional<DecodingReadout> ConfusionChart::read(const DecodingPicture& picture, const QPointF& pixel) {
  if (!map_->rect().contains(pixel.toPoint())) {
    leave();
    return readStrip(picture, pixel);
  }
  const std::size_t count = picture.answers();
  const auto cell = [&](QCPAxis::AxisType axis, double along) {
    const double index = std::round(map_->axis(axis)->pixelToCoord(along));
    return static_cast<std::size_t>(std::clamp(index, 0.0, static_cast<double>(count - 1)));
  };
  const std::size_t truth = cell(QCPAxis::atLeft, pixel.y()), answer = cell(QCPAxis::atBottom, pixel.x());
  const Tensor& confusion = picture.current.answer.model.confusion;
  const double share = rowShare(confusion, truth, answer);
  const auto row = static_cast<double>(truth), column = static_cast<double>(answer);
  lit_->topLeft->setCoords(column - 0.5, row - 0.5);
  lit_->bottomRight->setCoords(column + 0.5, row + 0.5);
  lit_->setPen(
      QPen(Theme::textOn(theme().sequential(share)), 3 * theme().scale(), Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin));
  lit_->setVisible(true);
  chart()->replotHighlight();
  QString text =
      tr("<b>true %1, decoded %2</b><br>%3 of %4")
          .arg(picture.answerName(truth), picture.answerName(answer),
               stepText(static_cast<std::int64_t>(confusion.data[truth * count + answer])),
               countText(static_cast<std::int64_t>(rowWindows(confusion, truth)), tr("window"), tr("windows")));
  if (!std::isnan(share)) text += QStringLiteral(", ") + percent(share);
  if (const Tensor& ideal = picture.current.answer.ideal.confusion; ideal.shape == confusion.shape)
    text += tr("<br>ideal decoder: %1").arg(percent(rowShare(ideal, truth, answer)));
  return DecodingReadout{text, pixel};
}

std::optional<DecodingReadout> ConfusionChart::readStrip(const DecodingPicture& picture, const QPointF& pixel) const {
  if (!strip_ || !strip_->rect().contains(pixel.toPoint())) return std::nullopt;
  const std::vector<const Decoded*> runs = allRuns(picture);
  const double at = std::round(strip_->axis(QCPAxis::atBottom)->pixelToCoord(pixel.x()));
  const Decoded& run = *runs[static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(runs.size() - 1)))];
  QString text = tr("<b>%1</b><br>%2 of %3 right")
                     .arg(run.title.toHtmlEscaped(), percent(run.answer.model.accuracy),
                          countText(run.answer.windows, tr("window"), tr("windows")));
  if (const ShareInterval interval = run.interval(); std::isfinite(interval.low))
    text +=
        tr("<br>95 % interval: %1<br>(%2 without a bin in common)")
            .arg(intervalText(interval), countText(std::llround(run.separateWindows()), tr("window"), tr("windows")));
  return DecodingReadout{text, pixel};
}

void ConfusionChart::leave() {
  if (!lit_->visible()) return;
  lit_->setVisible(false);
  chart()->replotHighlight();
}

}  // namespace mambarium
