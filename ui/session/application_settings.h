// Where the desktop keeps what should survive a restart.
//
// One INI file: $MAMBARIUM_SETTINGS when it is set (tests, portable copies), else mambarium/mambarium.ini below the
// user's configuration folder. Every part of the window opens its own handle; QSettings shares the file between them.
#pragma once

#include <QSettings>
#include <memory>

namespace mambarium {

std::unique_ptr<QSettings> openSettings();

}  // namespace mambarium
