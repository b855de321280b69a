#include "core/contract/messages.h"

#include <QFloat16>
#include <QTest>
#include <cmath>
#include <limits>

#include "core/contract/framing.h"
#include "sentence.h"

using namespace mambarium;
using nlohmann::json;

namespace {

json through_the_wire(const json& message) {
  FrameReader reader;
  reader.append(encode_frame(message));
  return reader.next().value();
}

MetricsRow row(std::int64_t step) {
  MetricsRow made;
  made.step = step;
  made.test_loss = 0.1 + static_cast<double>(step) / 3;
  return made;
}

std::vector<Request> requests() {
  return {HelloRequest{1, "mambarium", "0.1.0"},
          OpenConfig{to_json(ExperimentConfig())},
          OpenFolder{"runs/a"},
          OpenFork{"runs/a", 640, to_json(ExperimentConfig())},
          StartRequest{},
          PauseRequest{},
          StepRequest{3},
          TempoRequest{0.5},
          InspectMessage{7, {"decay", 3, std::nullopt}},
          InspectMessage{8, {"filters", 0, 400}},
          CheckpointRequest{},
          ListRunsRequest{9, "runs"},
          ReadRunRequest{10, "runs/a"},
          CloseRequest{}};
}

std::vector<Report> reports() {
  ExperimentConfig config;
  config.set("task.order", std::int64_t{2});
  Manifest manifest;
  manifest.status = "paused";
  manifest.step = 50;
  return {HelloReport{1, "mambarium-worker", "0.1.0", "box", "cpu", 2},
          OpenedReport{4, "runs/a", config, 1498, 100, {row(0), row(50), row(100)}, {100}},
          MetricsReport{4, 120, 0.5, 1e6, -1, {row(150)}, {150, 200}},
          InspectedReport{4, 7, "decay", {{"step", 3}}},
          StateReport{4, RunState::finished, 2000},
          RunsReport{9, {{"runs/a", "a", "mamba2", "failed", 10, 2000, 0.25}}},
          RunReport{10, "runs/a", config, manifest, {row(0)}, {}},
          PreparingReport{"Reading the recording"},
          LogReport{"a checkpoint was passed over"},
          ErrorReport{4, 7, "no such checkpoint", "choose another", false},
          ErrorReport{0, std::nullopt, "the disk is full", "", true}};
}

}  // namespace

class MessagesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyRequestComesBackTheSame() {
    for (const Request& request : requests()) {
      const json sent = encode_request(request);
      const Request read = decode_request(through_the_wire(sent));
      QCOMPARE(read.index(), request.index());
      QCOMPARE(encode_request(read), sent);
    }
  }

  void everyReportComesBackTheSame() {
    for (const Report& report : reports()) {
      const json sent = encode_report(report);
      const Report read = decode_report(through_the_wire(sent));
      QCOMPARE(read.index(), report.index());
      QCOMPARE(encode_report(read), sent);
    }
    const auto opened = std::get<OpenedReport>(decode_report(encode_report(reports()[1])));
    QCOMPARE(opened.config.integer("task.order"), std::int64_t{2});
    QCOMPARE(opened.rows[1].test_loss, row(50).test_loss);
  }

  void everyRunStateHasItsName() {
    for (const RunState state :
         {RunState::idle, RunState::paused, RunState::running, RunState::finished, RunState::failed}) {
      const Report read = decode_report(encode_report(StateReport{1, state, 2}));
      QCOMPARE(std::get<StateReport>(read).state, state);
    }
  }

  void whatIsNotANumberTravelsAsNull() {
    const json sent = encode_report(MetricsReport{1, 2, std::numeric_limits<double>::quiet_NaN(), 0, -1, {}, {}});
    QVERIFY(sent["train_loss"].is_null());
    QVERIFY(std::isnan(std::get<MetricsReport>(decode_report(sent)).train_loss));
  }

  void everyMissingOrMistypedFieldIsNamed() {
    for (const Request& request : requests())
      check_fields(encode_request(request), [](const json& message) { decode_request(message); });
    for (const Report& report : reports())
      check_fields(encode_report(report), [](const json& message) { decode_report(message); });
  }

  void malformedRequestsGiveOneSentence() {
    const std::vector<std::pair<json, const char*>> bad = {
        {{{"type", "dance"}}, "\"dance\" is unknown"},
        {{{"type", "step"}, {"count", 0}}, "at least 1"},
        {{{"type", "step"}, {"count", 1.5}}, "whole number"},
        {{{"type", "tempo"}, {"steps_per_second", -1}}, "0 (full speed) or above"},
        {{{"type", "tempo"}, {"steps_per_second", nullptr}}, "0 (full speed) or above"},
        {{{"type", "inspect"}, {"id", 1}, {"what", "decay"}, {"probe", -1}}, "probe"},
        {{{"type", "inspect"}, {"id", 1}, {"what", "decay"}, {"at", "now"}}, "\"at\""},
        {{{"type", "hello"}, {"protocol", "one"}, {"program", "x"}, {"version", "1"}}, "protocol"},
        {{{"type", "list_runs"}, {"id", 18446744073709551615u}, {"root", "runs"}}, "\"id\""},
        {{{"type", "open_config"}, {"config", json::array()}}, "\"config\" is a list"},
        {{{"type", "open_fork"}, {"folder", "a"}, {"step", -1}, {"config", json::object()}}, "\"step\""},
        {json(3), "a map"},
        {json::object(), "\"type\" is missing"}};
    for (const auto& [message, says] : bad) {
      try {
        decode_request(message);
        QFAIL("a malformed request was read");
      } catch (const MessageError& fault) {
        QVERIFY2(is_one_sentence(fault.what()) && mentions(fault.what(), says), fault.what());
      }
    }
  }

  void malformedReportsGiveOneSentence() {
    json state = encode_report(StateReport{1, RunState::idle, 0});
    state["state"] = "asleep";
    json opened = encode_report(reports()[1]);
    opened["config"]["task"]["order"] = 0;
    json runs = encode_report(reports()[5]);
    runs["runs"][0] = 4;
    json rows = encode_report(reports()[2]);
    rows["rows"][0]["step"] = "x";
    for (const json& message : {state, opened, runs, rows, json{{"type", "start"}}}) {
      try {
        decode_report(message);
        QFAIL("a malformed report was read");
      } catch (const MessageError& fault) {
        QVERIFY2(is_one_sentence(fault.what()), fault.what());
      }
    }
  }

  void unknownFieldsAreIgnored() {
    json message = encode_request(StepRequest{2});
    message["colour"] = "blue";
    QCOMPARE(std::get<StepRequest>(decode_request(message)).count, std::int64_t{2});
  }

 private:
  // Each required field left out, then replaced by something of another type.
  template <class Decode>
  void check_fields(const json& message, Decode decode) {
    for (const auto& [name, value] : message.items()) {
      const bool optional = message["type"] == "inspect" ? name != "type" && name != "id" && name != "what"
                                                         : name == "id" && message["type"] == "error";
      for (const bool remove : {true, false}) {
        if (remove && optional) continue;
        json changed = message;
        if (remove)
          changed.erase(name);
        else
          changed[name] = json::binary({1});
        try {
          decode(changed);
          QFAIL(("accepted without a good " + name + ": " + message.dump()).c_str());
        } catch (const MessageError& fault) {
          QVERIFY2(is_one_sentence(fault.what()) && mentions(fault.what(), "\"" + name + "\""), fault.what());
        }
      }
    }
  }
};

QTEST_APPLESS_MAIN(MessagesTest)
#include "messages_test.moc"
