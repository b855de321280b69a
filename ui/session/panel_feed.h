// PanelFeed: the frame timer. Once a frame it hands every visible panel what has changed, and asks the current run's
// worker for what the visible panels want to see of the model.
//
// Pulled, never pushed: each panel has at most one question on its way, and a new one is only asked when its answer
// could differ from the last (another step, checkpoint, probe or run), and none that a model of its kind cannot answer.
// So nothing queues up however fast training is, and a hidden panel costs nothing. A costly question is put again after
// a rest of four times its cost, so that training goes on beside it. While nobody answers (the worker died, say, or
// refuses), the last answer stays only as long as the panel wants to see the same: another choice empties the panel.
//
// For a panel that wants earlier answers too, those it was given are kept by their step, and in between the run's
// checkpoints are asked for, one at a time. At most most_earlier are kept: beyond that every second one is let go.
// GUI thread only.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QTimer>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/contract/inspection.h"
#include "ui/plots/panel.h"
#include "ui/session/run_list.h"

namespace mambarium {

class PanelFeed : public QObject {
  Q_OBJECT
 public:
  static constexpr int frame_milliseconds = 30;
  static constexpr std::size_t most_earlier = 128;

  explicit PanelFeed(RunList& runs, QObject* parent = nullptr);

  void addPanel(Panel* panel);                           // stays the caller's; may be deleted at any time
  void setCheckpoint(std::optional<std::int64_t> step);  // what all model panels show; nothing: the model as it is now
  std::optional<std::int64_t> checkpoint() const { return checkpoint_; }
  void frame();  // what the timer does

 Q_SIGNALS:
  void framed();  // at the end of a frame in which some panel was given something
  void checkpointChanged(std::optional<std::int64_t> step);
  void inspectionProblem(const QString& message, const QString& hint);

 private:
  struct Asked {
    const Run* run = nullptr;
    std::int64_t generation = 0, step = 0;  // step: of the model, or -1 for a checkpoint
    InspectRequest request;
    bool operator==(const Asked&) const = default;
  };
  struct Slot {
    explicit Slot(Panel* shown) : panel(shown) {}
    QPointer<Panel> panel;
    bool stale = true;      // has not been shown the newest data
    bool declines = false;  // wants nothing of the current run, now that it has been shown it
    std::optional<std::int64_t> question;
    Asked asked;                    // by the question on its way
    std::optional<Asked> answered;  // by `inspected`, or refused
    std::optional<nlohmann::json> inspected;
    InspectRequest answers_to;                       // what was asked for `inspected`
    std::map<std::int64_t, nlohmann::json> earlier;  // by step
    std::vector<std::int64_t> refused;               // checkpoints that have no answer
    QElapsedTimer clock;                             // since the last question, then since its answer
    qint64 cost = 0;                                 // of the last answer, in milliseconds
    bool looked_back = false;                        // the last question was for an earlier answer
    void forgetAnswers();
    void forgetAfter(std::int64_t step);
    void dropAnswerUnlessTo(const InspectRequest& request);
  };

  void watch(Run* run);
  void changeCurrent();
  void voidQuestions();
  void ask(Slot& slot);
  std::optional<InspectRequest> missing(const Slot& slot, InspectRequest request) const;  // of the earlier answers
  static bool isResting(const Slot& slot, const Asked& wanted);                           // only the step is another
  void keep(Slot& slot, const nlohmann::json& data);
  void receive(std::int64_t id, const nlohmann::json& data);
  void receiveFailure(std::int64_t id, const QString& message, const QString& hint);
  void curvesChanged();
  void everythingChanged();
  void tellCheckpoints();
  Slot* slotOf(std::int64_t question);
  bool isLoading(const Slot& slot, bool of_model) const;
  PanelData dataFor(const Slot& slot, bool of_model) const;

  RunList& runs_;
  QTimer timer_;
  std::vector<Slot> slots_;
  std::vector<std::int64_t> told_checkpoints_;
  std::optional<std::int64_t> checkpoint_;
  QMetaObject::Connection inspected_, failed_, opened_;
};

}  // namespace mambarium
