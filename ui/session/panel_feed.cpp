#include "ui/session/panel_feed.h"

#include <algorithm>

namespace mambarium {

namespace {

// A question that takes long would leave a training worker no time to train: it is put again after a rest.
constexpr qint64 costly_milliseconds = 200, rest_per_cost = 4;

bool canBeSeen(const Panel& panel) {
  return panel.isVisible() && !panel.window()->isMinimized() && !panel.visibleRegion().isEmpty();
}

}  // namespace

PanelFeed::PanelFeed(RunList& runs, QObject* parent) : QObject(parent), runs_(runs), timer_(this) {
  connect(&runs_, &RunList::added, this, &PanelFeed::watch);
  connect(&runs_, &RunList::aboutToRemove, this, [this](Run* run) {
    disconnect(run, nullptr, this, nullptr);
    everythingChanged();
  });
  connect(&runs_, &RunList::currentChanged, this, &PanelFeed::changeCurrent);
  for (int index = 0; index < runs_.count(); ++index) watch(runs_.at(index));
  timer_.setTimerType(Qt::PreciseTimer);
  connect(&timer_, &QTimer::timeout, this, &PanelFeed::frame);
  timer_.start(frame_milliseconds);
}

void PanelFeed::addPanel(Panel* panel) {
  slots_.emplace_back(panel);
  connect(panel, &Panel::checkpointChosen, this, &PanelFeed::setCheckpoint);
  panel->setCheckpoints(told_checkpoints_);
  panel->setCheckpoint(checkpoint_);
}

void PanelFeed::watch(Run* run) {
  connect(run, &Run::rowsArrived, this, &PanelFeed::curvesChanged);
  connect(run, &Run::lookChanged, this, &PanelFeed::everythingChanged);
  everythingChanged();
}

void PanelFeed::changeCurrent() {
  disconnect(inspected_);
  disconnect(failed_);
  disconnect(opened_);
  voidQuestions();
  for (Slot& slot : slots_) slot.forgetAnswers();
  if (Run* const run = runs_.current()) {
    inspected_ = connect(run, &Run::inspected, this,
                         [this](std::int64_t id, const QString&, const nlohmann::json& data) { receive(id, data); });
    failed_ = connect(run, &Run::inspectionFailed, this, &PanelFeed::receiveFailure);
    opened_ = connect(run, &Run::opened, this, [this, run] {
      voidQuestions();
      for (Slot& slot : slots_) slot.forgetAfter(run->step());
      everythingChanged();
    });
  }
  everythingChanged();
  setCheckpoint(std::nullopt);
}

void PanelFeed::Slot::forgetAnswers() {
  inspected.reset();
  earlier.clear();
  refused.clear();
}

void PanelFeed::Slot::forgetAfter(std::int64_t step) {
  std::erase_if(earlier, [step](const auto& answer) { return answer.first > step; });
  std::erase_if(refused, [step](std::int64_t checkpoint) { return checkpoint > step; });
}

void PanelFeed::Slot::dropAnswerUnlessTo(const InspectRequest& request) {
  if (!inspected || answers_to == request) return;
  inspected.reset();
  stale = true;
}

void PanelFeed::voidQuestions() {
  for (Slot& slot : slots_) {
    slot.question.reset();
    slot.answered.reset();
  }
}

void PanelFeed::setCheckpoint(std::optional<std::int64_t> step) {
  if (step == checkpoint_) return;
  checkpoint_ = step;
  for (const Slot& slot : slots_) {
    if (slot.panel) slot.panel->setCheckpoint(step);
  }
  Q_EMIT checkpointChanged(step);
}

void PanelFeed::frame() {
  tellCheckpoints();
  bool any = false;
  for (Slot& slot : slots_) {
    if (!slot.panel || !canBeSeen(*slot.panel)) continue;
    const bool of_model = slot.declines || slot.panel->wants();
    if (slot.stale) {
      slot.stale = false;
      slot.panel->show(dataFor(slot, of_model));
      slot.declines = of_model && !slot.panel->wants();
      any = true;
    }
    if (of_model) ask(slot);
    slot.panel->setLoading(isLoading(slot, of_model && !slot.declines));
  }
  if (any) Q_EMIT framed();
}

void PanelFeed::ask(Slot& slot) {
  Run* const run = runs_.current();
  std::optional<InspectRequest> request = slot.panel->wants();
  if (!run || !request) return;
  if (!run->isOpen()) slot.question.reset();  // the worker that had it is gone, or opens the run anew
  if (slot.question || nothing_to_inspect(run->config(), request->what)) return;
  request->at = checkpoint_;
  if (slot.answered && slot.answered->request.what != request->what) {
    slot.forgetAnswers();
    slot.answered.reset();
    slot.stale = true;
  }
  const bool of_this_step = !request->at && request->what != "theorem4";  // that one is about no run's model
  Asked wanted{run, run->generation(), of_this_step ? run->step() : -1, *request};
  const bool up_to_date = slot.answered == wanted || isResting(slot, wanted);
  const auto earlier = missing(slot, *request);
  // While a run trains there is always a newer answer: every other question is for a checkpoint.
  const bool look_back = earlier && (up_to_date || (slot.answered && !slot.looked_back));
  if (up_to_date && !look_back) return;
  if (look_back) wanted = {run, run->generation(), -1, *earlier};
  slot.looked_back = look_back;
  if (const std::optional<std::int64_t> id = run->inspect(wanted.request)) {
    slot.question = id;
    slot.asked = wanted;
    slot.clock.start();
  } else {
    slot.dropAnswerUnlessTo(*request);
  }
}

bool PanelFeed::isResting(const Slot& slot, const Asked& wanted) {
  if (!slot.answered || slot.cost < costly_milliseconds || slot.clock.elapsed() > rest_per_cost * slot.cost)
    return false;
  Asked same_step = wanted;
  same_step.step = slot.answered->step;
  return slot.answered == same_step;
}

std::optional<InspectRequest> PanelFeed::missing(const Slot& slot, InspectRequest request) const {
  if (!slot.panel->wantsEarlier()) return std::nullopt;
  const std::vector<std::int64_t>& steps = runs_.current()->checkpoints();
  const std::size_t stride = steps.size() / most_earlier + 1;
  for (std::size_t i = 0; i < steps.size(); i += stride) {
    if (slot.earlier.contains(steps[i]) || std::ranges::count(slot.refused, steps[i]) > 0) continue;
    request.at = steps[i];
    return request;
  }
  return std::nullopt;
}

void PanelFeed::keep(Slot& slot, const nlohmann::json& data) {
  const auto step = data.find("step");
  if (step == data.end() || !step->is_number_integer()) return;
  slot.earlier[step->get<std::int64_t>()] = data;
  if (slot.earlier.size() <= most_earlier) return;
  const std::vector<std::int64_t>& checkpoints = runs_.current()->checkpoints();
  bool drop = false;
  for (auto kept = slot.earlier.begin(); kept != slot.earlier.end(); drop = !drop) {
    // What can be asked for again at once is not thinned out, or it would be.
    const bool is_checkpoint = std::ranges::count(checkpoints, kept->first) > 0;
    kept = drop && !is_checkpoint ? slot.earlier.erase(kept) : std::next(kept);
  }
}

PanelFeed::Slot* PanelFeed::slotOf(std::int64_t question) {
  const auto found =
      std::find_if(slots_.begin(), slots_.end(), [question](const Slot& slot) { return slot.question == question; });
  return found == slots_.end() ? nullptr : &*found;
}

void PanelFeed::receive(std::int64_t id, const nlohmann::json& data) {
  Slot* const slot = slotOf(id);
  if (!slot) return;
  slot->question.reset();
  slot->cost = slot->clock.restart();
  if (slot->panel && slot->panel->wantsEarlier()) keep(*slot, data);
  if (!slot->looked_back) {
    slot->answered = slot->asked;
    slot->inspected = data;
    slot->answers_to = slot->asked.request;
  }
  slot->stale = true;
}

void PanelFeed::receiveFailure(std::int64_t id, const QString& message, const QString& hint) {
  Slot* const slot = slotOf(id);
  if (!slot) return;
  slot->question.reset();
  if (slot->looked_back) {
    slot->refused.push_back(*slot->asked.request.at);
    return;
  }
  slot->answered = slot->asked;
  slot->dropAnswerUnlessTo(slot->asked.request);
  Q_EMIT inspectionProblem(message, hint);
}

void PanelFeed::curvesChanged() {
  for (Slot& slot : slots_) {
    if (slot.panel && !slot.panel->wants()) slot.stale = true;
  }
}

void PanelFeed::everythingChanged() {
  for (Slot& slot : slots_) slot.stale = true;
}

void PanelFeed::tellCheckpoints() {
  static const std::vector<std::int64_t> none;
  const Run* const run = runs_.current();
  const std::vector<std::int64_t>& steps = run ? run->checkpoints() : none;
  if (steps == told_checkpoints_) return;
  told_checkpoints_ = steps;
  for (const Slot& slot : slots_) {
    if (slot.panel) slot.panel->setCheckpoints(steps);
  }
}

bool PanelFeed::isLoading(const Slot& slot, bool of_model) const {
  const Run* const run = runs_.current();
  if (!run) return false;
  return run->isLoading() || (of_model && !slot.inspected && (run->isOpening() || slot.question));
}

PanelData PanelFeed::dataFor(const Slot& slot, bool of_model) const {
  PanelData data;
  std::optional<std::size_t> current;
  for (int index = 0; index < runs_.count(); ++index) {
    const Run* const run = runs_.at(index);
    const bool is_current = run == runs_.current();
    if (!(run->isShown() && !run->rows().empty()) && !(of_model && is_current)) continue;
    if (is_current) current = data.runs.size();
    data.runs.push_back(run->series());
    if (of_model) data.runs.back().train_losses.clear();
  }
  data.current = current.value_or(data.runs.size());
  if (of_model && slot.inspected) data.inspected = slot.inspected;
  if (of_model && slot.panel->wantsEarlier())
    for (const auto& [step, answer] : slot.earlier) data.earlier.push_back(answer);
  return data;
}

}  // namespace mambarium
