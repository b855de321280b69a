// FlowScene: a flow field v(z) with its streamlines, trajectories and fixed point, drawn into a VtkWidget.
//
// Give it a FlowPicture whenever the data change: what differs is refilled in place, the camera stays (a picture of
// another dimension resets it). setCursor moves the ball without touching anything else, for mouse moves. While
// something moves, streamlines are plain lines; when it stands still, tubes (LineStyle::automatic).
// The camera is a value in world coordinates (flow_space.h): scenes that share one show the same view, whatever their
// units; lockCameras keeps two so. The scene must not outlive its widget, but may be its
// child. GUI thread only.
#pragma once

#include <QImage>
#include <QObject>
#include <QTimer>
#include <functional>
#include <memory>

#include "ui/plots/theme.h"
#include "ui/scene/flow_camera.h"
#include "ui/scene/flow_drawing.h"
#include "ui/scene/flow_labels.h"
#include "ui/scene/flow_pick.h"
#include "ui/scene/flow_picture.h"
#include "ui/scene/flow_projection.h"
#include "ui/scene/flow_space.h"
#include "ui/scene/vtk_widget.h"

namespace mambarium {

// Hides what lies on one side of a plane across an axis.
struct FlowClip {
  int axis = 0;             // below the picture's dimension
  double position = 0;      // in z
  bool hides_upper = true;  // z[axis] > position
  bool operator==(const FlowClip&) const = default;
};

class FlowScene : public QObject {
  Q_OBJECT
 public:
  enum class LineStyle { automatic, lines, tubes };

  explicit FlowScene(VtkWidget& widget, QObject* parent = nullptr);
  ~FlowScene() override;

  void setPicture(FlowPicture picture);  // throws what validate() throws, and then changes nothing
  const FlowPicture& picture() const { return picture_; }
  void setCursor(std::optional<std::int64_t> token);  // no point of the current trajectory: no ball

  void setTheme(const Theme& theme);
  void setLineStyle(LineStyle style);
  void setRelief(bool relief);  // dimension 2 with a surface: heights instead of a flat plane
  void setAxesVisible(bool visible);
  void setColorBarVisible(bool visible);
  // Throws std::invalid_argument for an axis the picture does not have; a later picture without it drops the clip.
  void setClip(const std::optional<FlowClip>& clip);
  const std::optional<FlowClip>& clip() const { return clip_; }

  const FlowCamera& camera() const { return camera_; }
  void setCamera(const FlowCamera& camera);
  void setView(FlowView view);
  void resetView();  // the whole box: from an angle, a flat plane from the front
  void fit();        // the whole box from where it is seen now, at any size until somebody moves the camera
  // Whatever moves one camera moves the other, beginning with b's becoming a's; ends with either scene.
  static void lockCameras(FlowScene& a, FlowScene& b);

  // Where z is drawn, in the widget's pixels, and what is there (drawing nothing, telling nobody).
  QPointF displayOf(const FlowPoint& z) const;
  std::optional<FlowPick> pickAt(const QPointF& at) const;
  const std::optional<FlowPick>& picked() const { return picked_; }
  void setPicked(const std::optional<FlowPick>& pick);  // draws its mark; a click does this

  FlowCounts counts() const { return drawing_.counts(); }
  std::optional<FlowPoint> ball() const;      // in z
  bool drawsTubes() const { return tubes_; }  // in the last frame
  QString caption() const;                    // one sentence: what is drawn

  // PNG-ready pictures: tubes unless the style is lines, `scale` times the size of text and lines on a screen. Throws
  // as VtkWidget::image does. `turn`: seen from where the camera stands after so many degrees about the vertical axis,
  // as far away as without, so that the frames of a film do not pulse.
  QImage render(int width, int height, double scale = 1, double turn = 0);

 Q_SIGNALS:
  void cameraChanged(const mambarium::FlowCamera& camera);
  void pointPicked(const mambarium::FlowPick& pick);  // by a click

 private:
  void rebuild();
  void refit();  // where the user has not moved the camera
  void applyColors();
  void applyClip();
  void moved(const FlowCamera& camera);  // by the user or the program: no longer fitted
  void publish(const FlowCamera& camera);
  void touch(bool data);
  FlowText textOn(const QSizeF& size) const;
  FlowMargins marginsOn(const QSizeF& size) const;
  FlowCamera fitted(FlowCamera camera, const QSizeF& size) const;
  FlowProjection projectionOn(const QSizeF& size, const FlowCamera& camera) const;
  FlowProjection projection() const;
  std::optional<FlowHalfSpace> halfSpace() const;
  void prepare(const VtkWidget::Frame& frame);
  void paint(QPainter& painter, const QSizeF& size);

  VtkWidget& widget_;
  FlowDrawing drawing_;
  FlowPicture picture_;
  FlowSpace space_;
  Theme theme_;
  FlowCamera camera_;
  std::optional<FlowCamera> drawn_camera_;  // of the frame in preparation
  std::optional<FlowClip> clip_;
  std::optional<FlowPick> picked_;
  LineStyle style_ = LineStyle::automatic;
  bool relief_ = false, axes_visible_ = true, color_bar_visible_ = true;
  double turn_ = 0;  // degrees, of the picture that is being rendered
  bool is_fitted_ = true, has_picture_ = false;
  bool camera_moving_ = false, data_moving_ = false, tubes_ = false;
  QTimer settle_;
};

}  // namespace mambarium
