#include "ui/scene/flow_scene.h"

#include <vtkCamera.h>
#include <vtkRenderer.h>

#include <QScopeGuard>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "ui/plots/number_text.h"
#include "ui/scene/fixed_point_label.h"
#include "ui/scene/flow_geometry.h"
#include "ui/scene/flow_vector.h"

namespace mambarium {
namespace {

constexpr int settle_milliseconds = 250;
constexpr double degrees_a_pixel = 0.4;
constexpr double pick_reach = 8;     // pixels
constexpr double clear_of_eye = 20;  // in the world; a parallel eye may stand anywhere behind the scene
constexpr int most_grid_lines = 5;

QSizeF sizeOf(const VtkWidget& widget) {
  return {static_cast<double>(std::max(widget.width(), 1)), static_cast<double>(std::max(widget.height(), 1))};
}

}  // namespace

FlowScene::FlowScene(VtkWidget& widget, QObject* parent)
    : QObject(parent), widget_(widget), drawing_(widget.renderer()) {
  settle_.setSingleShot(true);
  settle_.setInterval(settle_milliseconds);
  connect(&settle_, &QTimer::timeout, this, [this] {
    camera_moving_ = data_moving_ = false;
    widget_.update();
  });
  connect(&widget, &VtkWidget::orbited, this,
          [this](const QPointF& by) { moved(orbited(camera_, by.x() * degrees_a_pixel, by.y() * degrees_a_pixel)); });
  connect(&widget, &VtkWidget::panned, this, [this](const QPointF& by) {
    const double height = sizeOf(widget_).height();
    moved(panned(camera_, by.x() / height, -by.y() / height));
  });
  connect(&widget, &VtkWidget::zoomed, this, [this](double factor) { moved(zoomed(camera_, factor)); });
  connect(&widget, &VtkWidget::resetWanted, this, &FlowScene::resetView);
  connect(&widget, &VtkWidget::clicked, this, [this](const QPointF& at) {
    if (!has_picture_) return;
    setPicked(pickAt(at));
    if (picked_) Q_EMIT pointPicked(*picked_);
  });
  connect(&widget, &QOpenGLWidget::resized, this, &FlowScene::refit);
  widget.setPrepare([this](const VtkWidget::Frame& frame) { prepare(frame); });
  widget.setOverlay([this](QPainter& painter, const QSizeF& size) { paint(painter, size); });
  applyColors();
}

FlowScene::~FlowScene() {
  widget_.setPrepare({});
  widget_.setOverlay({});
}

void FlowScene::setPicture(FlowPicture picture) {
  validate(picture);
  const bool reset = !has_picture_ || picture.dimension != picture_.dimension;
  const bool data_move = has_picture_;
  picture_ = std::move(picture);
  has_picture_ = true;
  if (clip_ && clip_->axis >= picture_.dimension) clip_.reset();
  if (reset) picked_.reset();
  rebuild();
  if (reset) resetView();
  touch(data_move);
}

void FlowScene::rebuild() {
  const bool was_flat = space_.isFlat();
  const double old_radius = space_.radius();
  space_ = FlowSpace(picture_, relief_);
  std::array<std::vector<double>, 3> ticks;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(picture_.dimension); ++axis) {
    for (const FlowTick& tick : flowTicks(picture_.lower[axis], picture_.upper[axis], most_grid_lines)) {
      FlowPoint z = picture_.lower;
      z[axis] = tick.value;
      ticks[axis].push_back(space_.world(z)[axis]);
    }
  }
  drawing_.setPicture(picture_, space_, ticks);
  applyColors();
  applyClip();
  setCursor(picture_.cursor);
  if (was_flat != space_.isFlat()) {
    resetView();
  } else if (old_radius != space_.radius()) {
    refit();
  }
}

void FlowScene::refit() {
  if (is_fitted_) publish(fitted(camera_, sizeOf(widget_)));
}

void FlowScene::setCursor(std::optional<std::int64_t> token) {
  picture_.cursor = token;
  std::ptrdiff_t point = -1;
  if (token && picture_.current_trajectory >= 0) {
    point = pointOfToken(picture_.trajectories[static_cast<std::size_t>(picture_.current_trajectory)], *token);
  }
  drawing_.setBall(picture_, space_, point);
  touch(false);
}

std::optional<FlowPoint> FlowScene::ball() const {
  if (!drawing_.ball()) return std::nullopt;
  return space_.data(*drawing_.ball());
}

void FlowScene::setTheme(const Theme& theme) {
  theme_ = theme;
  applyColors();
  widget_.update();
}

void FlowScene::applyColors() {
  const int palette_index =
      picture_.current_trajectory < 0
          ? 1
          : picture_.trajectories[static_cast<std::size_t>(picture_.current_trajectory)].palette_index;
  drawing_.setColors(theme_, picture_.surface.has_value(), theme_.runColor(palette_index));
  const QColor ground = theme_.panel();
  widget_.renderer().SetBackground(ground.redF(), ground.greenF(), ground.blueF());
}

void FlowScene::setLineStyle(LineStyle style) {
  style_ = style;
  widget_.update();
}

void FlowScene::setRelief(bool relief) {
  if (relief_ == relief) return;
  relief_ = relief;
  if (has_picture_) rebuild();
  widget_.update();
}

void FlowScene::setAxesVisible(bool visible) {
  axes_visible_ = visible;
  drawing_.setAxesVisible(visible);
  refit();
  widget_.update();
}

void FlowScene::setColorBarVisible(bool visible) {
  color_bar_visible_ = visible;
  refit();
  widget_.update();
}

void FlowScene::setClip(const std::optional<FlowClip>& clip) {
  if (clip && (clip->axis < 0 || clip->axis >= picture_.dimension || !std::isfinite(clip->position))) {
    throw std::invalid_argument("clip plane: it must lie across one of the picture's " +
                                std::to_string(picture_.dimension) + " axes, at a finite position");
  }
  if (clip == clip_) return;
  clip_ = clip;
  applyClip();
  touch(false);
}

std::optional<FlowHalfSpace> FlowScene::halfSpace() const {
  if (!clip_) return std::nullopt;
  const auto axis = static_cast<std::size_t>(clip_->axis);
  FlowPoint z = picture_.lower;
  z[axis] = clip_->position;
  FlowHalfSpace kept{.origin = space_.world(z), .normal = {}};
  kept.normal[axis] = clip_->hides_upper ? -1 : 1;
  return kept;
}

void FlowScene::applyClip() {
  drawing_.setClip(halfSpace());
}

void FlowScene::setCamera(const FlowCamera& camera) {
  moved(camera);
}

void FlowScene::moved(const FlowCamera& camera) {
  if (camera == camera_) return;
  is_fitted_ = false;
  publish(camera);
}

void FlowScene::publish(const FlowCamera& camera) {
  if (camera == camera_) return;
  camera_ = camera;
  camera_moving_ = true;
  settle_.start();
  widget_.update();
  Q_EMIT cameraChanged(camera_);
}

void FlowScene::touch(bool data) {
  (data ? data_moving_ : camera_moving_) = true;
  settle_.start();
  widget_.update();
}

void FlowScene::setView(FlowView view) {
  const FlowCamera camera = cameraOf(view, space_.isFlat(), space_.middle(), 1, space_.dimension() == 2);
  is_fitted_ = true;
  publish(fitted(camera, sizeOf(widget_)));
}

void FlowScene::resetView() {
  setView(space_.isFlat() ? FlowView::front : FlowView::isometric);
}

void FlowScene::fit() {
  is_fitted_ = true;
  refit();
}

void FlowScene::lockCameras(FlowScene& a, FlowScene& b) {
  connect(&a, &FlowScene::cameraChanged, &b, &FlowScene::setCamera);
  connect(&b, &FlowScene::cameraChanged, &a, &FlowScene::setCamera);
  b.setCamera(a.camera());
}

FlowText FlowScene::textOn(const QSizeF& size) const {
  return flowText(theme_, size, axes_visible_, color_bar_visible_);
}

FlowMargins FlowScene::marginsOn(const QSizeF& size) const {
  return flowMargins(theme_, space_, textOn(size));
}

// The same view, from as far away as lets every corner of the box be seen beside the text.
FlowCamera FlowScene::fitted(FlowCamera camera, const QSizeF& size) const {
  const FlowMargins margins = marginsOn(size);
  const double width = std::max(size.width() - margins.left - margins.right, size.width() * 0.3);
  const double height = std::max(size.height() - margins.top - margins.bottom, size.height() * 0.3);
  const FlowPoint direction = camera.direction();
  const FlowPoint right = camera.right(), up = cross(right, direction);
  const FlowPoint half = 0.5 * (space_.upper() - space_.lower());
  // With perspective, half of what is seen grows by this much for every step away from the eye.
  const double slope = camera.parallel ? 0 : std::tan(flow_view_angle / 2 * std::numbers::pi / 180);
  double scale = space_.radius() * slope;  // the eye outside the box
  for (int corner = 0; corner < 8; ++corner) {
    const FlowPoint at{corner % 2 ? half[0] : -half[0], corner / 2 % 2 ? half[1] : -half[1],
                       corner / 4 ? half[2] : -half[2]};
    const double nearer = -dot(direction, at) * slope;
    scale = std::max({scale, std::abs(dot(up, at)) * size.height() / height + nearer,
                      std::abs(dot(right, at)) * size.height() / width + nearer});
  }
  constexpr double air = 1.03;  // for what is drawn on the edges, and for a box that turns
  camera.focal_point = space_.middle();
  camera.position = camera.focal_point - direction;
  camera.parallel_scale = camera.parallel ? scale : air * scale;
  return zoomed(camera, 1);
}

FlowProjection FlowScene::projectionOn(const QSizeF& size, const FlowCamera& camera) const {
  const FlowMargins margins = marginsOn(size);
  const auto middle = [](double whole, double before, double after) {
    const double shift = (before - after) / 2;
    return whole / 2 + std::clamp(shift, -whole / 6, whole / 6);
  };
  return {camera,
          size,
          {middle(size.width(), margins.left, margins.right), middle(size.height(), margins.top, margins.bottom)}};
}

FlowProjection FlowScene::projection() const {
  return projectionOn(sizeOf(widget_), camera_);
}

QPointF FlowScene::displayOf(const FlowPoint& z) const {
  return projection().display(space_.place(z, FlowLayer::marks));
}

std::optional<FlowPick> FlowScene::pickAt(const QPointF& at) const {
  return pickFlow(picture_, space_, projection(), halfSpace(), at, pick_reach * theme_.scale());
}

void FlowScene::setPicked(const std::optional<FlowPick>& pick) {
  picked_ = pick;
  widget_.update();
}

void FlowScene::prepare(const VtkWidget::Frame& frame) {
  const QSizeF size = QSizeF(frame.framebuffer) / frame.ratio;
  FlowCamera camera = camera_;
  if (frame.final) {
    const QSizeF shown = sizeOf(widget_);
    const double narrower = (shown.width() / shown.height()) / (size.width() / size.height());
    camera = is_fitted_ ? fitted(camera, size) : zoomed(camera, 1 / std::max(1.0, narrower));
    if (turn_ != 0) camera = turned(camera, space_.isFlat() ? FlowPoint{0, 1, 0} : FlowPoint{0, 0, 1}, turn_);
  }
  drawn_camera_ = camera;
  const FlowProjection view = projectionOn(size, camera);
  const bool moving = data_moving_ || (camera_moving_ && widget_.isSoftware());
  const bool tubes = style_ == LineStyle::tubes || (style_ == LineStyle::automatic && (frame.final || !moving));
  if (!frame.final) tubes_ = tubes;
  drawing_.prepare(camera, space_, tubes, moving && widget_.isSoftware(), frame.ratio);
  vtkRenderer& renderer = widget_.renderer();
  renderer.SetUseFXAA(!frame.final && widget_.isSoftware() && !moving);
  vtkCamera& eye = *renderer.GetActiveCamera();
  const FlowPoint at = camera.parallel ? camera.focal_point - clear_of_eye * camera.direction() : camera.position;
  eye.SetPosition(at[0], at[1], at[2]);
  eye.SetFocalPoint(camera.focal_point[0], camera.focal_point[1], camera.focal_point[2]);
  eye.SetViewUp(camera.view_up[0], camera.view_up[1], camera.view_up[2]);
  eye.SetParallelProjection(camera.parallel);
  eye.SetParallelScale(camera.parallel_scale);
  eye.SetViewAngle(flow_view_angle);
  eye.SetWindowCenter(1 - 2 * view.centre.x() / size.width(), 2 * view.centre.y() / size.height() - 1);
  renderer.ResetCameraClippingRange();
}

QImage FlowScene::render(int width, int height, double scale, double turn) {
  turn_ = turn;
  const auto restore = qScopeGuard([this] { turn_ = 0; });
  return widget_.image({width, height}, scale);
}

void FlowScene::paint(QPainter& painter, const QSizeF& size) {
  if (!has_picture_) return;
  const FlowProjection view = projectionOn(size, drawn_camera_.value_or(camera_));
  const FlowLabels labels{picture_, space_, view, theme_};
  const FlowText text = textOn(size);
  if (text.names) labels.paintAxes(painter, text.numbers);
  if (text.color_bar) labels.paintColorBar(painter);
  const FlowMargins margins = marginsOn(size);
  labels.paintFixedPoint(painter, QRectF(0, 0, size.width() - margins.right, size.height()));
  if (picked_) labels.paintPick(painter, space_.place(picked_->z, FlowLayer::marks));
}

QString FlowScene::caption() const {
  if (!has_picture_) return QStringLiteral("No flow field yet.");
  const FlowCounts drawn = counts();
  QStringList parts;
  const auto add = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) {
      parts << countText(static_cast<std::int64_t>(count), QString::fromLatin1(one), QString::fromLatin1(many));
    }
  };
  add(drawn.lines, "streamline", "streamlines");
  add(drawn.glyphs, "arrow", "arrows");
  add(drawn.trajectories, "trajectory", "trajectories");
  QString text = parts.isEmpty() ? QStringLiteral("Empty flow field") : parts.join(QStringLiteral(", "));
  if (picture_.fixed_point) {
    text += QStringLiteral("; fixed point: %1").arg(QString::fromStdString(picture_.fixed_point->type));
    const QString eigenvalues = eigenvalueText(picture_.fixed_point->eigenvalues);
    if (!eigenvalues.isEmpty()) text += QStringLiteral(", %1").arg(eigenvalues);
  }
  return text + QLatin1Char('.');
}

}  // namespace mambarium
