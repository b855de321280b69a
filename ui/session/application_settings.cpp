#include "ui/session/application_settings.h"

namespace mambarium {

std::unique_ptr<QSettings> openSettings() {
  const QString path = qEnvironmentVariable("MAMBARIUM_SETTINGS");
  if (!path.isEmpty()) {
    return std::make_unique<QSettings>(path, QSettings::IniFormat);
  }
  return std::make_unique<QSettings>(QSettings::IniFormat, QSettings::UserScope, QStringLiteral("mambarium"),
                                     QStringLiteral("mambarium"));
}

}  // namespace mambarium
