// VtkWidget: a VTK renderer in a Qt 6 window. It draws, and says what the mouse does; what that means is its owner's.
//
// Where there is no OpenGL 3.2 (a session without a screen, the offscreen platform) it must not exist: ask available()
// first; the constructor throws std::runtime_error with the same sentence. It renders when update() asked for it and
// then once a frame; never by itself. GUI thread only. An overlay is painted with QPainter over the rendered picture,
// in the widget's (logical) pixels, so that text is Qt's, with the program's fonts, and sharp on any screen.
// Software renderers (isSoftware) get no multisampling: it costs them a factor of two to nine.
#pragma once

#include <QImage>
#include <QOpenGLWidget>
#include <functional>
#include <memory>

class QPainter;
class vtkRenderer;

namespace mambarium {

class VtkWidget : public QOpenGLWidget {
  Q_OBJECT
 public:
  // Call before QApplication is made: the surface format VTK needs, and one context for docked and floating windows.
  static void prepareApplication();
  static bool available(QString* why = nullptr);  // why: one sentence for a person, when not

  explicit VtkWidget(QWidget* parent = nullptr);
  ~VtkWidget() override;

  vtkRenderer& renderer();
  bool isSoftware() const;       // known once something was rendered
  QString rendererName() const;  // of OpenGL, "" before

  // One picture: `framebuffer` pixels, of which `ratio` are a pixel of the design; final: for a file, not a frame.
  struct Frame {
    QSize framebuffer;
    double ratio = 1;
    bool final = false;
  };
  // Called with the context current, just before the renderer renders: the place to set cameras and line widths.
  void setPrepare(std::function<void(const Frame&)> prepare) { prepare_ = std::move(prepare); }
  // Paints over a picture of this many logical pixels.
  void setOverlay(std::function<void(QPainter&, const QSizeF&)> overlay) { overlay_ = std::move(overlay); }

  // The same picture at exactly this size in pixels, smoothed, with lines and text `scale` times as large as on an
  // ordinary screen; without the widget being shown. Throws std::invalid_argument for a size or scale below 1 or a size
  // that the graphics cannot hold.
  QImage image(const QSize& pixels, double scale);

  QSize minimumSizeHint() const override { return {160, 120}; }
  QSize sizeHint() const override { return {640, 480}; }

 Q_SIGNALS:
  void orbited(const QPointF& by);  // logical pixels since the last signal: left drag
  void panned(const QPointF& by);   // middle drag, or Shift and left drag
  void zoomed(double factor);       // wheel, + and -; above 1: nearer
  void resetWanted();               // double click, Home
  void clicked(const QPointF& at);  // pressed and released without dragging
  void dragEnded();

 protected:
  void initializeGL() override;
  void paintGL() override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Parts;
  void render(const Frame& frame);
  void release();
  void paintOverlay(QPaintDevice& device, const QSizeF& size, double scale);

  std::unique_ptr<Parts> parts_;
  std::function<void(const Frame&)> prepare_;
  std::function<void(QPainter&, const QSizeF&)> overlay_;
  QPointF pressed_at_, last_at_;
  Qt::MouseButton button_ = Qt::NoButton;
  bool dragging_ = false, panning_ = false;
};

}  // namespace mambarium
