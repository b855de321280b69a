// FlowSpaceView: flow fields in space, one or two side by side whose cameras are locked, with their controls: where the
// camera stands, relief or plane, a plane that clips, and saving as PNG, turntable, .vtp or .vti.
//
// A low view, of less than lowest_with_controls pixels of the design, is all scene: its controls are back when it is
// higher. Exists only where VtkWidget::available(). It draws what it is given and says what was picked; the field is
// its owner's. GUI thread only.
#pragma once

#include <QWidget>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "ui/plots/theme.h"
#include "ui/scene/flow_files.h"
#include "ui/scene/flow_scene.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QSlider;
class QToolButton;

namespace mambarium {

class FlowSpaceView : public QWidget {
  Q_OBJECT
 public:
  explicit FlowSpaceView(QWidget* parent = nullptr);

  // What the scene on the left (0) or right (1) shows, and its heading ("" for none). A second scene fits both again.
  // field: for .vti files.
  void setPicture(std::size_t side, FlowPicture picture, const QString& heading,
                  std::function<FlowPoint(const FlowPoint&)> field);
  void clearSecond();
  bool hasSecond() const { return sides_[1] != nullptr; }
  void setCursor(std::optional<std::int64_t> token);  // of both
  void setTheme(const Theme& theme);

  FlowScene* scene(std::size_t side) const;  // nullptr where there is none
  VtkWidget* widget(std::size_t side) const;
  std::vector<QWidget*> controls() const;  // in the order of Tab, the left scene the first

  static constexpr double lowest_with_controls = 190;

  // One sentence when it could not be written. The format by the ending: .png (of all scenes, side by side, `pixels`
  // each), .vtp and .vti (the left scene's lines and field).
  std::optional<QString> save(const QString& path, const QSize& pixels = {1600, 1200});

  // The same pictures once around the field, `pixels` each scene, as writeTurntable() does.
  std::optional<QString> turntable(const QString& folder, int frames, const QSize& pixels,
                                   const std::function<bool(int)>& progress = {});

 Q_SIGNALS:
  void picked(const mambarium::FlowPick& pick);
  void saved(const QString& path);
  void saveFailed(const QString& sentence);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Side {
    QWidget* frame = nullptr;
    QLabel* heading = nullptr;
    VtkWidget* widget = nullptr;
    FlowScene* scene = nullptr;
    std::function<FlowPoint(const FlowPoint&)> field;
  };
  void addControls();
  void addSide(std::size_t index);
  void updateControls();
  void makeRoom();
  void applyClip();
  void chooseFile();
  void chooseTurntable();
  QImage picture(const QSize& pixels, double turn = 0);  // turn: degrees about the vertical axis

  std::array<std::unique_ptr<Side>, 2> sides_;
  Theme theme_;
  QHBoxLayout* scenes_;
  QWidget* controls_;
  QComboBox *camera_, *clip_axis_;
  QSlider* clip_;
  QToolButton* relief_;
};

}  // namespace mambarium
