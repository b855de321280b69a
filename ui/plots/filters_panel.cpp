#include "ui/plots/filters_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {
namespace {

constexpr std::array view_names = {"map", "stems", "training"};
constexpr double group_width = 0.8;  // of the distance between two lags, for the stems of one lag

}  // namespace

FiltersPanel::FiltersPanel(QWidget* parent)
    : PlotPanel(
          QStringLiteral("filters"), tr("Convolution filters"),
          tr("The taps of the model's convolution will appear here, channel by channel. Press Play (Space) to train."),
          parent) {
  layer_box_ = addChoice({}, tr("Layer of the filters"), tr("Which layer's convolution is shown"));
  layer_box_->hide();
  view_box_ =
      addChoice({tr("Map"), tr("Stems"), tr("Over training")}, tr("View of the filters"),
                tr("The taps now as a colour map or as stems, or as lines over the training steps seen so far"));
  connect(view_box_, &QComboBox::currentIndexChanged, this, [this](int index) {
    view_ = static_cast<View>(index);
    redraw();
  });
  connect(layer_box_, &QComboBox::activated, this, [this](int index) {
    layer_ = index;
    redraw();
  });

  slider_label_ = new QLabel(this);
  slider_label_->setProperty("role", QStringLiteral("hint"));
  slider_ = new QSlider(Qt::Horizontal, this);
  slider_->setAccessibleName(tr("Checkpoint"));
  slider_->setToolTip(tr("Replay: the model at an earlier checkpoint; the right end is now"));
  slider_->setFocusPolicy(Qt::StrongFocus);
  slider_->setPageStep(1);
  footer()->addWidget(slider_label_);
  footer()->addWidget(slider_, 1);
  connect(slider_, &QSlider::valueChanged, this, &FiltersPanel::sliderMoved);
  updateSlider();
}

std::optional<InspectRequest> FiltersPanel::wants() const {
  return InspectRequest{"filters"};
}

nlohmann::json FiltersPanel::options() const {
  return {{"view", view_names[static_cast<std::size_t>(view_)]}, {"layer", layer_}};
}

void FiltersPanel::setOptions(const nlohmann::json& options) {
  const std::string view = optionChoice(options, "filters", "view", view_names[static_cast<std::size_t>(view_)],
                                        {view_names[0], view_names[1], view_names[2]});
  const auto layer = static_cast<int>(optionInteger(options, "filters", "layer", layer_, 0, 63));
  if (layer != layer_) {
    layer_ = layer;
    redraw();
  }
  view_box_->setCurrentIndex(static_cast<int>(std::ranges::find(view_names, view) - view_names.begin()));
}

void FiltersPanel::setCheckpoints(const std::vector<std::int64_t>& steps) {
  if (checkpoints_ == steps) return;
  checkpoints_ = steps;
  updateSlider();
}

void FiltersPanel::setCheckpoint(std::optional<std::int64_t> step) {
  if (checkpoint_ == step) return;
  checkpoint_ = step;
  updateSlider();
}

void FiltersPanel::updateSlider() {
  const QSignalBlocker blocker(slider_);
  const auto last = static_cast<int>(checkpoints_.size());
  slider_->setRange(0, std::max(last, 1));
  slider_->setEnabled(last > 0);
  const auto found =
      checkpoint_ ? std::find(checkpoints_.begin(), checkpoints_.end(), *checkpoint_) : checkpoints_.end();
  slider_->setValue(checkpoint_ ? static_cast<int>(found - checkpoints_.begin()) : slider_->maximum());
  const QString widest = tr("Checkpoint: step %1").arg(stepText(checkpoints_.empty() ? 1000 : checkpoints_.back()));
  slider_label_->setMinimumWidth(slider_label_->fontMetrics().horizontalAdvance(widest));
  slider_label_->setText(checkpoint_ ? tr("Checkpoint: step %1").arg(stepText(*checkpoint_)) : tr("Checkpoint: now"));
}

void FiltersPanel::sliderMoved(int index) {
  const bool now = index >= static_cast<int>(checkpoints_.size());
  setCheckpoint(now ? std::nullopt : std::optional(checkpoints_[static_cast<std::size_t>(index)]));
  Q_EMIT checkpointChosen(checkpoint_);
}

bool FiltersPanel::prepare(const PanelChange& change) {
  if (change.runs) value_range_.reset();
  if (change.inspected) {
    answer_ = {};  // also where an earlier one is malformed
    history_.clear();
    for (const nlohmann::json& earlier : data().earlier) history_.push_back(earlier.get<FilterData>());
    readAnswer(answer_);
    if (data().inspected) {
      std::erase_if(history_, [this](const FilterData& old) { return old.step == answer_.step; });
      history_.push_back(answer_);
    }
    std::ranges::sort(history_, {}, &FilterData::step);
  }
  return !answer_.layers.empty() && !segments(answer_).empty();
}

QString FiltersPanel::emptyText() const {
  if (!answer_.layers.empty()) return tr("This model has no convolution.");
  const RunSeries* run = currentRun();
  if (run && !run->config.applies("model.d_conv")) return tr("This model has no convolution.");
  return PlotPanel::emptyText();
}

int FiltersPanel::shownLayer() const {
  return std::min(layer_, static_cast<int>(answer_.layers.size()) - 1);
}

std::vector<FiltersPanel::Segment> FiltersPanel::segments(const FilterData& answer) const {
  std::vector<Segment> present;
  for (const FilterData::Filter& filter : answer.layers[static_cast<std::size_t>(shownLayer())])
    present.push_back({QString::fromStdString(filter.name), &filter.taps, &filter.bias});
  return present;
}

double FiltersPanel::largestTap() const {
  double largest = 0;
  const auto include = [&](const FilterData& answer) {
    for (const Segment& segment : segments(answer))
      for (const Tensor* tensor : {segment.taps, segment.bias})
        for (const float value : tensor->data)
          if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  };
  if (view_ == View::training)
    for (const FilterData& answer : history_) include(answer);
  include(answer_);
  return largest > 0 ? largest : 1;
}

QString FiltersPanel::lagText(int lag) {
  return lag == 0 ? QStringLiteral("0") : QStringLiteral("−%1").arg(lag);
}

void FiltersPanel::rebuild(int count) {
  const bool wants_scale = view_ == View::map;
  if (static_cast<int>(rects_.size()) == count && scale_.has_value() == wants_scale) return;
  forgetDrawing();
  for (QCPAxisRect* rect : rects_) chart()->removeRect(rect);
  if (scale_) scale_->remove();
  scale_.reset();
  chart()->plotLayout()->simplify();
  rects_.clear();
  for (int i = 0; i < count; ++i) rects_.push_back(chart()->addRect(0, i));
  if (wants_scale) scale_.emplace(chart(), 0, count);
  auto* edges = new QCPMarginGroup(chart());
  for (QCPAxisRect* rect : rects_) rect->setMarginGroup(QCP::msTop | QCP::msBottom, edges);
  if (scale_) scale_->rect()->setMarginGroup(QCP::msTop | QCP::msBottom, edges);
}

void FiltersPanel::forgetDrawing() {
  for (QCPAbstractPlottable* plottable : drawn_) chart()->removePlottable(plottable);
  drawn_.clear();
}

void FiltersPanel::draw() {
  fillNumbered(layer_box_, tr("Layer %1"), std::ssize(answer_.layers), layer_);
  const auto shown = segments(answer_);
  rebuild(static_cast<int>(shown.size()));
  forgetDrawing();

  // A range that only ever grows by steps keeps the colours of two checkpoints comparable.
  const double largest = largestTap();
  value_range_ = linearRange(-largest, largest, value_range_);

  for (std::size_t i = 0; i < shown.size(); ++i) {
    chart()->setHeading(rects_[i], shown[i].name);
    if (view_ != View::training) setLagAxis(shown[i], rects_[i]->axis(QCPAxis::atBottom));
    switch (view_) {
      case View::map:
        drawMap(shown[i], rects_[i]);
        break;
      case View::stems:
        drawStems(shown[i], rects_[i]);
        break;
      case View::training:
        drawTraining(i);
        break;
    }
  }
  if (view_ != View::training) chart()->flowLegend()->setEntries({});
  if (scale_)
    scale_->draw(tr("Tap"), value_range_->lower, value_range_->upper,
                 [this](double value) { return theme().diverging(value / value_range_->upper); });
}

void FiltersPanel::setLagAxis(const Segment& segment, QCPAxis* x) const {
  QSharedPointer<QCPAxisTickerText> lags(new QCPAxisTickerText);
  for (int index = 0; index < segment.width(); ++index) lags->addTick(index, lagText(segment.width() - 1 - index));
  if (segment.hasBias()) lags->addTick(segment.width() + 0.5, tr("bias"));
  x->setTicker(lags);
  x->setRange(-0.5, segment.width() - 0.5 + (segment.hasBias() ? 1.5 : 0));
  x->grid()->setVisible(false);
}

void FiltersPanel::setTapAxis(QCPAxis* y) const {
  y->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker));
  y->setRange(value_range_->lower, value_range_->upper);
  y->setRangeReversed(false);
  y->grid()->setVisible(true);
  y->grid()->setZeroLinePen(QPen(theme().neutral(), theme().scale()));
}

QCPGraph* FiltersPanel::addGraph(QCPAxisRect* rect) {
  QCPGraph* graph = chart()->addGraph(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
  graph->setSelectable(QCP::stNone);
  drawn_.push_back(graph);
  return graph;
}

void FiltersPanel::drawMap(const Segment& segment, QCPAxisRect* rect) {
  chart()->setAxisTitles(rect, tr("Lag (tokens)"), rect == rects_.front() ? tr("Channel") : QString());
  QCPAxis* y = rect->axis(QCPAxis::atLeft);
  y->setTicker(QSharedPointer<QCPAxisTicker>(new TidyTicker(true)));
  y->setRange(-0.5, segment.channels() - 0.5);
  y->setRangeReversed(true);
  y->grid()->setVisible(false);

  std::vector<QColor> taps, biases;
  for (int channel = 0; channel < segment.channels(); ++channel) {
    for (int index = 0; index < segment.width(); ++index)
      taps.push_back(theme().diverging(static_cast<double>(segment.tap(channel, index)) / value_range_->upper));
    if (segment.hasBias())
      biases.push_back(theme().diverging(static_cast<double>(segment.bias->data[static_cast<std::size_t>(channel)]) /
                                         value_range_->upper));
  }
  const auto addCells = [&](int columns, std::vector<QColor> colors, double first_key) {
    auto* cells = new CellMap(rect->axis(QCPAxis::atBottom), y);
    drawn_.push_back(cells);
    cells->setBackdrop(theme().grid());
    cells->setSeparator(theme().scale());
    cells->setCells(segment.channels(), columns, std::move(colors), {}, first_key);
  };
  addCells(segment.width(), std::move(taps), 0);
  if (segment.hasBias()) addCells(1, std::move(biases), segment.width() + 0.5);
}

void FiltersPanel::drawStems(const Segment& segment, QCPAxisRect* rect) {
  chart()->setAxisTitles(rect, tr("Lag (tokens)"), rect == rects_.front() ? tr("Tap") : QString());
  setTapAxis(rect->axis(QCPAxis::atLeft));

  QVector<QCPGraphData> positive, negative;
  const double step = group_width / segment.channels();
  const auto add = [&](double center, int channel, float value) {
    const double key = center - group_width / 2 + (channel + 0.5) * step;
    (value < 0 ? negative : positive).append({key, static_cast<double>(value)});
  };
  for (int channel = 0; channel < segment.channels(); ++channel) {
    for (int index = 0; index < segment.width(); ++index) add(index, channel, segment.tap(channel, index));
    if (segment.hasBias()) add(segment.width() + 0.5, channel, segment.bias->data[static_cast<std::size_t>(channel)]);
  }
  for (const auto& [points, sign] : {std::pair(&positive, 1.0), std::pair(&negative, -1.0)}) {
    const QColor color = theme().diverging(sign);
    QCPGraph* stems = addGraph(rect);
    stems->setLineStyle(QCPGraph::lsImpulse);
    stems->setPen(QPen(color, 1.25 * theme().scale()));
    stems->setScatterStyle(scatterStyle(theme(), 0, color, 4.5));
    stems->data()->set(*points, false);
  }
}

void FiltersPanel::hover(const QPointF& pixel) {
  if (view_ == View::training) {
    hoverTraining(pixel);
    return;
  }
  const auto shown = segments(answer_);
  for (std::size_t i = 0; i < shown.size() && i < rects_.size(); ++i) {
    QCPAxisRect* rect = rects_[i];
    if (!rect->rect().contains(pixel.toPoint())) continue;
    const Segment& segment = shown[i];
    const double key = rect->axis(QCPAxis::atBottom)->pixelToCoord(pixel.x());
    const bool bias = segment.hasBias() && key > segment.width() - 0.25;
    const double center = bias ? segment.width() + 0.5 : std::clamp(std::round(key), 0.0, segment.width() - 1.0);
    const int index = static_cast<int>(center);
    const double row = view_ == View::stems
                           ? std::floor((key - center + group_width / 2) / group_width * segment.channels())
                           : std::round(rect->axis(QCPAxis::atLeft)->pixelToCoord(pixel.y()));
    const int channel = std::clamp(static_cast<int>(row), 0, segment.channels() - 1);
    const float value = bias ? segment.bias->data[static_cast<std::size_t>(channel)] : segment.tap(channel, index);
    const int lag = segment.width() - 1 - index;
    const QString where = bias       ? tr("bias")
                          : lag == 0 ? tr("current token")
                                     : tr("%1 back").arg(countText(lag, tr("token"), tr("tokens")));
    hoverLabel()->showAt(tr("<b>%1, channel %2</b><br>%3: %4")
                             .arg(segment.name)
                             .arg(channel)
                             .arg(where, signedText(static_cast<double>(value))),
                         pixel, {}, chart()->viewport());
    return;
  }
  leave();
}

QString FiltersPanel::describe() const {
  if (view_ == View::training) return describeTraining();
  QString name;
  int at_channel = 0, at_lag = 0;
  float largest = 0;
  for (const Segment& segment : segments(answer_))
    for (int channel = 0; channel < segment.channels(); ++channel)
      for (int index = 0; index < segment.width(); ++index) {
        const float tap = segment.tap(channel, index);
        if (!(std::abs(tap) >= std::abs(largest))) continue;
        largest = tap;
        name = segment.name;
        at_channel = channel;
        at_lag = segment.width() - 1 - index;
      }
  const QString layer = answer_.layers.size() > 1 ? tr(", layer %1").arg(shownLayer() + 1) : QString();
  const QString where = at_lag == 0 ? tr("the current token") : tr("the token %1 back").arg(at_lag);
  return tr("Step %1%2: the largest tap is %3, in channel %4 of %5, on %6.")
      .arg(stepText(answer_.step), layer, signedText(static_cast<double>(largest)), QString::number(at_channel), name,
           where);
}

PanelTable FiltersPanel::table() const {
  PanelTable table;
  table.columns = {QStringLiteral("layer"), QStringLiteral("input"), QStringLiteral("channel"), QStringLiteral("lag"),
                   QStringLiteral("tap")};
  if (!hasData()) return table;
  if (view_ == View::training) return trainingTable();
  for (const Segment& segment : segments(answer_))
    for (int channel = 0; channel < segment.channels(); ++channel) {
      const auto add = [&](const QString& lag, float value) {
        table.rows.push_back({exactText(std::int64_t{shownLayer() + 1}), segment.name, exactText(std::int64_t{channel}),
                              lag, exactText(value)});
      };
      for (int index = 0; index < segment.width(); ++index)
        add(exactText(std::int64_t{index + 1 - segment.width()}), segment.tap(channel, index));
      if (segment.hasBias()) add(QStringLiteral("bias"), segment.bias->data[static_cast<std::size_t>(channel)]);
    }
  return table;
}

}  // namespace mambarium
