#include "ui/figure/figure_command.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <cstdio>
#include <stdexcept>

#include "ui/figure/figure_recipe.h"
#include "ui/figure/figure_renderer.h"
#include "ui/figure/run_figure.h"
#include "ui/figure/sweep_figure.h"

namespace mambarium {
namespace {

constexpr int exit_ok = 0, exit_cannot_write = 1, exit_bad_input = 2;

int complain(const QString& problem, int code) {
  const QString sentence = problem.endsWith(u'.') ? problem : problem + u'.';
  std::fprintf(stderr, "mambarium figure: %s\n", qPrintable(sentence));
  return code;
}

double numberOption(const QCommandLineParser& parser, const QString& name, double missing) {
  if (!parser.isSet(name)) return missing;
  bool good = false;
  const double value = parser.value(name).toDouble(&good);
  if (!good)
    throw std::invalid_argument("--" + name.toStdString() + " is \"" + parser.value(name).toStdString() +
                                "\", it must be a number.");
  return value;
}

constexpr QLatin1String run_option("run"), panel_option("panel"), inspected_option("inspected"), sweep_option("sweep"),
    caption_option("caption");

// Options that choose what a sweep's figure shows, as the panel's boxes do.
struct SweepOption {
  const char* name;
  std::string SweepChoice::*member;
  const char* help;
  const char* value;
};
constexpr SweepOption sweep_options[] = {
    {"chart", &SweepChoice::chart, QT_TR_NOOP("With --sweep: heat, lines, dots, curves or matrix."), "CHART"},
    {"measure", &SweepChoice::measure, QT_TR_NOOP("With --sweep: a column of results.csv. Default: gap_add_beta."),
     "MEASURE"},
    {"x", &SweepChoice::x, QT_TR_NOOP("With --sweep: the axis along x, such as model.d_conv."), "AXIS"},
    {"by", &SweepChoice::by, QT_TR_NOOP("With --sweep: the axis that tells series, or rows, apart."), "AXIS"},
    {"reference", &SweepChoice::reference, QT_TR_NOOP("With --sweep: the case to draw as a reference line."), "CASE"}};
constexpr QLatin1String log_option("log");

SweepChoice sweepChoice(const QCommandLineParser& parser) {
  SweepChoice choice;
  for (const SweepOption& option : sweep_options)
    choice.*option.member = parser.value(QLatin1String(option.name)).toStdString();
  choice.log = parser.isSet(log_option);
  return choice;
}

// The figure that the arguments ask for: a recipe's, or one of a run's or a sweep's folder.
Figure chosenFigure(const QCommandLineParser& parser) {
  if (parser.isSet(sweep_option)) return figureOfSweep(parser.value(sweep_option), sweepChoice(parser));
  if (!parser.isSet(run_option)) return readRecipe(parser.positionalArguments().front());
  return figureOfRun(parser.value(run_option), parser.value(panel_option), parser.values(inspected_option));
}

}  // namespace

int runFigureCommand(const QStringList& arguments) {
  const QString width = QStringLiteral("width-mm"), height = QStringLiteral("height-mm"),
                font = QStringLiteral("font-pt"), dpi = QStringLiteral("dpi"), palette = QStringLiteral("palette");
  QCommandLineParser parser;
  parser.setApplicationDescription(QObject::tr(
      "Makes a figure from a recipe, of a run folder or of a sweep, without a window. The format follows from the "
      "name of FILE: .pdf, .svg, .png or .csv."));
  parser.addPositionalArgument(QStringLiteral("recipe"), QObject::tr("The recipe that lies beside an exported figure."),
                               QStringLiteral("RECIPE"));
  parser.addOptions(
      {{{QStringLiteral("o"), QStringLiteral("output")},
        QObject::tr("The file to write; may be given more than once."),
        QStringLiteral("FILE")},
       {run_option, QObject::tr("A run folder instead of a recipe."), QStringLiteral("FOLDER")},
       {panel_option, QObject::tr("With --run: %1.").arg(panelIds().join(QStringLiteral(", "))),
        QStringLiteral("PANEL")},
       {inspected_option,
        QObject::tr(
            "With --run: what \"mambarium-worker inspect\" printed, for panels that look into the model; may be given "
            "more than once, for other steps."),
        QStringLiteral("FILE")},
       {sweep_option, QObject::tr("A sweep's folder, or its results.json, instead of a recipe."),
        QStringLiteral("FOLDER")},
       {log_option, QObject::tr("With --sweep: a logarithmic scale of the measure.")},
       {caption_option, QObject::tr("Write below the plot, in words, what it shows.")},
       {width, QObject::tr("Width instead of the recipe's."), QStringLiteral("MM")},
       {height, QObject::tr("Height instead of the recipe's."), QStringLiteral("MM")},
       {font, QObject::tr("Font size instead of the recipe's."), QStringLiteral("PT")},
       {dpi, QObject::tr("Dots per inch of a PNG."), QStringLiteral("DPI")},
       {palette, QObject::tr("light or dark instead of the recipe's."), QStringLiteral("PALETTE")},
       {{QStringLiteral("h"), QStringLiteral("help")}, QObject::tr("Show this help.")}});

  for (const SweepOption& option : sweep_options)
    parser.addOption({QLatin1String(option.name), QObject::tr(option.help), QLatin1String(option.value)});

  QStringList own = arguments;
  if (own.size() > 1) own.removeAt(1);
  if (!parser.parse(own)) return complain(parser.errorText(), exit_bad_input);
  if (parser.isSet(QStringLiteral("help"))) {
    QString help = parser.helpText();
    help.replace(QStringLiteral(" [options]"), QStringLiteral(" figure [options]"));
    std::fputs(qPrintable(help), stdout);
    return exit_ok;
  }
  const qsizetype sources =
      parser.positionalArguments().size() + (parser.isSet(run_option) ? 1 : 0) + (parser.isSet(sweep_option) ? 1 : 0);
  if (sources != 1)
    return complain(
        QObject::tr("exactly one recipe is needed: mambarium figure RECIPE -o FILE; or one run: mambarium "
                    "figure --run FOLDER --panel gap -o FILE; or one sweep: mambarium figure --sweep FOLDER "
                    "-o FILE"),
        exit_bad_input);
  const QStringList outputs = parser.values(QStringLiteral("output"));
  if (outputs.isEmpty())
    return complain(QObject::tr("the file to write is missing: -o FILE, ending in .pdf, .svg, .png or .csv"),
                    exit_bad_input);

  try {
    Figure figure = chosenFigure(parser);
    figure.style.width_mm = numberOption(parser, width, figure.style.width_mm);
    figure.style.height_mm = numberOption(parser, height, figure.style.height_mm);
    figure.style.font_pt = numberOption(parser, font, figure.style.font_pt);
    figure.style.dpi = numberOption(parser, dpi, figure.style.dpi);
    if (parser.isSet(palette)) {
      const QString wanted = parser.value(palette);
      if (wanted != u"light" && wanted != u"dark")
        throw std::invalid_argument("--palette is \"" + wanted.toStdString() + "\", it must be light or dark.");
      figure.style.dark = wanted == u"dark";
    }
    if (parser.isSet(caption_option)) figure.caption = makeFigurePanel(figure)->caption();
    const bool is_new = parser.positionalArguments().isEmpty();
    for (const QString& output : outputs) {
      auto failure = saveFigure(figure, output);
      if (!failure && is_new) failure = writeFile(recipePathFor(output), recipeBytes(figure));
      if (failure) return complain(*failure, exit_cannot_write);
    }
    return exit_ok;
  } catch (const std::invalid_argument& problem) {
    return complain(QString::fromUtf8(problem.what()), exit_bad_input);
  } catch (const std::exception& problem) {
    return complain(QString::fromUtf8(problem.what()), exit_cannot_write);
  }
}

int figureCommand(const QStringList& arguments) {
  // The same platform with and without a display gives the same figure.
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QByteArray name = arguments.value(0, QStringLiteral("mambarium")).toLocal8Bit();
  char* argv[] = {name.data(), nullptr};
  int argc = 1;
  const QApplication application(argc, argv);
  return runFigureCommand(arguments);
}

}  // namespace mambarium
