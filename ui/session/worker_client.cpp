#include "ui/session/worker_client.h"

#include <QMetaObject>
#include <QPointer>
#include <algorithm>
#include <utility>

#include "mambarium/version.h"

namespace mambarium {

namespace {

constexpr int words_kept = 16 * 1024;
constexpr int patience_milliseconds = 10'000;
constexpr int first_bytes_kept = 80;

// A shell or a login script that talks on standard output is the usual reason for unreadable bytes: quote it.
QString asText(const QByteArray& bytes) {
  const QByteArray line = bytes.left(bytes.indexOf('\n') < 0 ? bytes.size() : bytes.indexOf('\n')).trimmed();
  const bool printable = std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  return line.size() >= 4 && printable ? QString::fromLatin1(line) : QString();
}

}  // namespace

WorkerClient::WorkerClient(QObject* parent) : QObject(parent), process_(this), patience_(this) {
  patience_.setSingleShot(true);
  connect(&patience_, &QTimer::timeout, this, &WorkerClient::kill);
  connect(&process_, &QProcess::readyReadStandardOutput, this, &WorkerClient::readReports);
  connect(&process_, &QProcess::readyReadStandardError, this, &WorkerClient::readWords);
  connect(&process_, &QProcess::finished, this, &WorkerClient::end);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    fail(QStringLiteral("The worker %1 could not be started: %2.").arg(process_.program(), process_.errorString()),
         QStringLiteral("Check its command in Edit, Settings."));
  });
}

WorkerClient::~WorkerClient() {
  disconnect(&process_, nullptr, this, nullptr);
  if (process_.state() != QProcess::NotRunning) {
    process_.kill();
    process_.waitForFinished(1000);
  }
}

void WorkerClient::start(const WorkerCommand& command) {
  state_ = State::starting;
  if (!command.found()) {
    QMetaObject::invokeMethod(
        this, [this, command] { fail(command.problem, command.hint); }, Qt::QueuedConnection);
    return;
  }
  process_.start(command.program, command.arguments);
  send(HelloRequest{protocol_version, "mambarium", version});
}

void WorkerClient::send(const Request& request) {
  if (state_ == State::ended || closing_ || process_.state() == QProcess::NotRunning) return;
  const std::vector<std::uint8_t> bytes = encode_frame(encode_request(request));
  process_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<qint64>(bytes.size()));
}

void WorkerClient::close() {
  if (closing_ || state_ == State::ended) return;
  send(CloseRequest{});
  closing_ = true;
  if (process_.state() == QProcess::NotRunning) {
    end();
    return;
  }
  process_.closeWriteChannel();
  patience_.start(patience_milliseconds);
}

void WorkerClient::kill() {
  if (process_.state() != QProcess::NotRunning) process_.kill();
}

bool WorkerClient::waitForEnd(int milliseconds) {
  return process_.state() == QProcess::NotRunning || process_.waitForFinished(std::max(0, milliseconds));
}

QString WorkerClient::lastWords() const {
  return QString::fromLocal8Bit(words_).trimmed();
}

void WorkerClient::readWords() {
  if (!process_.isOpen()) return;
  words_ += process_.readAllStandardError();
  if (words_.size() > words_kept) words_ = words_.right(words_kept / 2);
}

void WorkerClient::readReports() {
  if (!process_.isOpen()) return;
  const QByteArray bytes = process_.readAllStandardOutput();
  if (state_ == State::ended || !reason_.isEmpty()) return;
  if (first_bytes_.size() < first_bytes_kept) first_bytes_ += bytes.left(first_bytes_kept - first_bytes_.size());
  reader_.append({reinterpret_cast<const std::uint8_t*>(bytes.constData()), static_cast<std::size_t>(bytes.size())});

  const QPointer<WorkerClient> alive(this);  // a receiver may delete this client
  try {
    while (alive && reason_.isEmpty()) {
      const std::optional<nlohmann::json> message = reader_.next();
      if (!message) break;
      receive(*message);
    }
  } catch (const FrameError& error) {
    const QString said = state_ == State::starting ? asText(first_bytes_) : QString();
    fail(said.isEmpty()
             ? QStringLiteral("The worker's answer could not be read: %1").arg(QString::fromUtf8(error.what()))
             : QStringLiteral("The worker's command answered with text instead of the protocol: \"%1\".").arg(said),
         QStringLiteral("Make sure that its command starts mambarium-worker and that nothing else, such as a login "
                        "script, writes to its standard output."));
  } catch (const MessageError& error) {
    fail(QStringLiteral("The worker sent a message that makes no sense here: %1").arg(QString::fromUtf8(error.what())),
         QStringLiteral("Use a worker of the same version as this window (%1).").arg(QLatin1String(version)));
  }
}

void WorkerClient::receive(const nlohmann::json& message) {
  // An older or newer worker may shape its hello differently: the version is read before anything else.
  if (state_ == State::starting && message.value("type", std::string()) == "hello") {
    const auto found = message.find("protocol");
    if (found != message.end() && found->is_number_integer() && found->get<std::int64_t>() != protocol_version) {
      fail(QStringLiteral("The worker speaks protocol version %1, this window version %2.")
               .arg(found->get<std::int64_t>())
               .arg(protocol_version),
           QStringLiteral("Install the same version of Mambarium on both sides (this window is %1).")
               .arg(QLatin1String(version)));
      return;
    }
  }
  const Report report = decode_report(message);
  if (const auto* hello = std::get_if<HelloReport>(&report)) {
    receiveHello(*hello);
    return;
  }
  if (const auto* error = std::get_if<ErrorReport>(&report); error && state_ == State::starting) {
    fail(QStringLiteral("The worker refuses to talk: %1.").arg(QString::fromStdString(error->message)),
         QString::fromStdString(error->hint));
    return;
  }
  Q_EMIT reported(report);
}

void WorkerClient::receiveHello(const HelloReport& hello) {
  if (state_ != State::starting) return;
  state_ = State::ready;
  Q_EMIT ready(hello);
}

void WorkerClient::fail(const QString& reason, const QString& hint) {
  if (state_ == State::ended || !reason_.isEmpty()) return;
  reason_ = reason;
  hint_ = hint;
  if (process_.state() == QProcess::NotRunning) {
    end();
  } else {
    process_.kill();
  }
}

void WorkerClient::end() {
  if (state_ == State::ended) return;
  patience_.stop();
  readWords();
  readReports();  // what it said before it went; may itself find the bytes unreadable and end this
  if (state_ == State::ended) return;
  const bool came_to_life = state_ == State::ready;
  state_ = State::ended;
  if (reason_.isEmpty() && !closing_) {
    if (process_.exitStatus() == QProcess::CrashExit) {
      reason_ = QStringLiteral("The worker was ended by a crash or from outside.");
    } else if (!came_to_life) {
      reason_ = QStringLiteral("The worker left with exit code %1 before it said hello.").arg(process_.exitCode());
      hint_ = QStringLiteral("Check its command in Edit, Settings.");
    } else {
      reason_ = QStringLiteral("The worker left unexpectedly with exit code %1.").arg(process_.exitCode());
    }
  }
  Q_EMIT ended(closing_ ? QString() : reason_, closing_ ? QString() : hint_);
}

}  // namespace mambarium
