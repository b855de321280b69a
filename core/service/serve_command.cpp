#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/service/command_error.h"
#include "core/service/commands.h"
#include "core/service/frame_writer.h"
#include "core/service/inbox.h"
#include "core/service/session.h"
#include "core/service/signal_watcher.h"

namespace mambarium {

namespace {

// How the conversation ended.
struct Ending {
  int code = exit_code::success;
  std::string reason, sentence;
};

// Frames go to a descriptor of our own; whatever else in this process prints to standard output ends in the log.
int private_output() {
  const int output = ::dup(STDOUT_FILENO);
  if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    throw CommandError(exit_code::failure, "standard output cannot be used");
  return output;
}

std::optional<Ending> handle(Session& session, const Arrival& arrival) {
  if (const auto* request = std::get_if<Request>(&arrival)) {
    try {
      session.handle(*request);
    } catch (const WindowGone&) {
      throw;
    } catch (const CommandError&) {
      throw;
    } catch (const std::exception& fault) {
      session.refuse(std::string("the request failed: ") + fault.what(), std::nullopt);
    }
    if (session.closing()) return Ending{exit_code::success, "closed by the window", ""};
  } else if (const auto* bad = std::get_if<BadFrame>(&arrival)) {
    session.refuse(bad->sentence, bad->id);
  } else if (const auto* end = std::get_if<StreamEnd>(&arrival)) {
    if (end->broken) return Ending{exit_code::bad_input, "the stream from the window was broken", end->sentence};
    return Ending{exit_code::success, "the window went away", ""};
  } else {
    return Ending{exit_code::interrupted, "interrupted by a signal", "interrupted, a checkpoint is written"};
  }
  return std::nullopt;
}

// Every request that is there comes before the next step.
std::optional<Arrival> next_arrival(Inbox& inbox, const Session& session) {
  const auto due = session.due();
  if (!due) return inbox.wait();
  if (*due <= Session::Clock::now()) return inbox.take();
  return inbox.wait_until(*due);
}

Ending converse(Session& session, Inbox& inbox) {
  try {
    while (true) {
      if (const auto arrival = next_arrival(inbox, session)) {
        if (auto ending = handle(session, *arrival)) return *std::move(ending);
      } else {
        session.advance();
      }
    }
  } catch (const WindowGone&) {
    return {exit_code::success, "the window went away", ""};
  }
}

// The window, the processor's other user on this machine, comes first when it has something to draw.
constexpr int niceness = 5;

int serve(Engine engine) {
  static_cast<void>(::nice(niceness));
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  spdlog::set_pattern("%H:%M:%S %l: %v");
  Inbox inbox(STDIN_FILENO);
  const SignalWatcher signals([&] { inbox.interrupt(); });
  FrameWriter writer(private_output());
  Session session([&](const Report& report) { writer.send(report); }, engine);
  const Ending ending = converse(session, inbox);
  session.close(ending.reason);
  if (!ending.sentence.empty()) throw CommandError(ending.code, ending.sentence);
  return ending.code;
}

}  // namespace

Command add_serve_command(CLI::App& program) {
  auto* command =
      program.add_subcommand("serve", "Speak the protocol of docs/protocol.md on standard input and output");
  const auto engine = std::make_shared<Engine>(Engine::fused);
  add_engine_flag(*command, *engine);
  return {command, [engine] { return serve(*engine); }};
}

}  // namespace mambarium
