// Every panel in every appearance, written as PNG for a person to look at; asserts what a machine can see of a picture.

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QTest>
#include <memory>

#include "plots_fake_data.h"
#include "ui/plots/panel.h"
#include "ui/plots/theme.h"

using namespace mambarium;

namespace {

int distinctColors(const QImage& image) {
  QSet<QRgb> colors;
  for (int y = 0; y < image.height(); y += 2)
    for (int x = 0; x < image.width(); x += 2) colors.insert(image.pixel(x, y));
  return static_cast<int>(colors.size());
}

}  // namespace

Q_DECLARE_METATYPE(mambarium::PanelData)

class PlotsGallery : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pictures_data();
  void pictures();
};

void PlotsGallery::pictures_data() {
  QTest::addColumn<QString>("id");
  QTest::addColumn<PanelData>("data");
  QTest::addColumn<QString>("options");
  QTest::addColumn<bool>("dark");
  const auto add = [](const QString& id, const QString& name, const PanelData& data, const QString& options = {}) {
    for (const bool dark : {false, true})
      QTest::addRow("%s-%s-%s", qPrintable(id), qPrintable(name), dark ? "dark" : "light")
          << id << data << options << dark;
  };
  for (const QString& id : panelIds())
    for (const bool rich : {false, true})
      add(id, rich ? QStringLiteral("rich") : QStringLiteral("simple"), fake::panelData(id, rich));
  const auto view = [&](const char* id, const char* name, const PanelData& data, const char* options) {
    add(QLatin1String(id), QLatin1String(name), data, QLatin1String(options));
  };
  PanelData one = fake::panelData(QStringLiteral("loss"));
  one.runs.resize(1);
  const PanelData seeds = fake::seedsAndAnother();
  for (const char* id : {"loss", "gap"}) {
    view(id, "one", one, "{}");
    view(id, "means", seeds, R"({"curves": "means"})");
    view(id, "minus", seeds, R"({"minus": "runs/2026-11-30-0"})");
    view(id, "means-minus", seeds, R"({"curves": "means", "minus": "runs/2026-11-30-3"})");
  }
  PanelData switching = fake::inspected(fake::decay(200, 1, 1));
  auto decay = switching.inspected->get<DecayData>();
  for (const std::size_t t : {std::size_t{30}, std::size_t{100}, std::size_t{150}}) {
    decay.tokens[t] = 2;
    decay.decay.data[t] = 0.002F * static_cast<float>(t);
  }
  switching.inspected = nlohmann::json(decay);
  switching.runs[0].config.set("task.kind", std::string("switching"));
  view("decay", "horizon", switching, R"({"view": "horizon"})");
  view("decay", "histogram", switching, R"({"view": "histogram"})");
  view("decay", "histogram-heads", fake::panelData(QStringLiteral("decay"), true), R"({"view": "histogram"})");
  view("prediction", "position", fake::panelData(QStringLiteral("prediction"), true),
       R"({"view": "position", "position": 60})");
  view("prediction", "contexts", fake::panelData(QStringLiteral("prediction")), R"({"view": "contexts"})");
  auto order3 = fake::prediction(400, 2);
  order3.order = 3;
  view("prediction", "contexts-order3", fake::inspected(order3), R"({"view": "contexts"})");
  view("filters", "stems", fake::panelData(QStringLiteral("filters")), R"({"view": "stems"})");
  view("filters", "training", fake::panelData(QStringLiteral("filters"), true), R"({"view": "training"})");
  view("state", "maps", fake::panelData(QStringLiteral("state"), true), R"({"view": "maps"})");
  view("circuit", "lit", fake::panelData(QStringLiteral("circuit")), R"({"triad": 2})");
  view("circuit", "instance", fake::panelData(QStringLiteral("circuit")), R"({"triad": 2, "instance": 7})");
  CircuitData loose = fake::circuit();
  for (float& entry : loose.coupling.data) entry *= 0.1F;
  loose = fake::circuitOf(16, loose.coupling.data);
  loose.norm = 0.9;
  view("circuit", "no-edges", fake::inspected(loose), "{}");
  for (const int runs : {1, 3}) {
    const PanelData outputs = fake::decodingRuns(runs, true);
    view("decoding", runs == 1 ? "outputs" : "outputs-runs", outputs, "{}");
    view("decoding", runs == 1 ? "scores" : "scores-runs", outputs, R"({"outputs": "r_squared"})");
  }
  view("decoding", "one-output", fake::decodingRuns(1, true), R"({"output": 3})");
  view("decoding", "directions", fake::decodingRuns(1, false), R"({"directions": "traces"})");
  view("theory", "quantisation", fake::inspected(fake::quantisation()), R"({"view": "quantisation"})");
  view("theory", "construction", fake::inspected(fake::theorem()), R"({"view": "construction"})");
}

void PlotsGallery::pictures() {
  QFETCH(QString, id);
  QFETCH(PanelData, data);
  QFETCH(QString, options);
  QFETCH(bool, dark);
  const Theme theme = Theme::screen(dark ? Appearance::dark : Appearance::light);
  theme.applyTo(*qApp);
  const std::unique_ptr<Panel> panel(makePanel(id, nullptr));
  panel->setTheme(theme);
  panel->show(data);
  if (!options.isEmpty()) panel->setOptions(nlohmann::json::parse(options.toStdString()));
  panel->resize(560, 320);
  panel->show();
  QVERIFY(QTest::qWaitForWindowExposed(panel.get()));
  QTest::qWait(60);
  QVERIFY(panel->hasData());
  const QImage image = panel->grab().toImage();
  QVERIFY(distinctColors(image) > 8);

  const QString scale = QString::number(qApp->devicePixelRatio() * 100);
  QDir().mkpath(QStringLiteral(MAMBARIUM_PICTURES_DIR));
  const QString path = QStringLiteral("%1/%2-%3.png")
                           .arg(QStringLiteral(MAMBARIUM_PICTURES_DIR), QLatin1String(QTest::currentDataTag()), scale);
  QVERIFY(image.save(path));
}

QTEST_MAIN(PlotsGallery)
#include "plots_gallery.moc"
