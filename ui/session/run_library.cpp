#include "ui/session/run_library.h"

#include <utility>

#include "ui/session/worker_client.h"

namespace mambarium {

RunLibrary::RunLibrary(QObject* parent) : QObject(parent) {}

RunLibrary::~RunLibrary() = default;

void RunLibrary::prepare(const Machine& machine) {
  desk(machine);
}

RunLibrary::Desk& RunLibrary::desk(const Machine& machine) {
  Desk& desk = desks_[machine.command];
  if (!desk.worker) {
    desk.worker = std::make_unique<WorkerClient>();
    const QString command = machine.command;
    connect(desk.worker.get(), &WorkerClient::reported, this,
            [this, command](const Report& report) { receive(command, report); });
    connect(desk.worker.get(), &WorkerClient::ended, this,
            [this, command](const QString& reason, const QString& hint) { workerEnded(command, reason, hint); });
    desk.worker->start(workerCommand(machine));
  }
  return desk;
}

void RunLibrary::list(const Machine& machine, const QString& root, Listed listed, Failed failed) {
  Desk& at = desk(machine);
  const std::int64_t id = next_id_++;
  at.open_questions[id] = {std::move(listed), {}, std::move(failed)};
  at.worker->send(ListRunsRequest{id, root.toStdString()});
}

void RunLibrary::read(const Machine& machine, const QString& folder, ReadAnswer answer, Failed failed) {
  Desk& at = desk(machine);
  const std::int64_t id = next_id_++;
  at.open_questions[id] = {{}, std::move(answer), std::move(failed)};
  at.worker->send(ReadRunRequest{id, folder.toStdString()});
}

std::unique_ptr<WorkerClient> RunLibrary::takeIdleWorker(const Machine& machine) {
  const auto found = desks_.find(machine.command);
  if (found == desks_.end() || !found->second.open_questions.empty() || !found->second.worker) return nullptr;
  std::unique_ptr<WorkerClient> worker = std::move(found->second.worker);
  desks_.erase(found);
  if (worker->hasEnded()) return nullptr;
  disconnect(worker.get(), nullptr, this, nullptr);
  return worker;
}

std::vector<WorkerClient*> RunLibrary::workers() const {
  std::vector<WorkerClient*> all;
  for (const auto& [command, desk] : desks_) {
    if (desk.worker) all.push_back(desk.worker.get());
  }
  return all;
}

void RunLibrary::receive(const QString& command, const Report& report) {
  std::map<std::int64_t, Question>& open = desks_[command].open_questions;
  const auto take = [&open](std::int64_t id) {
    const auto found = open.find(id);
    if (found == open.end()) return Question{};
    Question question = std::move(found->second);
    open.erase(found);
    return question;
  };
  if (const auto* runs = std::get_if<RunsReport>(&report)) {
    if (const Question question = take(runs->id); question.listed) question.listed(runs->runs);
  } else if (const auto* run = std::get_if<RunReport>(&report)) {
    if (const Question question = take(run->id); question.answer) question.answer(*run);
  } else if (const auto* error = std::get_if<ErrorReport>(&report); error && error->id) {
    if (const Question question = take(*error->id); question.failed) {
      question.failed({QString::fromStdString(error->message), QString::fromStdString(error->hint)});
    }
  }
}

void RunLibrary::workerEnded(const QString& command, const QString& reason, const QString& hint) {
  Desk& desk = desks_[command];
  const QString last_words = desk.worker->lastWords();
  desk.worker.release()->deleteLater();
  const std::map<std::int64_t, Question> abandoned = std::exchange(desk.open_questions, {});
  if (reason.isEmpty()) return;  // closed by us: nobody waits any more
  for (const auto& [id, question] : abandoned) question.failed({reason, hint});
  if (abandoned.empty()) Q_EMIT unavailable(reason, hint, last_words);
}

}  // namespace mambarium
