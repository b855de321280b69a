#include "ui/session/run_list.h"

#include <QSettings>
#include <algorithm>
#include <array>

namespace mambarium {

Run* RunList::add(std::unique_ptr<Run> run) {
  giveLook(*run);
  Run* const raw = run.get();
  runs_.push_back(std::move(run));
  Q_EMIT added(raw);
  setCurrent(raw);
  return raw;
}

void RunList::remove(Run* run) {
  const auto place = std::find_if(runs_.begin(), runs_.end(), [run](const auto& owned) { return owned.get() == run; });
  if (place == runs_.end()) return;
  const auto index = place - runs_.begin();
  Q_EMIT aboutToRemove(run);
  const std::unique_ptr<Run> removed = std::move(*place);
  runs_.erase(place);
  if (current_ == run) {
    current_ = nullptr;
    const auto next = std::min(index, static_cast<std::ptrdiff_t>(runs_.size()) - 1);
    if (next >= 0) current_ = runs_[static_cast<std::size_t>(next)].get();
    Q_EMIT currentChanged(current_);
  }
}

void RunList::setCurrent(Run* run) {
  if (run == current_) return;
  current_ = run;
  Q_EMIT currentChanged(run);
}

Run* RunList::find(const Machine& machine, const QString& folder) const {
  for (const auto& run : runs_) {
    if (run->folder() == folder && run->machine().command == machine.command) return run.get();
  }
  return nullptr;
}

void RunList::giveLook(Run& run) const {
  std::array<int, palette_size> used{};
  for (const auto& other : runs_) ++used[static_cast<std::size_t>(other->paletteIndex() % palette_size)];
  const auto least = std::min_element(used.begin(), used.end());
  const int index = static_cast<int>(least - used.begin());
  run.setLook(index, index + palette_size * *least);
}

void RunList::save(QSettings& settings) const {
  settings.remove(QStringLiteral("runs"));
  settings.beginWriteArray(QStringLiteral("runs"));
  int index = 0;
  for (const auto& run : runs_) {
    if (run->folder().isEmpty()) continue;
    settings.setArrayIndex(index++);
    settings.setValue(QStringLiteral("folder"), run->folder());
    settings.setValue(QStringLiteral("machine"),
                      QStringList{run->machine().name, run->machine().command, run->machine().runs_folder});
    settings.setValue(QStringLiteral("experiment"), QString::fromStdString(share_string(run->config())));
    settings.setValue(QStringLiteral("palette"), run->paletteIndex());
    settings.setValue(QStringLiteral("marker"), run->markerIndex());
    settings.setValue(QStringLiteral("name"), run->name());
    settings.setValue(QStringLiteral("note"), run->note());
    settings.setValue(QStringLiteral("shown"), run->isShown());
    settings.setValue(QStringLiteral("current"), run.get() == current_);
  }
  settings.endArray();
}

void RunList::restore(const QSettings& settings) {
  const int size = settings.value(QStringLiteral("runs/size"), 0).toInt();
  Run* current = nullptr;
  for (int index = 1; index <= size; ++index) {
    const auto value = [&](const char* key) {
      return settings.value(QStringLiteral("runs/%1/%2").arg(index).arg(QLatin1String(key)));
    };
    const QStringList machine = value("machine").toStringList();
    const QString folder = value("folder").toString();
    if (machine.size() != 3 || folder.isEmpty()) continue;
    const ParsedConfig parsed = config_from_share_string(value("experiment").toString().toStdString());
    auto run = std::make_unique<Run>(Machine{machine[0], machine[1], machine[2]}, parsed.config, folder);
    run->setName(value("name").toString());
    run->setNote(value("note").toString());
    run->setShown(value("shown").toBool());
    Run* const raw = add(std::move(run));
    raw->setLook(value("palette").toInt() % palette_size, value("marker").toInt());
    if (value("current").toBool()) current = raw;
  }
  if (current) setCurrent(current);
}

}  // namespace mambarium
