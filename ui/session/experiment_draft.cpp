#include "ui/session/experiment_draft.h"

#include <QUndoCommand>

#include "ui/session/problem_text.h"

namespace mambarium {

class ExperimentDraft::Change : public QUndoCommand {
 public:
  // `merge_id`: consecutive changes with the same id become one; -1 never merges.
  Change(ExperimentDraft& draft, const ExperimentConfig& after, const QString& what, int merge_id)
      : QUndoCommand(what), draft_(draft), before_(draft.config_), after_(after), merge_id_(merge_id) {}

  void undo() override { draft_.assign(before_); }
  void redo() override { draft_.assign(after_); }
  int id() const override { return merge_id_; }
  bool mergeWith(const QUndoCommand* other) override {
    after_ = static_cast<const Change*>(other)->after_;
    setObsolete(after_ == before_);
    return true;
  }

 private:
  ExperimentDraft& draft_;
  ExperimentConfig before_, after_;
  int merge_id_;
};

ExperimentDraft::ExperimentDraft(QObject* parent) : QObject(parent), history_(this) {}

void ExperimentDraft::edit(std::string_view key, const PropertyValue& value) {
  ExperimentConfig after = config_;
  if (const std::optional<Problem> problem = after.set(key, value)) {
    refused_[std::string(key)] = *problem;
    Q_EMIT changed();
    return;
  }
  const bool was_refused = refused_.erase(std::string(key)) > 0;
  if (after == config_) {
    if (was_refused) Q_EMIT changed();
    return;
  }
  const Property* const property = find_property(key);
  const bool merges = property->type == PropertyType::integer || property->type == PropertyType::real ||
                      property->type == PropertyType::text;
  const int place = static_cast<int>(property - property_table().data());
  history_.push(new Change(*this, after, fromView(property->label), merges ? place : -1));
}

void ExperimentDraft::editText(std::string_view key, const QString& typed) {
  ExperimentConfig after = config_;
  if (const std::optional<Problem> problem = after.set_from_string(key, typed.toStdString())) {
    refused_[std::string(key)] = *problem;
    Q_EMIT changed();
    return;
  }
  edit(key, after.value(key));
}

void ExperimentDraft::replace(const ExperimentConfig& config, const QString& what, bool keep_machine) {
  ExperimentConfig after = config;
  if (keep_machine) {
    for (const Property& property : property_table()) {
      if (property.key.substr(0, 4) == "run.") after.set(property.key, config_.value(property.key));
    }
  }
  if (after == config_) {
    assign(after);
    return;
  }
  history_.push(new Change(*this, after, what, -1));
}

void ExperimentDraft::start(const ExperimentConfig& config) {
  history_.clear();
  assign(config);
}

void ExperimentDraft::assign(const ExperimentConfig& config) {
  config_ = config;
  refused_.clear();
  Q_EMIT changed();
}

std::vector<Problem> ExperimentDraft::problems() const {
  std::vector<Problem> all;
  for (const auto& [key, problem] : refused_) all.push_back(problem);
  for (const Problem& problem : config_.validate()) {
    if (!refused_.contains(problem.where)) all.push_back(problem);
  }
  return all;
}

bool sameExperiment(const ExperimentConfig& one, const ExperimentConfig& other) {
  ExperimentConfig moved = one;
  moved.set("run.out", other.value("run.out"));
  return moved == other;
}

}  // namespace mambarium
