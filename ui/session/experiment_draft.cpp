#include "ui/session/experiment_draft.h"

#include <QUndoCommand>
#include <utility>

#include "ui/session/problem_text.h"

namespace mambarium {

namespace {

constexpr int never = -1;  // merges

int placeOf(const Property& property) {
  return static_cast<int>(&property - property_table().data());
}

}  // namespace

class ExperimentDraft::Change : public QUndoCommand {
 public:
  // `merge_id`: consecutive changes with the same id become one.
  Change(ExperimentDraft& draft, const ExperimentConfig& after, const QString& what, int merge_id)
      : QUndoCommand(what),
        draft_(draft),
        before_(draft.config_),
        after_(after),
        merge_id_(merge_id),
        starts_step_(std::exchange(draft.starts_step_, false)) {}
  Change(ExperimentDraft& draft, const ExperimentConfig& after, const QString& what, Consequence consequence)
      : Change(draft, after, what, never) {
    consequence_ = std::move(consequence);
  }

  void undo() override {
    if (consequence_) consequence_->revert();
    draft_.assign(before_);
    draft_.startStep();
  }
  void redo() override {
    draft_.assign(after_);
    if (consequence_) consequence_->happen();
  }
  int id() const override { return merge_id_; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* const later = static_cast<const Change*>(other);
    if (later->starts_step_) return false;
    after_ = later->after_;
    setObsolete(after_ == before_);
    return true;
  }

 private:
  ExperimentDraft& draft_;
  ExperimentConfig before_, after_;
  int merge_id_;
  bool starts_step_;
  std::optional<Consequence> consequence_;
};

ExperimentDraft::ExperimentDraft(QObject* parent) : QObject(parent), history_(this) {}

std::optional<ExperimentConfig> ExperimentDraft::withValue(std::string_view key, const PropertyValue& value) {
  ExperimentConfig after = config_;
  if (const std::optional<Problem> problem = after.set(key, value)) {
    refused_[std::string(key)] = *problem;
    Q_EMIT changed();
    return std::nullopt;
  }
  const bool was_refused = refused_.erase(std::string(key)) > 0;
  if (after != config_) return after;
  if (was_refused) Q_EMIT changed();
  return std::nullopt;
}

void ExperimentDraft::edit(std::string_view key, const PropertyValue& value, Beginning beginning) {
  const std::optional<ExperimentConfig> after = withValue(key, value);
  if (!after) return;
  const Property& property = *find_property(key);
  const QString what = fromView(property.label);
  if (std::optional<Consequence> consequence = consequences_(property, *after, beginning)) {
    history_.push(new Change(*this, *after, what, *std::move(consequence)));
  } else {
    const bool is_set_at_once = property.type == PropertyType::boolean || property.type == PropertyType::choice ||
                                property.type == PropertyType::choice_set;
    history_.push(new Change(*this, *after, what, is_set_at_once ? never : placeOf(property)));
  }
}

void ExperimentDraft::editText(std::string_view key, const QString& typed) {
  ExperimentConfig after = config_;
  if (const std::optional<Problem> problem = after.set_from_string(key, typed.toStdString())) {
    refused_[std::string(key)] = *problem;
    Q_EMIT changed();
    return;
  }
  if (!withValue(key, after.value(key))) return;
  const Property& property = *find_property(key);
  history_.push(new Change(*this, after, fromView(property.label), placeOf(property)));
}

void ExperimentDraft::settle(std::string_view key) {
  const Property& property = *find_property(key);
  const QUndoCommand* const last = history_.command(history_.index() - 1);
  if (!last || last->id() != placeOf(property)) return;
  const ExperimentConfig after = config_;
  std::optional<Consequence> consequence = consequences_(property, after, Beginning::now);
  if (!consequence) return;
  history_.undo();
  history_.push(new Change(*this, after, fromView(property.label), *std::move(consequence)));
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
  history_.push(new Change(*this, after, what, never));
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
