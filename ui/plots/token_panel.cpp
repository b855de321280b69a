#include "ui/plots/token_panel.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

namespace mambarium {

TokenPanel::TokenPanel(const QString& id, const QString& title, const QString& empty_text, QWidget* parent)
    : PlotPanel(id, title, empty_text, parent),
      strip_(chart()->addRect(0)),
      rect_(chart()->addRect(1)),
      position_ticker_(new TidyTicker(true)),
      graphs_(xAxis(), yAxis()) {
  sides_ = new QCPMarginGroup(chart());
  for (QCPAxisRect* aligned : {strip_, rect_}) aligned->setMarginGroup(QCP::msLeft | QCP::msRight, sides_);
  chart()->hideAxes(strip_);
  position_ticker_->fitTo(xAxis());
  cells_ = new CellMap(strip_->axis(QCPAxis::atBottom), strip_->axis(QCPAxis::atLeft));
  bands_ = {makeBand(strip_), makeBand(rect_)};

  QStringList sequences;
  for (std::int64_t i = 1; i <= probe_count; ++i) sequences << tr("Sequence %1").arg(i);
  probe_box_ = addChoice(sequences, tr("Probe sequence of the panel “%1”").arg(title),
                         tr("Which of the fixed probe sequences is shown; all panels follow"));
  connect(probe_box_, &QComboBox::activated, this, [this](int index) { chooseProbe(index); });
}

QCPAxisRect* TokenPanel::addAligned(int row) {
  QCPAxisRect* aligned = chart()->addRect(row);
  aligned->setMarginGroup(QCP::msLeft | QCP::msRight, sides_);
  aligned_.push_back(aligned);
  bands_.push_back(makeBand(aligned));
  return aligned;
}

QCPItemRect* TokenPanel::makeBand(QCPAxisRect* rect) {
  auto* band = new QCPItemRect(chart());
  band->setLayer(QLatin1String(Chart::highlight_layer));
  band->setClipAxisRect(rect);
  band->setPen(Qt::NoPen);
  for (auto* corner : {band->topLeft, band->bottomRight}) {
    corner->setAxes(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
    corner->setAxisRect(rect);
    corner->setTypeX(QCPItemPosition::ptPlotCoords);
    corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
  }
  band->setVisible(false);
  return band;
}

std::optional<InspectRequest> TokenPanel::wants() const {
  return InspectRequest{id().toStdString(), probe_};
}

void TokenPanel::setProbe(std::int64_t probe) {
  if (probe_ == probe || probe < 0 || probe >= probe_count) return;
  probe_ = probe;
  const QSignalBlocker blocker(probe_box_);
  probe_box_->setCurrentIndex(static_cast<int>(probe));
  Q_EMIT optionsChanged();
}

void TokenPanel::chooseProbe(std::int64_t probe) {
  setProbe(probe);
  Q_EMIT probeChosen(probe_);
}

std::int64_t TokenPanel::probeFrom(const nlohmann::json& options) const {
  return optionInteger(options, id().toStdString().c_str(), "probe", probe_, 0, probe_count - 1);
}

nlohmann::json TokenPanel::withProbe(nlohmann::json options) const {
  options["probe"] = probe_;
  return options;
}

void TokenPanel::highlightToken(int position) {
  const bool there = hasData() && position >= 0 && position < static_cast<int>(tokens().size());
  const int wanted = there ? position : -1;
  if (highlighted_ == wanted) return;
  highlighted_ = wanted;
  updateBands();
  chart()->replotHighlight();
}

void TokenPanel::updateBands() {
  for (QCPItemRect* band : bands_) {
    band->setVisible(highlighted_ >= 0 && (band == bands_[0] ? strip_shown_ : along_positions_));
    band->setBrush(theme().highlight());
    band->topLeft->setCoords(highlighted_ + 0.5, 0);
    band->bottomRight->setCoords(highlighted_ + 1.5, 1);
  }
}

void TokenPanel::setAlongTokens(bool strip, bool positions) {
  if (strip != strip_shown_) chart()->setShown(strip_, strip);
  strip_shown_ = strip;
  along_positions_ = positions;
  updateBands();
}

void TokenPanel::hover(const QPointF& pixel) {
  const int last = static_cast<int>(tokens().size());
  const bool on_strip = strip_shown_ && strip_->rect().contains(pixel.toPoint());
  const auto is_below = [&](const QCPAxisRect* rect) { return rect->rect().contains(pixel.toPoint()); };
  const bool on_curve = along_positions_ && (is_below(rect_) || std::ranges::any_of(aligned_, is_below));
  if (!(on_strip || on_curve) || last == 0) {
    leave();
    return;
  }
  const QCPAxis* positions = strip_->axis(QCPAxis::atBottom);
  const int t = std::clamp(static_cast<int>(std::lround(positions->pixelToCoord(pixel.x()))), 1, last);
  const int position = t - 1;
  highlightToken(position);
  if (announced_ != position) Q_EMIT tokenHovered(announced_ = position);

  std::vector<QPointF> avoid;
  for (int near = std::max(0, position - 40); near < std::min(last, position + 41); ++near)
    for (const double value : drawnValues(near))
      avoid.emplace_back(xAxis()->coordToPixel(near + 1), yAxis()->coordToPixel(value));
  const auto here = drawnValues(position);
  const bool is_drawn = !here.empty() && std::isfinite(here.front());
  const double y = is_drawn ? yAxis()->coordToPixel(here.front()) : rect_->center().y();
  const std::int32_t token = tokens()[static_cast<std::size_t>(position)];
  QString text = window_ ? tr("<b>t = %1</b>, bin %2, %3").arg(t).arg(window_->first_bin + token).arg(labelText())
                         : tr("<b>t = %1</b>, token %2").arg(t).arg(token);
  if (!window_ && token == switchToken()) text += tr(", a switch");
  hoverLabel()->showAt(text + readout(position), {xAxis()->coordToPixel(t), y}, avoid, chart()->viewport());
}

void TokenPanel::leave() {
  PlotPanel::leave();
  highlightToken(-1);
  if (announced_ >= 0) Q_EMIT tokenHovered(announced_ = -1);
}

std::optional<std::int32_t> TokenPanel::switchToken() const {
  const RunSeries* run = currentRun();
  return run ? switch_token_of(run->config) : std::nullopt;
}

std::optional<LegendEntry> TokenPanel::switchEntry(int marker) const {
  const auto token = switchToken();
  if (!token || std::ranges::count(tokens(), *token) == 0) return std::nullopt;
  return LegendEntry{tr("switch token %1").arg(*token), QPen(Qt::NoPen), marker, theme().switchColor()};
}

QString TokenPanel::labelText() const {
  const RunSeries* const run = currentRun();
  const bool of_files = run && is_decoder(run->config) && run->config.text("task.recording") == "windows";
  return of_files ? tr("class %1").arg(window_->label)
                  : tr("direction %1 (%2°)").arg(window_->label).arg(45 * window_->label);
}

QString TokenPanel::windowText() const {
  if (!window_) return {};
  const RunSeries* const run = currentRun();
  const bool of_files = run && run->config.text("task.recording") != "simulated";
  const QString file = of_files ? tr(" of file %1").arg(window_->day + 1) : QString();
  const std::int64_t last = window_->first_bin + std::ssize(tokens()) - 1;
  return tr(" The sequence is bins %1 to %2%3, %4.").arg(window_->first_bin).arg(last).arg(file, labelText());
}

QString TokenPanel::placeText(std::int64_t position) const {
  return window_ ? tr("bin %1").arg(window_->first_bin + position) : tr("token %1").arg(position + 1);
}

QString TokenPanel::positionTitle() const {
  return window_ ? tr("Position t (bins)") : tr("Position t (tokens)");
}

void TokenPanel::drawTokens() {
  const auto count = static_cast<int>(tokens().size());
  std::vector<QColor> colors;
  std::vector<QString> texts;
  const auto switch_token = window_ ? std::nullopt : switchToken();
  const int ordinary = window_ ? count : states() - (switch_token ? 1 : 0);
  for (const std::int32_t token : tokens()) {
    colors.push_back(token == switch_token ? theme().switchColor() : theme().tokenColor(token, ordinary));
    texts.push_back(QString::number(token));
  }
  cells_->setCells(1, count, std::move(colors), std::move(texts), 1);
  cells_->setSeparator(theme().scale());
  cells_->setTextFont(theme().smallFont());

  xAxis()->setTicker(position_ticker_);
  xAxis()->setScaleType(QCPAxis::stLinear);
  xAxis()->setRangeReversed(false);
  xAxis()->setRange(0.5, count + 0.5);
  for (QCPAxisRect* aligned : aligned_) {
    aligned->axis(QCPAxis::atBottom)->setTicker(position_ticker_);
    aligned->axis(QCPAxis::atBottom)->setRange(0.5, count + 0.5);
  }
  if (highlighted_ >= count) highlightToken(-1);
  if (!strip_shown_) return;
  const int height = theme().px(16);
  strip_->setMinimumSize(10, height);
  strip_->setMaximumSize(QWIDGETSIZE_MAX, height);
  strip_->setMinimumMargins(QMargins(0, theme().px(6), 0, 0));
  strip_->axis(QCPAxis::atBottom)->setRange(0.5, count + 0.5);
  strip_->axis(QCPAxis::atLeft)->setRange(-0.5, 0.5);
}

}  // namespace mambarium
