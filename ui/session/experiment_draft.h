// ExperimentDraft: the settings in the form, with undo and redo. Nothing is trained until a run is made of it.
//
// Every change is one step of history(), consecutive changes of one number or text merge. What cannot be a value of a
// setting ("abc" for a number, 0 below the minimum) never enters the draft: it is kept as a problem of that setting
// until the setting is changed again, so that problems() says everything that stands against pressing play.
//
// A change may have a consequence outside of the draft (the running experiment forks), which setConsequences() decides.
// Undo takes both back and redo brings both about again. Numbers are typed key by key: their consequence waits for
// settle().
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

// Where the consequence of a change begins: with what is trained now, or at step 0.
enum class Beginning { now, step_0 };

struct Consequence {
  std::function<void()> happen, revert;
};
using Consequences = std::function<std::optional<Consequence>(const Property& changed, const ExperimentConfig& after,
                                                              Beginning beginning)>;

class ExperimentDraft : public QObject {
  Q_OBJECT
 public:
  explicit ExperimentDraft(QObject* parent = nullptr);

  const ExperimentConfig& config() const { return config_; }
  QUndoStack& history() { return history_; }

  void setConsequences(Consequences consequences) { consequences_ = std::move(consequences); }

  void edit(std::string_view key, const PropertyValue& value, Beginning beginning = Beginning::now);
  void editText(std::string_view key, const QString& typed);  // as a person typed it, so far
  void settle(std::string_view key);                          // that was all of it
  void startStep() { starts_step_ = true; }                   // the next change does not merge with the last one
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
  // The draft with the setting at this value; nothing when it is refused, or is so already.
  std::optional<ExperimentConfig> withValue(std::string_view key, const PropertyValue& value);
  void assign(const ExperimentConfig& config);

  ExperimentConfig config_;
  std::map<std::string, Problem, std::less<>> refused_;
  QUndoStack history_;
  bool starts_step_ = false;
  Consequences consequences_ = [](const Property&, const ExperimentConfig&, Beginning) { return std::nullopt; };
};

// The same experiment, whatever folder it is written to?
bool sameExperiment(const ExperimentConfig& one, const ExperimentConfig& other);

}  // namespace mambarium
