// ExperimentDraft: the settings in the form, with undo and redo. Nothing is trained until a run is made of it.
//
// Every change is one step of history(), consecutive changes of one number merge. What cannot be a value of a setting
// ("abc" for a number, 0 below the minimum) never enters the draft: it is kept as a problem of that setting until the
// setting is changed again, so that problems() says everything that stands against pressing play.
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <map>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

class ExperimentDraft : public QObject {
  Q_OBJECT
 public:
  explicit ExperimentDraft(QObject* parent = nullptr);

  const ExperimentConfig& config() const { return config_; }
  QUndoStack& history() { return history_; }

  void edit(std::string_view key, const PropertyValue& value);
  void editText(std::string_view key, const QString& typed);  // as a person typed it
  // All settings at once (a preset, a share string, another run), as one step called `what`. With keep_machine the
  // settings of the group "Run" stay: they belong to the computer, not to the experiment.
  void replace(const ExperimentConfig& config, const QString& what, bool keep_machine);
  void start(const ExperimentConfig& config);  // forgets the history

  std::vector<Problem> problems() const;
  bool isRefused(std::string_view key) const { return refused_.find(key) != refused_.end(); }

 Q_SIGNALS:
  void changed();

 private:
  class Change;
  void assign(const ExperimentConfig& config);

  ExperimentConfig config_;
  std::map<std::string, Problem, std::less<>> refused_;
  QUndoStack history_;
};

// The same experiment, whatever folder it is written to?
bool sameExperiment(const ExperimentConfig& one, const ExperimentConfig& other);

}  // namespace mambarium
