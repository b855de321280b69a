#include "ui/scene/vtk_widget.h"

#include <vtkCommand.h>
#include <vtkGenericOpenGLRenderWindow.h>
#include <vtkNew.h>
#include <vtkOpenGLFramebufferObject.h>
#include <vtkOpenGLState.h>
#include <vtkRenderer.h>
#include <vtkUnsignedCharArray.h>

#include <QCoreApplication>
#include <QGuiApplication>
#include <QMouseEvent>
#include <QOffscreenSurface>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <QOpenGLPaintDevice>
#include <QPainter>
#include <QStyleHints>
#include <QSurfaceFormat>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "ui/scene/vtk_events.h"

namespace mambarium {
namespace {

constexpr int hardware_samples = 4;

QSurfaceFormat surfaceFormat() {
  QSurfaceFormat format;
  format.setRenderableType(QSurfaceFormat::OpenGL);
  format.setVersion(3, 2);
  format.setProfile(QSurfaceFormat::CoreProfile);
  format.setDepthBufferSize(24);
  format.setStencilBufferSize(8);
  format.setSamples(0);
  return format;
}

QString whyUnavailable() {
  const QString platform = QGuiApplication::platformName();
  if (platform == QStringLiteral("offscreen") || platform.startsWith(QStringLiteral("minimal")) ||
      platform == QStringLiteral("vnc") || platform == QStringLiteral("linuxfb")) {
    return QStringLiteral("3-D views need a screen with OpenGL; Qt's platform \"%1\" has none.").arg(platform);
  }
  QOpenGLContext context;
  context.setFormat(surfaceFormat());
  QOffscreenSurface surface;
  surface.setFormat(surfaceFormat());
  surface.create();
  if (!context.create() || !surface.isValid() || !context.makeCurrent(&surface)) {
    return QStringLiteral("3-D views need OpenGL; no OpenGL context could be made on this screen.");
  }
  const auto [major, minor] = context.format().version();
  context.doneCurrent();
  if (std::pair(major, minor) < std::pair(3, 2)) {
    return QStringLiteral("3-D views need OpenGL 3.2; this screen has %1.%2.").arg(major).arg(minor);
  }
  return {};
}

bool isSoftwareName(const QString& name) {
  for (const char* const part : {"llvmpipe", "softpipe", "swrast", "Software Rasterizer", "SWR"}) {
    if (name.contains(QLatin1String(part), Qt::CaseInsensitive)) return true;
  }
  return false;
}

}  // namespace

struct VtkWidget::Parts {
  vtkNew<vtkGenericOpenGLRenderWindow> window;
  vtkNew<vtkRenderer> renderer;
  QString renderer_name;
  bool software = false;
  QSurface* surface = nullptr;  // Qt's own, of the context; the context forgets it whenever it is not current
  QMetaObject::Connection context_lost;
};

void VtkWidget::prepareApplication() {
  QSurfaceFormat::setDefaultFormat(surfaceFormat());
  QCoreApplication::setAttribute(Qt::AA_ShareOpenGLContexts);
}

bool VtkWidget::available(QString* why) {
  static const QString reason = whyUnavailable();
  if (why) *why = reason;
  return reason.isEmpty();
}

VtkWidget::VtkWidget(QWidget* parent) : QOpenGLWidget(parent), parts_(std::make_unique<Parts>()) {
  QString why;
  if (!available(&why)) throw std::runtime_error(why.toStdString());
  setFormat(surfaceFormat());
  setFocusPolicy(Qt::StrongFocus);
  vtkGenericOpenGLRenderWindow& window = *parts_->window;
  window.SetReadyForRendering(false);
  window.SetFrameBlitModeToNoBlit();
  parts_->renderer->SetBackgroundAlpha(1);  // nothing of what lies below the widget shines through
  window.AddRenderer(parts_->renderer);
  onVtkEvent(window, vtkCommand::WindowMakeCurrentEvent, [this](void*) {
    if (context() && parts_->surface) context()->makeCurrent(parts_->surface);
  });
  onVtkEvent(window, vtkCommand::WindowIsCurrentEvent, [this](void* answer) {
    *static_cast<bool*>(answer) = context() && QOpenGLContext::currentContext() == context();
  });
  connect(this, &QOpenGLWidget::resized, this, [this] { update(); });
}

VtkWidget::~VtkWidget() {
  // A scene that belongs to the widget needs it whole; QWidget would end it later.
  qDeleteAll(findChildren<QObject*>(QString(), Qt::FindDirectChildrenOnly));
  disconnect(parts_->context_lost);
  release();
}

vtkRenderer& VtkWidget::renderer() {
  return *parts_->renderer;
}
bool VtkWidget::isSoftware() const {
  return parts_->software;
}
QString VtkWidget::rendererName() const {
  return parts_->renderer_name;
}

void VtkWidget::initializeGL() {
  disconnect(parts_->context_lost);
  parts_->context_lost = connect(context(), &QOpenGLContext::aboutToBeDestroyed, this, &VtkWidget::release);
  const GLubyte* const name = context()->functions()->glGetString(GL_RENDERER);
  parts_->renderer_name = name ? QString::fromLatin1(reinterpret_cast<const char*>(name)) : QString();
  parts_->software = isSoftwareName(parts_->renderer_name);
  parts_->surface = context()->surface();
  vtkGenericOpenGLRenderWindow& window = *parts_->window;
  window.SetForceMaximumHardwareLineWidth(1);
  window.SetReadyForRendering(true);
  window.SetOwnContext(0);
  window.SetMultiSamples(parts_->software ? 0 : hardware_samples);
  window.OpenGLInitContext();
  window.GetState()->Reset();
  window.GetState()->vtkglDepthFunc(GL_LEQUAL);
}

void VtkWidget::release() {
  if (!context()) return;
  makeCurrent();
  parts_->window->Finalize();
  parts_->window->SetReadyForRendering(false);
  parts_->surface = nullptr;
  doneCurrent();
}

void VtkWidget::render(const Frame& frame) {
  vtkGenericOpenGLRenderWindow& window = *parts_->window;
  window.SetSize(frame.framebuffer.width(), frame.framebuffer.height());
  window.SetDPI(static_cast<int>(std::lround(72 * frame.ratio)));
  vtkOpenGLState& state = *window.GetState();
  state.Reset();
  state.Push();
  state.vtkglDepthFunc(GL_LEQUAL);
  if (prepare_) prepare_(frame);
  window.Render();
  context()->makeCurrent(parts_->surface);
}

void VtkWidget::paintGL() {
  const double ratio = devicePixelRatioF();
  const QSize pixels(static_cast<int>(std::lround(width() * ratio)), static_cast<int>(std::lround(height() * ratio)));
  render({.framebuffer = pixels, .ratio = ratio});
  vtkGenericOpenGLRenderWindow& window = *parts_->window;
  vtkOpenGLState& state = *window.GetState();
  QOpenGLFunctions& gl = *context()->functions();
  state.vtkglBindFramebuffer(GL_DRAW_FRAMEBUFFER, defaultFramebufferObject());
  state.vtkglDisable(GL_SCISSOR_TEST);
  const int* const size = window.GetRenderFramebuffer()->GetLastSize();
  window.BlitDisplayFramebuffer(0, 0, 0, size[0], size[1], 0, 0, pixels.width(), pixels.height(), GL_COLOR_BUFFER_BIT,
                                GL_NEAREST);
  gl.glBindFramebuffer(GL_FRAMEBUFFER, defaultFramebufferObject());
  state.Pop();
  gl.glBindFramebuffer(GL_FRAMEBUFFER, defaultFramebufferObject());
  gl.glViewport(0, 0, pixels.width(), pixels.height());
  // Qt uploads its glyphs with the defaults; VTK leaves its own.
  gl.glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  gl.glPixelStorei(0x0CF2 /* GL_UNPACK_ROW_LENGTH */, 0);
  gl.glUseProgram(0);
  if (!overlay_) return;
  // Not on the widget itself: while a window is grabbed, that is painted elsewhere, below this picture.
  QOpenGLPaintDevice device(pixels);
  device.setDevicePixelRatio(ratio);
  paintOverlay(device, QSizeF(width(), height()), 1);
}

QImage VtkWidget::image(const QSize& pixels, double scale) {
  if (pixels.width() < 1 || pixels.height() < 1 || !(scale > 0)) {
    throw std::invalid_argument("picture of a 3-D view: the size must be at least 1 x 1 pixels and the scale above 0");
  }
  if (!context()) grabFramebuffer();
  if (!context()) throw std::runtime_error("picture of a 3-D view: OpenGL could not be started.");
  makeCurrent();
  QOpenGLFunctions& gl = *context()->functions();
  GLint largest = 0;
  gl.glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  const int longest = std::max(pixels.width(), pixels.height());
  if (longest > largest) {
    doneCurrent();
    throw std::invalid_argument("picture of a 3-D view: " + std::to_string(longest) +
                                " pixels are too many; these graphics hold " + std::to_string(largest));
  }
  const int finer = 2 * longest <= largest ? 2 : 1;
  const QSize rendered = pixels * finer;
  render({.framebuffer = rendered, .ratio = scale * finer, .final = true});
  vtkGenericOpenGLRenderWindow& window = *parts_->window;
  QImage image(rendered, QImage::Format_RGB888);
  {
    vtkNew<vtkUnsignedCharArray> bytes;
    window.GetPixelData(0, 0, rendered.width() - 1, rendered.height() - 1, 0, bytes, 0);
    const auto row = static_cast<std::size_t>(rendered.width()) * 3;
    for (int y = 0; y < rendered.height(); ++y) {
      std::memcpy(image.scanLine(rendered.height() - 1 - y), bytes->GetPointer(0) + row * static_cast<std::size_t>(y),
                  row);
    }
  }
  window.GetState()->Pop();
  gl.glBindFramebuffer(GL_FRAMEBUFFER, defaultFramebufferObject());
  doneCurrent();
  image = image.scaled(pixels, Qt::IgnoreAspectRatio, Qt::SmoothTransformation).convertToFormat(QImage::Format_RGB32);
  if (overlay_) paintOverlay(image, QSizeF(pixels) / scale, scale);
  update();
  return image;
}

void VtkWidget::paintOverlay(QPaintDevice& device, const QSizeF& size, double scale) {
  QPainter painter(&device);
  painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
  painter.scale(scale, scale);
  overlay_(painter, size);
}

void VtkWidget::mousePressEvent(QMouseEvent* event) {
  if (button_ != Qt::NoButton || (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton)) return;
  button_ = event->button();
  panning_ = button_ == Qt::MiddleButton || event->modifiers().testFlag(Qt::ShiftModifier);
  dragging_ = false;
  pressed_at_ = last_at_ = event->position();
}

void VtkWidget::mouseMoveEvent(QMouseEvent* event) {
  if (button_ == Qt::NoButton) return;
  const QPointF at = event->position();
  if (!dragging_ && (at - pressed_at_).manhattanLength() < QGuiApplication::styleHints()->startDragDistance()) return;
  dragging_ = true;
  const QPointF by = at - last_at_;
  last_at_ = at;
  if (panning_) {
    Q_EMIT panned(by);
  } else {
    Q_EMIT orbited(by);
  }
}

void VtkWidget::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != button_) return;
  const bool click = !dragging_ && button_ == Qt::LeftButton && !panning_;
  button_ = Qt::NoButton;
  if (click) {
    Q_EMIT clicked(event->position());
  } else if (dragging_) {
    Q_EMIT dragEnded();
  }
  dragging_ = false;
}

void VtkWidget::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) Q_EMIT resetWanted();
}

void VtkWidget::wheelEvent(QWheelEvent* event) {
  const double notches = event->angleDelta().y() / 120.0;
  if (notches != 0) Q_EMIT zoomed(std::pow(1.15, notches));
  event->accept();
}

void VtkWidget::keyPressEvent(QKeyEvent* event) {
  constexpr double step = 40;  // pixels of a drag
  switch (event->key()) {
    case Qt::Key_Home:
      Q_EMIT resetWanted();
      break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      Q_EMIT zoomed(1.15);
      break;
    case Qt::Key_Minus:
      Q_EMIT zoomed(1 / 1.15);
      break;
    case Qt::Key_Left:
      Q_EMIT orbited({-step, 0});
      break;
    case Qt::Key_Right:
      Q_EMIT orbited({step, 0});
      break;
    case Qt::Key_Up:
      Q_EMIT orbited({0, -step});
      break;
    case Qt::Key_Down:
      Q_EMIT orbited({0, step});
      break;
    default:
      QOpenGLWidget::keyPressEvent(event);
  }
}

}  // namespace mambarium
