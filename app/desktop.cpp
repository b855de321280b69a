// mambarium: the window; `mambarium figure` redraws an exported figure without one.
#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QTextStream>
#include <QTimer>

#include "core/contract/preset.h"
#include "core/contract/resources.h"
#include "mambarium/version.h"
#include "ui/figure/figure_command.h"
#include "ui/frame_meter.h"
#include "ui/main_window.h"
#include "ui/session/application_settings.h"
#include "ui/session/session.h"

namespace mambarium {
namespace {

constexpr int exit_failure = 1, exit_usage = 2;

int complain(const QString& sentence, int code) {
  QTextStream(stderr) << sentence << '\n';
  return code;
}

QString presetNames(const std::vector<Preset>& presets) {
  QStringList names;
  for (const Preset& preset : presets) names.append(QString::fromStdString(preset.id));
  return names.join(QStringLiteral(", "));
}

// Plays, measures how often the window is painted, prints it and quits.
void measure(MainWindow& window, Session& session, double seconds) {
  auto* const meter = new FrameMeter(&window);
  session.play();
  constexpr int settling_milliseconds = 3000;
  QTimer::singleShot(settling_milliseconds, &window, [&window, meter, seconds] {
    meter->start();
    QTimer::singleShot(static_cast<int>(seconds * 1000), &window, [&window, meter] {
      QTextStream(stdout) << meter->report() << '\n';
      window.close();
    });
  });
}

int runWindow(QApplication& application) {
  QCommandLineParser parser;
  parser.setApplicationDescription(
      QStringLiteral("The window of Mambarium. \"mambarium figure --help\" is about redrawing exported figures."));
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption preset_option(QStringLiteral("preset"), QStringLiteral("Start with this preset."),
                                         QStringLiteral("id"));
  const QCommandLineOption open_option(QStringLiteral("open"), QStringLiteral("Open a run folder (may be repeated)."),
                                       QStringLiteral("folder"));
  const QCommandLineOption measure_option(
      QStringLiteral("measure"),
      QStringLiteral("Train for so many seconds, print frames per second and memory growth, and quit."),
      QStringLiteral("seconds"));
  parser.addOptions({preset_option, open_option, measure_option});
  parser.process(application);
  if (!parser.positionalArguments().isEmpty()) {
    return complain(QStringLiteral("mambarium: \"%1\" is not something it can do; see mambarium --help.")
                        .arg(parser.positionalArguments().first()),
                    exit_usage);
  }
  bool is_number = true;
  const double seconds = parser.isSet(measure_option) ? parser.value(measure_option).toDouble(&is_number) : 0;
  if (!is_number || seconds < 0) {
    return complain(
        QStringLiteral("mambarium: --measure takes a number of seconds, not \"%1\".").arg(parser.value(measure_option)),
        exit_usage);
  }

  Session session;
  const auto settings = openSettings();
  session.restore(*settings);
  if (parser.isSet(preset_option)) {
    const std::vector<Preset> presets = load_presets(preset_directory()).presets;
    const auto wanted = std::find_if(presets.begin(), presets.end(), [&](const Preset& preset) {
      return QString::fromStdString(preset.id) == parser.value(preset_option);
    });
    if (wanted == presets.end()) {
      return complain(QStringLiteral("mambarium: there is no preset \"%1\"; there are %2.")
                          .arg(parser.value(preset_option), presetNames(presets)),
                      exit_usage);
    }
    session.draft().replace(wanted->config, QString::fromStdString(wanted->title), true);
  }
  MainWindow window(session);
  window.restore(*settings);
  window.show();
  for (const QString& folder : parser.values(open_option)) {
    session.openFolder(session.machines().selected(), QFileInfo(folder).absoluteFilePath());
  }
  if (parser.isSet(measure_option)) measure(window, session, seconds);
  return QApplication::exec();
}

}  // namespace
}  // namespace mambarium

int main(int argc, char** argv) {
  using namespace mambarium;
  QStringList words;
  for (int index = 0; index < argc; ++index) words.append(QString::fromLocal8Bit(argv[index]));
  if (words.size() > 1 && words[1] == QStringLiteral("figure")) return figureCommand(words);
  QApplication::setHighDpiScaleFactorRoundingPolicy(Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("mambarium"));
  QApplication::setApplicationDisplayName(QStringLiteral("Mambarium"));
  QApplication::setApplicationVersion(QStringLiteral("%1 (%2)").arg(QLatin1String(version), QLatin1String(revision)));
  QApplication::setDesktopFileName(QStringLiteral("org.mambarium.mambarium"));
  return runWindow(application);
}
