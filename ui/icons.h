// The few signs that buttons wear, drawn as outlines so that they are sharp at every scale and take the theme's
// colours.
#pragma once

#include <QColor>
#include <QIcon>

namespace mambarium {

enum class Sign { play, pause, step, reset, shown, hidden, menu, maximise, restore, close };

// Drawn in `color`; in `disabled` on a disabled button.
QIcon signIcon(Sign sign, const QColor& color, const QColor& disabled);

}  // namespace mambarium
