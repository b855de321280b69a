#include <QBuffer>
#include <QDir>
#include <QScopeGuard>
#include <stdexcept>

#include "ui/figure/figure_renderer.h"
#include "ui/scene/flow_scene.h"

namespace mambarium {

QImage FlowScene::render(int width, int height, double scale) {
  return widget_.image({width, height}, scale);
}

std::optional<QString> FlowScene::turntable(const QString& folder, int frames, const QSize& pixels, double scale,
                                            const std::function<bool(int)>& progress) {
  constexpr int most_frames = 9999;
  if (frames < 1 || frames > most_frames) {
    throw std::invalid_argument("turntable: " + std::to_string(frames) + " frames; it must be 1 to " +
                                std::to_string(most_frames));
  }
  const FlowCamera start = camera_;
  const bool was_fitted = is_fitted_;
  // One distance for all frames: a box that is fitted anew at each angle would pulse.
  if (was_fitted) camera_ = fitted(camera_, QSizeF(pixels) / scale);
  is_fitted_ = false;
  const auto restore = qScopeGuard([&] {
    camera_ = start;
    is_fitted_ = was_fitted;
    widget_.update();
  });
  const FlowCamera first = camera_;
  const FlowPoint vertical = space_.isFlat() ? FlowPoint{0, 1, 0} : FlowPoint{0, 0, 1};
  const int digits = frames > 1000 ? 4 : 3;
  for (int frame = 0; frame < frames; ++frame) {
    camera_ = turned(first, vertical, 360.0 * frame / frames);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    render(pixels.width(), pixels.height(), scale).save(&buffer, "PNG");
    const QString name = QStringLiteral("frame-%1.png").arg(frame, digits, 10, QLatin1Char('0'));
    if (const auto problem = writeFile(QDir(folder).filePath(name), bytes)) return problem;
    if (progress && !progress(frame + 1)) break;
  }
  return std::nullopt;
}

}  // namespace mambarium
