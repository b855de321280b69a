// A turntable: pictures once around a scene, for a film.
#pragma once

#include <QImage>
#include <QString>
#include <functional>
#include <optional>

namespace mambarium {

// Writes `frames` pictures as frame-000.png ... into `folder`, which must exist: `picture` of 0, 360 / frames ...
// degrees. `progress` is told how many are done and stops it by returning false. Returns one sentence when something
// could not be written; throws std::invalid_argument for fewer than 1 or more than 9999 frames, and what `picture`
// does.
std::optional<QString> writeTurntable(const QString& folder, int frames,
                                      const std::function<QImage(double degrees)>& picture,
                                      const std::function<bool(int)>& progress = {});

}  // namespace mambarium
