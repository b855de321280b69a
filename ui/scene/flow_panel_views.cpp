#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ui/plots/number_text.h"
#include "ui/scene/fixed_point_label.h"
#include "ui/scene/flow_labels.h"
#include "ui/scene/flow_panel.h"
#include "ui/scene/flow_plane_label.h"
#include "ui/scene/flow_plane_marks.h"

namespace mambarium {

namespace {

constexpr double pale =
    0.55;  // how much of the panel's ground is mixed into the speed's colours, so that lines stand out

constexpr double lowest_with_choices = 250;  // pixels of the design

// One coordinate of points [count, dimension].
std::vector<double> column(const std::vector<double>& points, std::int64_t dimension, std::int64_t axis) {
  std::vector<double> numbers;
  for (auto i = static_cast<std::size_t>(axis); i < points.size(); i += static_cast<std::size_t>(dimension))
    numbers.push_back(points[i]);
  return numbers;
}

std::function<FlowPoint(const FlowPoint&)> sampled(const FlowStudy& study) {
  return [study](const FlowPoint& at) {
    const std::vector<double> v = study.velocity(std::span(at).first(static_cast<std::size_t>(study.dimension)));
    FlowPoint vector{};
    std::ranges::copy(v, vector.begin());
    return vector;
  };
}

}  // namespace

void FlowPanel::showEvent(QShowEvent* event) {
  TokenPanel::showEvent(event);
  if (hasData()) refresh({});  // in space only what is visible is drawn
}

void FlowPanel::resizeEvent(QResizeEvent* event) {
  TokenPanel::resizeEvent(event);
  updateRows();
}

// A low panel has them where something else than at first is chosen.
void FlowPanel::updateRows() {
  const bool is_chosen = principal_ || which_ != std::array<std::int64_t, 3>{0, 1, 2} || !beside_.empty();
  const auto is_there = [](const QComboBox* box) { return !box->isHidden(); };
  const bool is_choice =
      is_there(axes_box_) || is_there(beside_box_) || std::ranges::any_of(coordinate_boxes_, is_there);
  choices_row_->setVisible(is_choice && (is_chosen || height() >= theme().px(lowest_with_choices)));
  setRowText(reading_label_, readingText());
}

void FlowPanel::clearPlane() {
  for (QCPAbstractPlottable* const plottable : drawn_) chart()->removePlottable(plottable);
  drawn_.clear();
  speed_cells_->setCells(0, 0, {});
  for (QCPGraph* const mark : {ball_, fixed_mark_}) mark->data()->clear();
  fixed_label_->clear();
  plane_marks_->clear();
}

QCPCurve* FlowPanel::addCurve(const std::vector<double>& x, const std::vector<double>& y, const QPen& pen) {
  auto* const curve = new QCPCurve(xAxis(), yAxis());
  QVector<double> times(static_cast<qsizetype>(x.size()));
  std::iota(times.begin(), times.end(), 0.0);
  curve->setData(times, QVector<double>(x.begin(), x.end()), QVector<double>(y.begin(), y.end()), true);
  curve->setPen(pen);
  drawn_.push_back(curve);
  return curve;
}

void FlowPanel::draw() {
  clearPlane();
  updateCoordinates();
  const bool is_space = drawsSpace();
  chart()->setShown(rect(), !is_space);
  drawTokens();
  drawHeld();
  if (is_space) {
    chart()->parentWidget()->setMaximumHeight(theme().px(34));
    drawSpace();
    return;
  }
  leaveSpace();
  if (study_->dimension == 1)
    drawCurve();
  else
    drawPlane();
}

void FlowPanel::leaveSpace() {
  if (space_) space_->hide();
  chart()->parentWidget()->setMaximumHeight(QWIDGETSIZE_MAX);
  second_fault_.clear();
  updateNote();
}

void FlowPanel::drawCurve() {
  const double lower = study_->box.lower[0], upper = study_->box.upper[0];
  constexpr int nodes = 129;
  std::vector<double> z, v;
  for (int i = 0; i < nodes; ++i) {
    const double at = lower + (upper - lower) * i / (nodes - 1);
    const std::vector<double> velocity = study_->velocity(std::span(&at, 1));
    if (velocity.empty()) continue;
    z.push_back(at);
    v.push_back(velocity[0]);
  }
  addCurve(z, v, QPen(theme().text(), theme().scale() * 1.5));
  addCurve({lower, upper}, {0, 0}, QPen(theme().neutral(), theme().scale(), Qt::DashLine));
  chart()->setAxisTitles(rect(), axisNameText(study_->axis_names[0]), tr("v(z)"));
  xAxis()->setTicker(QSharedPointer<QCPAxisTicker>::create());
  xAxis()->setRange(lower, upper);
  double largest = 0;
  for (const double number : v) largest = std::max(largest, std::abs(number));
  yAxis()->setRange(-1.1 * (largest > 0 ? largest : 1), 1.1 * (largest > 0 ? largest : 1));
  drawMarks();
  drawCursor();
}

void FlowPanel::drawPlane() {
  const FlowStudy& study = *study_;
  xAxis()->setTicker(QSharedPointer<QCPAxisTicker>::create());
  xAxis()->setScaleType(QCPAxis::stLinear);
  xAxis()->setRange(study.box.lower[0], study.box.upper[0]);
  yAxis()->setRange(study.box.lower[1], study.box.upper[1]);
  chart()->setAxisTitles(rect(), axisNameText(study.axis_names[0]), axisNameText(study.axis_names[1]));
  drawSpeed();
  const QPen thin(Theme::mixed(theme().text(), theme().panel(), 0.35), theme().scale());
  for (const Streamline& line : study.lines)
    if (line.count() > 1) addCurve(column(line.points, 2, 0), column(line.points, 2, 1), thin);
  if (reading_ && read_line_.count() > 1)
    addCurve(column(read_line_.points, 2, 0), column(read_line_.points, 2, 1),
             QPen(theme().accent(), theme().scale() * 2.5));
  const RunSeries* const run = currentRun();
  addCurve(column(study.path.z, 2, 0), column(study.path.z, 2, 1),
           QPen(theme().runColor(run ? run->palette_index + 1 : 1), theme().scale() * 1.5));
  drawHeads();
  drawMarks();
  drawCursor();
}

void FlowPanel::drawHeads() {
  std::vector<FlowPlaneMarks::Head> heads;
  for (const Streamline& line : study_->lines) {
    if (!glyphs_ || line.count() < 2) continue;
    const auto middle = static_cast<std::size_t>(line.count() / 2);
    const auto point = [&](std::size_t index) { return QPointF(line.points[2 * index], line.points[2 * index + 1]); };
    heads.push_back({point(middle), point(middle - 1)});
  }
  plane_marks_->setHeads(std::move(heads), theme());
  if (reading_ && reading_->z.size() == 2) plane_marks_->setPick({reading_->z[0], reading_->z[1]}, theme());
}

void FlowPanel::drawSpeed() {
  const SpeedGrid& speeds = study_->speeds;
  const auto columns = static_cast<int>(speeds.grid.nodes[0]), rows = static_cast<int>(speeds.grid.nodes[1]);
  double largest = 0;
  for (const double speed : speeds.speed)
    if (std::isfinite(speed)) largest = std::max(largest, speed);
  std::vector<QColor> colors;
  for (const double speed : speeds.speed)
    colors.push_back(std::isfinite(speed)
                         ? Theme::mixed(theme().sequential(largest > 0 ? speed / largest : 0), theme().panel(), pale)
                         : theme().missing());
  speed_cells_->setCells(rows, columns, std::move(colors));
  rect()->axis(QCPAxis::atTop)->setRange(0, columns - 1);
  rect()->axis(QCPAxis::atRight)->setRange(0, rows - 1);
}

void FlowPanel::drawMarks() {
  std::vector<LegendEntry> legend;
  const RunSeries* const run = currentRun();
  const QColor path = theme().runColor(run ? run->palette_index + 1 : 1);
  if (study_->dimension == 2) {
    legend.push_back(
        {tr("streamlines"), QPen(Theme::mixed(theme().text(), theme().panel(), 0.35), theme().scale()), -1, {}});
    legend.push_back({tr("z along the sequence"), QPen(path, theme().scale() * 1.5), -1, {}});
  } else {
    legend.push_back({tr("v(z)"), QPen(theme().text(), theme().scale() * 1.5), -1, {}});
  }
  if (study_->fixed_point && study_->inside) {
    const FixedPoint& fixed = *study_->fixed_point;
    const bool is_stable = study_->stable();
    constexpr double size = 9;
    const QPointF at(fixed.z[0], study_->dimension == 2 ? fixed.z[1] : 0.0);
    const QString type = QString::fromStdString(to_text(fixed.stability));
    fixed_mark_->setScatterStyle(scatterStyle(theme(), 0, theme().text(), size, !is_stable));
    fixed_mark_->setData({at.x()}, {at.y()});
    fixed_label_->setLabel(at, theme().px(size / 2), type, eigenvalueText(fixed.eigenvalues), theme());
    legend.push_back({tr("fixed point, %1").arg(type), QPen(Qt::NoPen), 0, theme().text(), !is_stable});
  }
  chart()->flowLegend()->setEntries(std::move(legend));
}

void FlowPanel::drawCursor() {
  ball_->data()->clear();
  if (!study_ || cursor_ < 0 || cursor_ >= study_->path.points()) return;
  const auto z = study_->path.point(cursor_);
  const RunSeries* const run = currentRun();
  ball_->setScatterStyle(scatterStyle(theme(), 0, theme().runColor(run ? run->palette_index + 1 : 1), 11));
  ball_->setData({z[0]}, {study_->dimension == 2 ? z[1] : 0.0});
}

void FlowPanel::drawHeld() {
  held_mark_->setVisible(held_.has_value());
  const auto token = static_cast<double>(inputToken());
  held_mark_->setPen(QPen(theme().text(), theme().scale() * 3));  // the strip cuts off its outer half
  held_mark_->setBrush(Qt::NoBrush);
  held_mark_->topLeft->setCoords(token + 0.5, 0);
  held_mark_->bottomRight->setCoords(token + 1.5, 1);
}

void FlowPanel::drawSpace() {
  if (!space_) {
    auto* const made = new FlowSpaceView(this);
    space_ = made;
    auto* const column_layout = qobject_cast<QVBoxLayout*>(layout());
    column_layout->insertWidget(column_layout->indexOf(chart()->parentWidget()) + 1, made, 1);
    setTabOrderBelow(made->controls());
    connect(made, &FlowSpaceView::picked, this, [this](const FlowPick& pick) {
      if (!study_) return;
      read({pick.z.begin(), pick.z.begin() + static_cast<std::ptrdiff_t>(study_->dimension)});
      draw();
      chart()->requestReplot();
      const bool is_sequence = pick.kind == FlowPick::Kind::trajectory && pick.index == 0;  // not a seeded streamline
      if (pick.token && is_sequence) Q_EMIT tokenHovered(static_cast<int>(*pick.token));
    });
    connect(made, &FlowSpaceView::saved, this, [this](const QString& path) { tell(tr("Saved %1").arg(path)); });
    connect(made, &FlowSpaceView::saveFailed, this, &FlowPanel::tell);
  }
  space_->setTheme(theme());
  space_->show();
  chart()->flowLegend()->setEntries({});
  const FlowMarks marks{.glyphs = glyphs_,
                        .cursor = cursor_ >= 0 ? std::optional<std::int64_t>(cursor_) : std::nullopt};
  FlowPicture picture = picture_of(*study_, marks);
  if (reading_ && read_line_.count() > 1 && static_cast<std::int64_t>(reading_->z.size()) == study_->dimension) {
    FlowTrajectory seeded{.points = {}, .tokens = {}, .seeded = true};
    for (std::int64_t i = 0; i < read_line_.count(); ++i) {
      FlowPoint point{};
      std::copy_n(read_line_.points.begin() + static_cast<std::ptrdiff_t>(i * study_->dimension), study_->dimension,
                  point.begin());
      seeded.points.push_back(point);
    }
    picture.trajectories.push_back(std::move(seeded));
  }
  auto other = second(marks);
  if (other) {  // a colour is one speed in both
    FlowSpeedRange& here = picture.speed;
    here.upper = std::max(here.upper, other->second.speed.upper);
    other->second.speed = here;
  }
  const auto title = [](const RunSeries& run) { return QString::fromStdString(run.title); };
  const RunSeries* const run = currentRun();
  space_->setPicture(0, std::move(picture), other && run ? title(*run) : QString(), sampled(*study_));
  if (!other) return space_->clearSecond();
  const auto found = std::ranges::find(data().runs, beside_, &RunSeries::folder);
  space_->setPicture(1, std::move(other->second), found == data().runs.end() ? QString() : title(*found),
                     sampled(other->first));
}

std::optional<std::pair<FlowStudy, FlowPicture>> FlowPanel::second(const FlowMarks& marks) {
  second_fault_.clear();
  std::optional<std::pair<FlowStudy, FlowPicture>> drawn;
  const auto answer = data().others.find(beside_);
  if (!beside_.empty() && answer != data().others.end()) {
    try {
      const auto other = answer->second.get<FlowData>();
      FlowChoices same = choices();
      same.token = std::min(same.token, static_cast<std::int64_t>(other.tokens.size()) - 1);
      const FlowStudy study = mambarium::study(other, same);
      FlowPicture picture = picture_of(study, marks);
      validate(picture);
      drawn.emplace(study, std::move(picture));
    } catch (const std::exception& fault) {
      second_fault_ = QString::fromUtf8(fault.what());
    }
  }
  updateNote();
  return drawn;
}

}  // namespace mambarium
