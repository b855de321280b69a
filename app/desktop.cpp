// mambarium: the window; `mambarium figure` redraws an exported figure without one.
#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QRegularExpression>
#include <QTextStream>
#include <QTimer>
#include <cstdlib>

#include "core/contract/preset.h"
#include "core/contract/resources.h"
#include "mambarium/version.h"
#include "ui/figure/figure_command.h"
#include "ui/frame_meter.h"
#include "ui/main_window.h"
#include "ui/scene/vtk_widget.h"
#include "ui/session/application_settings.h"
#include "ui/session/problem_text.h"
#include "ui/session/session.h"
#include "ui/sweep_dialog.h"
#include "ui/window_picture.h"

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

void quitWith(const WindowPicture* picture, MainWindow& window) {
  QObject::connect(picture, &WindowPicture::done, &window, [&window](const QString& problem) {
    if (!problem.isEmpty()) complain(QStringLiteral("mambarium: %1").arg(problem), exit_failure);
    window.close();
    QApplication::exit(problem.isEmpty() ? 0 : exit_failure);
  });
}

// Not valid unless the text is width x height and a window can have that size.
QSize sizeFrom(const QString& text) {
  static const QRegularExpression form(QStringLiteral("^([0-9]{3,4})x([0-9]{3,4})$"));
  const QRegularExpressionMatch match = form.match(text);
  if (!match.hasMatch()) return {};
  const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
  constexpr QSize smallest(640, 480), largest(8192, 8192);
  return size.expandedTo(smallest) == size && size.boundedTo(largest) == size ? size : QSize();
}

// Qt ends the program where it finds no display, with advice about reinstalling it.
void sayWhyThereIsNoWindow(QtMsgType type, const QMessageLogContext&, const QString& text) {
  for (const char* const before : {"could not connect to display", "Could not load the Qt platform plugin"}) {
    if (text.contains(QLatin1String(before))) return;
  }
  if (type == QtFatalMsg && text.contains(QStringLiteral("no Qt platform plugin could be initialized"))) {
    complain(
        QStringLiteral("mambarium: there is no display for the window. On this machine, \"mambarium-worker train\" "
                       "trains and \"mambarium figure\" draws without one."),
        exit_failure);
    std::_Exit(exit_failure);
  }
  if (type != QtDebugMsg) QTextStream(stderr) << text << '\n';
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
  const QCommandLineOption sweep_option(QStringLiteral("sweep"),
                                        QStringLiteral("Open the folder of a sweep in a window of its own."),
                                        QStringLiteral("folder"));
  const QCommandLineOption measure_option(
      QStringLiteral("measure"),
      QStringLiteral("Train for so many seconds, print frames per second and memory growth, and quit."),
      QStringLiteral("seconds"));
  const QCommandLineOption screenshot_option(QStringLiteral("screenshot"),
                                             QStringLiteral("Train, save a picture of the window (PNG), and quit; with "
                                                            "--sweep, of that window, and nothing is trained."),
                                             QStringLiteral("file"));
  const QCommandLineOption at_step_option(QStringLiteral("at-step"),
                                          QStringLiteral("The step at which the picture is taken (default 1000)."),
                                          QStringLiteral("step"), QStringLiteral("1000"));
  const QCommandLineOption size_option(QStringLiteral("size"), QStringLiteral("Size of the window, as in 1440x900."),
                                       QStringLiteral("size"));
  parser.addOptions(
      {preset_option, open_option, sweep_option, measure_option, screenshot_option, at_step_option, size_option});
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
  const qint64 at_step = parser.value(at_step_option).toLongLong(&is_number);
  if (!is_number || at_step < 0) {
    return complain(
        QStringLiteral("mambarium: --at-step takes a step number, not \"%1\".").arg(parser.value(at_step_option)),
        exit_usage);
  }
  const QSize size = parser.isSet(size_option) ? sizeFrom(parser.value(size_option)) : QSize();
  if (parser.isSet(size_option) && !size.isValid()) {
    return complain(QStringLiteral("mambarium: --size takes width x height from 640x480 to 8192x8192, as in 1440x900, "
                                   "not \"%1\".")
                        .arg(parser.value(size_option)),
                    exit_usage);
  }

  if (const QFileInfo folder(QFileInfo(parser.value(screenshot_option)).absolutePath());
      parser.isSet(screenshot_option) && !(folder.isDir() && folder.isWritable())) {
    return complain(
        QStringLiteral("mambarium: --screenshot takes a file in a folder that can be written to, not \"%1\".")
            .arg(parser.value(screenshot_option)),
        exit_usage);
  }

  Session session;
  const auto settings = openSettings();
  session.restore(*settings);
  if (parser.isSet(preset_option)) {
    const auto [presets, problems] = load_presets(preset_directory());
    const auto wanted = std::find_if(presets.begin(), presets.end(), [&](const Preset& preset) {
      return QString::fromStdString(preset.id) == parser.value(preset_option);
    });
    if (wanted == presets.end()) {
      return complain(QStringLiteral("mambarium: there is no preset \"%1\"; there are %2. %3")
                          .arg(parser.value(preset_option), presetNames(presets), toSentences(problems))
                          .trimmed(),
                      exit_usage);
    }
    session.draft().replace(wanted->config, QString::fromStdString(wanted->title), true);
  }
  MainWindow window(session);
  window.restore(*settings);
  const auto resized = [&size](QWidget& widget) {
    if (size.isValid()) widget.resize(size);
  };
  resized(window);
  window.show();
  for (const QString& folder : parser.values(open_option)) {
    session.openFolder(session.machines().selected(), QFileInfo(folder).absoluteFilePath());
  }
  if (parser.isSet(measure_option)) measure(window, session, seconds);
  SweepDialog* const sweep = parser.isSet(sweep_option)
                                 ? window.showSweep(QFileInfo(parser.value(sweep_option)).absoluteFilePath(), false)
                                 : nullptr;
  if (!parser.isSet(screenshot_option)) return QApplication::exec();
  const QString file = parser.value(screenshot_option);
  if (sweep != nullptr) {
    resized(*sweep);
    quitWith(new WindowPicture(*sweep, file), window);
  } else {
    quitWith(new WindowPicture(window, session, file, at_step), window);
  }
  return QApplication::exec();
}

}  // namespace
}  // namespace mambarium

int main(int argc, char** argv) {
  using namespace mambarium;
  qInstallMessageHandler(sayWhyThereIsNoWindow);
  QStringList words;
  for (int index = 0; index < argc; ++index) words.append(QString::fromLocal8Bit(argv[index]));
  if (words.size() > 1 && words[1] == QStringLiteral("figure")) return figureCommand(words);
  QApplication::setHighDpiScaleFactorRoundingPolicy(Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
  VtkWidget::prepareApplication();
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("mambarium"));
  QApplication::setApplicationDisplayName(QStringLiteral("Mambarium"));
  QApplication::setApplicationVersion(QStringLiteral("%1 (%2)").arg(QLatin1String(version), QLatin1String(revision)));
  QApplication::setDesktopFileName(QStringLiteral("org.mambarium.mambarium"));
  return runWindow(application);
}
