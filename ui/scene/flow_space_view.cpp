#include "ui/scene/flow_space_view.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QProgressDialog>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <stdexcept>

#include "ui/scene/flow_labels.h"
#include "ui/scene/turntable.h"

namespace mambarium {

namespace {

constexpr int clip_steps = 200;

QToolButton* makeButton(const QString& text, const QString& name, const QString& tip, QWidget* parent) {
  auto* const button = new QToolButton(parent);
  button->setText(text);
  button->setAccessibleName(name);
  button->setToolTip(tip);
  button->setFocusPolicy(Qt::TabFocus);
  return button;
}

// Shortened in the middle where there is no room: the ends of two runs' names tell them apart.
class Heading : public QLabel {
 public:
  explicit Heading(QWidget* parent) : QLabel(parent) {
    setVisible(false);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter(this).drawText(contentsRect(), Qt::AlignCenter,
                            fontMetrics().elidedText(text(), Qt::ElideMiddle, contentsRect().width()));
  }
};

}  // namespace

FlowSpaceView::FlowSpaceView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("flowSpace"));
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  scenes_ = new QHBoxLayout;
  scenes_->setSpacing(8);
  controls_ = new QWidget(this);
  controls_->setLayout(new QHBoxLayout);
  controls_->layout()->setContentsMargins(12, 0, 12, 4);
  controls_->layout()->setSpacing(6);
  column->addLayout(scenes_, 1);
  column->addWidget(controls_);
  addControls();
  addSide(0);
}

void FlowSpaceView::addControls() {
  camera_ = new QComboBox(this);
  camera_->setObjectName(QStringLiteral("flowCamera"));
  camera_->addItems({tr("Whole"), tr("Front"), tr("Side"), tr("Top"), tr("At an angle")});
  camera_->setAccessibleName(tr("Camera"));
  camera_->setToolTip(tr("Where the field is seen from. Drag to orbit, wheel to zoom, Shift and drag to move."));
  connect(camera_, &QComboBox::activated, this, [this](int index) {
    constexpr std::array views = {FlowView::front, FlowView::side, FlowView::top, FlowView::isometric};
    FlowScene& scene = *sides_[0]->scene;
    if (index == 0)
      scene.resetView();
    else
      scene.setView(views[static_cast<std::size_t>(index - 1)]);
  });
  relief_ =
      makeButton(tr("Relief"), tr("Speed as height"), tr("Draw the plane of z as a surface of the speed |v(z)|"), this);
  relief_->setObjectName(QStringLiteral("flowRelief"));
  relief_->setCheckable(true);
  connect(relief_, &QToolButton::toggled, this, [this](bool on) {
    for (const auto& side : sides_)
      if (side) side->scene->setRelief(on);
  });
  clip_axis_ = new QComboBox(this);
  clip_axis_->setObjectName(QStringLiteral("flowClipAxis"));
  clip_axis_->setAccessibleName(tr("Clip across"));
  clip_axis_->setToolTip(tr("Hide what lies beyond a plane"));
  connect(clip_axis_, &QComboBox::activated, this, [this] { applyClip(); });
  clip_ = new QSlider(Qt::Horizontal, this);
  clip_->setObjectName(QStringLiteral("flowClip"));
  clip_->setRange(0, clip_steps);
  clip_->setValue(clip_steps / 2);
  clip_->setMinimumWidth(60);
  clip_->setAccessibleName(tr("Where the clipping plane stands"));
  clip_->setToolTip(tr("Move the plane beyond which nothing is drawn"));
  connect(clip_, &QSlider::valueChanged, this, [this] { applyClip(); });
  auto* const file =
      makeButton(tr("Save…"), tr("Save the field"),
                 tr("Save what is seen as PNG, the lines as .vtp or the field as .vti for ParaView"), this);
  connect(file, &QToolButton::clicked, this, &FlowSpaceView::chooseFile);
  auto* const turntable = makeButton(tr("Turntable…"), tr("Save a turntable"),
                                     tr("Save pictures once around what is seen, for a film"), this);
  connect(turntable, &QToolButton::clicked, this, &FlowSpaceView::chooseTurntable);
  auto* const row = qobject_cast<QHBoxLayout*>(controls_->layout());
  for (QWidget* const control : std::initializer_list<QWidget*>{camera_, relief_, clip_axis_, clip_})
    row->addWidget(control);
  row->addStretch(1);
  row->addWidget(file);
  row->addWidget(turntable);
}

void FlowSpaceView::addSide(std::size_t index) {
  auto side = std::make_unique<Side>();
  side->frame = new QWidget(this);
  auto* const column = new QVBoxLayout(side->frame);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  side->heading = new Heading(side->frame);
  side->widget = new VtkWidget(side->frame);
  side->widget->setFocusPolicy(Qt::StrongFocus);
  side->widget->setAccessibleName(tr("Flow of z in space"));
  column->addWidget(side->heading);
  column->addWidget(side->widget, 1);
  scenes_->addWidget(side->frame, 1);
  side->scene = new FlowScene(*side->widget, side->widget);
  side->scene->setTheme(theme_);
  side->scene->setRelief(relief_->isChecked());
  connect(side->scene, &FlowScene::pointPicked, this, &FlowSpaceView::picked);
  if (index > 0) setTabOrder(sides_[0]->widget, side->widget);
  sides_[index] = std::move(side);
}

std::vector<QWidget*> FlowSpaceView::controls() const {
  std::vector<QWidget*> found;
  for (const auto& side : sides_)
    if (side) found.push_back(side->widget);
  const QLayout& row = *controls_->layout();
  for (int index = 0; index < row.count(); ++index)
    if (QWidget* const control = row.itemAt(index)->widget()) found.push_back(control);
  return found;
}

void FlowSpaceView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  makeRoom();
}

void FlowSpaceView::makeRoom() {
  controls_->setVisible(height() >= theme_.px(lowest_with_controls));
}

void FlowSpaceView::setPicture(std::size_t side, FlowPicture picture, const QString& heading,
                               std::function<FlowPoint(const FlowPoint&)> field) {
  const bool is_new = sides_[side] == nullptr;
  if (is_new) addSide(side);
  Side& own = *sides_[side];
  own.field = std::move(field);
  own.scene->setPicture(std::move(picture));
  own.heading->setText(heading);
  own.heading->setToolTip(heading);
  own.heading->setVisible(!heading.isEmpty());
  if (is_new) {
    FlowScene::lockCameras(*sides_[0]->scene, *own.scene);
    sides_[0]->scene->fit();
  }
  updateControls();
  applyClip();  // the slider is a share of a box that may be another one now
}

void FlowSpaceView::clearSecond() {
  if (!sides_[1]) return;
  QWidget* const frame = sides_[1]->frame;
  sides_[1].reset();
  delete frame;
}

void FlowSpaceView::setCursor(std::optional<std::int64_t> token) {
  for (const auto& side : sides_)
    if (side) side->scene->setCursor(token);
}

void FlowSpaceView::setTheme(const Theme& theme) {
  theme_ = theme;
  makeRoom();
  for (const auto& side : sides_) {
    if (!side) continue;
    side->heading->setFont(theme.font());
    side->scene->setTheme(theme);
  }
}

FlowScene* FlowSpaceView::scene(std::size_t side) const {
  return sides_.at(side) ? sides_[side]->scene : nullptr;
}

VtkWidget* FlowSpaceView::widget(std::size_t side) const {
  return sides_.at(side) ? sides_[side]->widget : nullptr;
}

void FlowSpaceView::updateControls() {
  const FlowPicture& picture = sides_[0]->scene->picture();
  relief_->setVisible(picture.dimension == 2);
  QStringList axes = {tr("No clip")};
  for (int axis = 0; axis < picture.dimension; ++axis)
    axes << tr("Clip %1").arg(axisNameText(picture.axis_names[static_cast<std::size_t>(axis)]));
  if (clip_axis_->count() != axes.size()) {
    clip_axis_->clear();
    clip_axis_->addItems(axes);
  }
  for (int index = 0; index < clip_axis_->count(); ++index)  // another coordinate may run along an axis now
    if (clip_axis_->itemText(index) != axes[index]) clip_axis_->setItemText(index, axes[index]);
  clip_->setEnabled(clip_axis_->currentIndex() > 0);
}

void FlowSpaceView::applyClip() {
  const int axis = clip_axis_->currentIndex() - 1;
  clip_->setEnabled(axis >= 0);
  for (const auto& side : sides_) {
    if (!side) continue;
    const FlowPicture& picture = side->scene->picture();
    if (axis < 0 || axis >= picture.dimension) {
      side->scene->setClip(std::nullopt);
      continue;
    }
    const auto at = static_cast<std::size_t>(axis);
    const double share = static_cast<double>(clip_->value()) / clip_steps;
    side->scene->setClip(
        FlowClip{.axis = axis, .position = picture.lower[at] + share * (picture.upper[at] - picture.lower[at])});
  }
}

QImage FlowSpaceView::picture(const QSize& pixels, double turn) {
  constexpr double design_width = 800;
  const double scale = std::max(1.0, pixels.width() / design_width);
  const QImage left = sides_[0]->scene->render(pixels.width(), pixels.height(), scale, turn);
  if (!sides_[1]) return left;
  const QImage right = sides_[1]->scene->render(pixels.width(), pixels.height(), scale, turn);
  const int heading = static_cast<int>(28 * scale), gap = static_cast<int>(8 * scale);
  QImage both(2 * pixels.width() + gap, pixels.height() + heading, QImage::Format_RGB32);
  both.fill(theme_.panel());
  QPainter painter(&both);
  painter.drawImage(0, heading, left);
  painter.drawImage(pixels.width() + gap, heading, right);
  QFont font = theme_.font();
  font.setPixelSize(static_cast<int>(13 * scale));
  painter.setFont(font);
  painter.setPen(theme_.text());
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    const QRect above(static_cast<int>(side) * (pixels.width() + gap), 0, pixels.width(), heading);
    painter.drawText(above, Qt::AlignCenter,
                     painter.fontMetrics().elidedText(sides_[side]->heading->text(), Qt::ElideMiddle, above.width()));
  }
  return both;
}

std::optional<QString> FlowSpaceView::save(const QString& path, const QSize& pixels) {
  try {
    const FlowPicture& shown = sides_[0]->scene->picture();
    if (path.endsWith(u".vtp")) return writeFlowLines(shown, path);
    if (path.endsWith(u".vti")) {
      constexpr int in_a_plane = 65, in_space = 33;
      const int count = shown.dimension == 2 ? in_a_plane : in_space;
      return writeFlowGrid(
          sampledFlow(shown.dimension, {count, count, count}, shown.lower, shown.upper, sides_[0]->field), path);
    }
    if (!path.endsWith(u".png"))
      return tr("“%1” cannot be saved: its name must end with .png, .vtp or .vti.").arg(path);
    if (!picture(pixels).save(path)) return tr("“%1” cannot be written.").arg(path);
    return std::nullopt;
  } catch (const std::exception& fault) {
    return QString::fromUtf8(fault.what());
  }
}

std::optional<QString> FlowSpaceView::turntable(const QString& folder, int frames, const QSize& pixels,
                                                const std::function<bool(int)>& progress) {
  try {
    return writeTurntable(
        folder, frames, [&](double degrees) { return picture(pixels, degrees); }, progress);
  } catch (const std::exception& fault) {
    return QString::fromUtf8(fault.what());
  }
}

void FlowSpaceView::chooseFile() {
  const QString path =
      QFileDialog::getSaveFileName(this, tr("Save the flow field"), QStringLiteral("flow.png"),
                                   tr("Picture (*.png);;Lines for ParaView (*.vtp);;Field for ParaView (*.vti)"));
  if (path.isEmpty()) return;
  QSize pixels(1600, 1200);
  if (path.endsWith(u".png")) {
    constexpr int usual = 1600, least = 100, most = 8192;
    bool is_chosen = false;
    const int width = QInputDialog::getInt(this, tr("Size of the picture"), tr("Width of each field, in pixels"), usual,
                                           least, most, 100, &is_chosen);
    if (!is_chosen) return;
    const QSize shown = sides_[0]->widget->size();
    pixels = {width, std::max(1, width * shown.height() / std::max(1, shown.width()))};
  }
  if (const auto sentence = save(path, pixels))
    Q_EMIT saveFailed(*sentence);
  else
    Q_EMIT saved(path);
}

void FlowSpaceView::chooseTurntable() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder for the pictures of the turntable"));
  if (folder.isEmpty()) return;
  constexpr int frames = 120;
  QProgressDialog progress(tr("Saving %1 pictures…").arg(frames), tr("Stop"), 0, frames, this);
  progress.setWindowModality(Qt::WindowModal);
  const auto went_on = [&](int done) {
    progress.setValue(done);
    return !progress.wasCanceled();
  };
  if (const auto sentence = turntable(folder, frames, {1280, 960}, went_on))
    Q_EMIT saveFailed(*sentence);
  else
    Q_EMIT saved(folder);
}

}  // namespace mambarium
