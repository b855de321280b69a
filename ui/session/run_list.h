// RunList: the runs of the window in the order they were started, and which one is current.
//
// Owns the runs. The current run is the one that the transport drives and that the model panels look into; there is one
// whenever the list is not empty. New runs get the first look (colour and marker) that no other run has.
//
// Several windows may share one settings file. Saving keeps what others wrote there: runs that this list neither has
// nor removed, and the name and note of a run that were not changed here since the last save. A run that was reset is
// saved with its new folder alone.
#pragma once

#include <QObject>
#include <QStringList>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "ui/session/run.h"

class QSettings;

namespace mambarium {

class RunList : public QObject {
  Q_OBJECT
 public:
  static constexpr int palette_size = 8;

  using QObject::QObject;

  Run* add(std::unique_ptr<Run> run);  // becomes current
  void remove(Run* run);               // its worker is asked to leave; the folder stays
  void setCurrent(Run* run);
  Run* current() const { return current_; }
  int count() const { return static_cast<int>(runs_.size()); }
  Run* at(int index) const { return runs_.at(static_cast<std::size_t>(index)).get(); }
  Run* find(const Machine& machine, const QString& folder) const;  // nullptr when it is not in the list

  void save(QSettings& settings);
  void restore(const QSettings& settings);  // the runs without their curves: RunLibrary fills them

 Q_SIGNALS:
  void added(mambarium::Run* run);
  void aboutToRemove(mambarium::Run* run);
  void currentChanged(mambarium::Run* run);  // nullptr: the list is empty

 private:
  void giveLook(Run& run) const;
  void watchWords(Run* run);
  void watchFolder(Run* run);

  std::vector<std::unique_ptr<Run>> runs_;
  // Since the last save: names and notes that changed here, and places (machine command and folder) where a run of this
  // list is no more: it was removed, or began again in another folder.
  std::set<std::pair<const Run*, QString>> reworded_;
  std::vector<QStringList> removed_;
  Run* current_ = nullptr;
};

}  // namespace mambarium
