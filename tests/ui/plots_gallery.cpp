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

PanelData dataFor(const QString& id, bool rich) {
  if (id == u"prediction") return fake::inspected(fake::prediction(128, rich ? 4 : 2));
  if (id == u"decay") return fake::inspected(fake::decay(128, rich ? 2 : 1, rich ? 2 : 1));
  if (id == u"filters") return fake::inspected(fake::filters(rich ? 2 : 1, rich ? 4 : 2));
  return rich ? fake::threeRuns() : fake::oneRun();
}

int distinctColors(const QImage& image) {
  QSet<QRgb> colors;
  for (int y = 0; y < image.height(); y += 2)
    for (int x = 0; x < image.width(); x += 2) colors.insert(image.pixel(x, y));
  return static_cast<int>(colors.size());
}

}  // namespace

class PlotsGallery : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pictures_data();
  void pictures();
};

void PlotsGallery::pictures_data() {
  QTest::addColumn<QString>("id");
  QTest::addColumn<bool>("rich");
  QTest::addColumn<bool>("dark");
  for (const Panel* panel : makePanels(nullptr)) {
    for (const bool rich : {false, true})
      for (const bool dark : {false, true})
        QTest::addRow("%s %s %s", qPrintable(panel->id()), rich ? "rich" : "simple", dark ? "dark" : "light")
            << panel->id() << rich << dark;
    delete panel;
  }
}

void PlotsGallery::pictures() {
  QFETCH(QString, id);
  QFETCH(bool, rich);
  QFETCH(bool, dark);
  const Theme theme = Theme::screen(dark ? Appearance::dark : Appearance::light);
  theme.applyTo(*qApp);
  const std::unique_ptr<Panel> panel(makePanel(id, nullptr));
  panel->setTheme(theme);
  panel->show(dataFor(id, rich));
  panel->resize(560, 320);
  panel->show();
  QVERIFY(QTest::qWaitForWindowExposed(panel.get()));
  QTest::qWait(60);
  const QImage image = panel->grab().toImage();
  QVERIFY(distinctColors(image) > 8);

  const QString scale = QString::number(qApp->devicePixelRatio() * 100);
  QDir().mkpath(QStringLiteral(MAMBARIUM_PICTURES_DIR));
  const QString path =
      QStringLiteral("%1/%2-%3-%4-%5.png")
          .arg(QStringLiteral(MAMBARIUM_PICTURES_DIR), id, rich ? QStringLiteral("rich") : QStringLiteral("simple"),
               dark ? QStringLiteral("dark") : QStringLiteral("light"), scale);
  QVERIFY(image.save(path));
}

QTEST_MAIN(PlotsGallery)
#include "plots_gallery.moc"
