// Every chart of a sweep in light and dark, written as PNG for a person to look at.

#include <QApplication>
#include <QDir>
#include <QTest>

#include "sweep_fake_data.h"
#include "ui/plots/sweep_panel.h"

using namespace mambarium;

namespace {

std::shared_ptr<const SweepData> dataFor(const QString& chart) {
  if (chart == u"lines" || chart == u"dots") return fake::widths();
  if (chart == u"matrix") return fake::parts(20);
  if (chart == u"heat") return fake::orderAndWindow(52);
  return fake::sweep(
      {fake::axis("task.order", "Order k", {"1", "2", "3", "4"}, {1, 2, 3, 4})},
      [](const auto& at) { return 0.005 + 0.01 * double(at[0]); }, -1, true);
}

}  // namespace

class SweepGallery : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pictures_data() {
    QTest::addColumn<QString>("chart");
    QTest::addColumn<bool>("dark");
    for (const char* const chart : {"heat", "lines", "dots", "curves", "matrix"})
      for (const bool dark : {false, true}) QTest::addRow("%s %s", chart, dark ? "dark" : "light") << chart << dark;
  }

  void pictures() {
    QFETCH(QString, chart);
    QFETCH(bool, dark);
    const Theme theme = Theme::screen(dark ? Appearance::dark : Appearance::light);
    theme.applyTo(*qApp);
    SweepPanel panel;
    panel.setTheme(theme);
    PanelData data;
    data.sweep = dataFor(chart);
    panel.setOptions({{"chart", chart.toStdString()}, {"log", chart == u"lines"}});
    panel.show(data);
    panel.resize(820, 440);
    panel.show();
    QVERIFY(QTest::qWaitForWindowExposed(&panel));
    QTest::qWait(60);
    QVERIFY2(panel.hasData(), qPrintable(panel.caption()));
    QDir().mkpath(QStringLiteral(MAMBARIUM_PICTURES_DIR));
    const QString path =
        QStringLiteral("%1/sweep-%2-%3-%4.png")
            .arg(QStringLiteral(MAMBARIUM_PICTURES_DIR), chart, dark ? QStringLiteral("dark") : QStringLiteral("light"))
            .arg(qApp->devicePixelRatio() * 100);
    QVERIFY(panel.grab().save(path));
  }
};

QTEST_MAIN(SweepGallery)
#include "sweep_gallery.moc"
