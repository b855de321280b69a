#include "ui/scene/turntable.h"

#include <QBuffer>
#include <QDir>
#include <stdexcept>
#include <string>

#include "ui/figure/figure_renderer.h"

namespace mambarium {

std::optional<QString> writeTurntable(const QString& folder, int frames,
                                      const std::function<QImage(double degrees)>& picture,
                                      const std::function<bool(int)>& progress) {
  constexpr int most_frames = 9999;
  if (frames < 1 || frames > most_frames) {
    throw std::invalid_argument("turntable: " + std::to_string(frames) + " frames; it must be 1 to " +
                                std::to_string(most_frames));
  }
  const int digits = frames > 1000 ? 4 : 3;
  for (int frame = 0; frame < frames; ++frame) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    picture(360.0 * frame / frames).save(&buffer, "PNG");
    const QString name = QStringLiteral("frame-%1.png").arg(frame, digits, 10, QLatin1Char('0'));
    if (const auto problem = writeFile(QDir(folder).filePath(name), bytes)) return problem;
    if (progress && !progress(frame + 1)) break;
  }
  return std::nullopt;
}

}  // namespace mambarium
