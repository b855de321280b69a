#include "ui/session/run_list.h"

#include <QLockFile>
#include <QSettings>
#include <QVariantMap>
#include <algorithm>
#include <array>

namespace mambarium {

namespace {

constexpr int lock_milliseconds = 1000;

using Entry = QVariantMap;  // what the file says about one run

QString text(const char* key) {
  return QLatin1String(key);
}

QStringList placeOf(const Run& run) {
  return {run.machine().command, run.folder()};
}

QStringList placeOf(const Entry& entry) {
  const QStringList machine = entry.value(text("machine")).toStringList();
  return {machine.value(1), entry.value(text("folder")).toString()};
}

std::vector<Entry> entriesIn(QSettings& settings) {
  std::vector<Entry> entries;
  const int size = settings.beginReadArray(text("runs"));
  for (int index = 0; index < size; ++index) {
    settings.setArrayIndex(index);
    Entry& entry = entries.emplace_back();
    for (const QString& key : settings.childKeys()) entry.insert(key, settings.value(key));
  }
  settings.endArray();
  return entries;
}

Entry entryOf(const Run& run, bool current) {
  const Machine& machine = run.machine();
  return {{text("folder"), run.folder()},
          {text("machine"), QStringList{machine.name, machine.command, machine.runs_folder}},
          {text("experiment"), QString::fromStdString(share_string(run.config()))},
          {text("palette"), run.paletteIndex()},
          {text("marker"), run.markerIndex()},
          {text("name"), run.name()},
          {text("note"), run.note()},
          {text("shown"), run.isShown()},
          {text("current"), current}};
}

}  // namespace

Run* RunList::add(std::unique_ptr<Run> run) {
  giveLook(*run);
  Run* const raw = run.get();
  runs_.push_back(std::move(run));
  watchWords(raw);
  watchFolder(raw);
  Q_EMIT added(raw);
  setCurrent(raw);
  return raw;
}

void RunList::watchWords(Run* run) {
  connect(run, &Run::lookChanged, this, [this, run, name = run->name(), note = run->note()]() mutable {
    if (std::exchange(name, run->name()) != run->name()) reworded_.insert({run, text("name")});
    if (std::exchange(note, run->note()) != run->note()) reworded_.insert({run, text("note")});
  });
}

void RunList::watchFolder(Run* run) {
  connect(run, &Run::changed, this, [this, run, folder = run->folder()]() mutable {
    if (folder == run->folder()) return;
    if (!folder.isEmpty()) removed_.push_back({run->machine().command, folder});
    folder = run->folder();
  });
}

void RunList::remove(Run* run) {
  const auto place = std::find_if(runs_.begin(), runs_.end(), [run](const auto& owned) { return owned.get() == run; });
  if (place == runs_.end()) return;
  const auto index = place - runs_.begin();
  Q_EMIT aboutToRemove(run);
  const std::unique_ptr<Run> removed = std::move(*place);
  runs_.erase(place);
  std::erase_if(reworded_, [run](const auto& word) { return word.first == run; });
  if (!run->folder().isEmpty()) removed_.push_back(placeOf(*run));
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
  const int palette = static_cast<int>(least - used.begin());
  int marker = palette + palette_size * *least;
  const auto has_look = [&](const std::unique_ptr<Run>& other) {
    return other->paletteIndex() == palette && other->markerIndex() == marker;
  };
  while (std::any_of(runs_.begin(), runs_.end(), has_look)) marker += palette_size;
  run.setLook(palette, marker);
}

void RunList::save(QSettings& settings) {
  // Without the lock two windows that save at the same moment could lose an entry; nothing worse, so none is refused.
  QLockFile lock(settings.fileName() + text(".runs.lock"));
  const bool locked = lock.tryLock(lock_milliseconds);
  settings.sync();
  std::vector<Entry> entries = entriesIn(settings);
  std::erase_if(entries, [this](const Entry& entry) {
    return std::find(removed_.begin(), removed_.end(), placeOf(entry)) != removed_.end();
  });
  for (Entry& entry : entries) entry[text("current")] = false;
  for (const auto& run : runs_) {
    if (run->folder().isEmpty()) continue;
    Entry mine = entryOf(*run, run.get() == current_);
    const auto known = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& entry) { return placeOf(entry) == placeOf(*run); });
    if (known == entries.end()) {
      entries.push_back(mine);
      continue;
    }
    for (const QString& key : {text("name"), text("note")}) {
      if (!reworded_.contains({run.get(), key})) mine[key] = known->value(key);
    }
    *known = mine;
  }
  settings.remove(text("runs"));
  settings.beginWriteArray(text("runs"), static_cast<int>(entries.size()));
  for (std::size_t index = 0; index < entries.size(); ++index) {
    settings.setArrayIndex(static_cast<int>(index));
    const Entry& entry = entries[index];
    for (auto field = entry.begin(); field != entry.end(); ++field) settings.setValue(field.key(), field.value());
  }
  settings.endArray();
  settings.sync();
  reworded_.clear();
  removed_.clear();
  if (locked) lock.unlock();
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
