// The loss panel: curves, references and what is said of them.

#include <cmath>

#include "panel_fixture.h"

using namespace mambarium;

class LossPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void lossSaysAndTabulatesWhatItShows();
  void lossSmoothingLeavesTheTableAlone();
  void referencesOfOneTaskAreNamedOnce();
  void ticksLeaveRoomForEachOther();
};

void LossPanelTest::lossSaysAndTabulatesWhatItShows() {
  const PanelData data = fake::oneRun();
  const auto panel = shownPanel(QStringLiteral("loss"), data);
  const MetricsRow& last = data.runs[0].rows.back();
  const QString test = QString::number(last.test_loss, 'f', 4);
  const QString above = QString::number(last.test_loss - last.add_beta_loss, 'f', 4);
  const QString below = QString::number(std::log(2) - last.test_loss, 'f', 4);
  QCOMPARE(
      panel->caption(),
      QStringLiteral("Step 1,240 of 2,000: test loss %1 nats per token, %2 above add-1 and %3 below a uniform guess.")
          .arg(test, above, below));

  std::map<QString, std::vector<double>> series;
  for (const QStringList& row : panel->table().rows) series[row[2]].push_back(row[3].toDouble());
  QCOMPARE(series["test"].size(), data.runs[0].rows.size());
  QCOMPARE(series["train"].size(), data.runs[0].train_losses.size());
  QCOMPARE(series["uniform"], std::vector<double>{std::log(2.0)});
  QCOMPARE(series["oracle"], std::vector<double>{last.oracle_loss});
  for (std::size_t i = 0; i < data.runs[0].rows.size(); ++i)
    QCOMPARE(series["test"][i], data.runs[0].rows[i].test_loss);
}

void LossPanelTest::lossSmoothingLeavesTheTableAlone() {
  const auto panel = shownPanel(QStringLiteral("loss"), fake::oneRun());
  const auto before = panel->table().rows;
  const auto visible = [&] {
    int count = 0;
    for (int i = 0; i < plotOf(*panel)->graphCount(); ++i) count += plotOf(*panel)->graph(i)->visible() ? 1 : 0;
    return count;
  };
  const int lines = visible();
  QTest::mouseClick(named<QToolButton>(*panel, QStringLiteral("Smooth")), Qt::LeftButton);
  QCOMPARE(visible(), lines + 1);
  QVERIFY(panel->table().rows == before);

  // The mean in front follows the raw line: never outside the raw values it is made of.
  const QCPGraph* raw = plotOf(*panel)->graph(3);
  const QCPGraph* mean = plotOf(*panel)->graph(4);
  QCOMPARE(mean->dataCount(), raw->dataCount());
  double low = INFINITY, high = -INFINITY;
  for (const QCPGraphData& point : *raw->data()) {
    low = std::min(low, point.value);
    high = std::max(high, point.value);
  }
  for (const QCPGraphData& point : *mean->data()) QVERIFY(low <= point.value && point.value <= high);
}

void LossPanelTest::referencesOfOneTaskAreNamedOnce() {
  const auto names = [](const PanelData& data, const char* id) {
    const auto panel = shownPanel(QLatin1String(id), data);
    QStringList texts;
    for (QObject* child : plotOf(*panel)->findChildren<QObject*>())
      if (const auto* labels = qobject_cast<QCPLayerable*>(child))
        if (const auto* ends = dynamic_cast<const EndLabels*>(labels))
          for (const EndLabel& label : ends->labels()) texts << label.text;
    texts.sort();
    return texts;
  };
  PanelData data = fake::threeRuns();
  for (MetricsRow& row : data.runs[1].rows) row.add_beta_loss += 1e-4;  // another test set of the same task
  QCOMPARE(names(data, "loss"),
           (QStringList{QStringLiteral("add-1"), QStringLiteral("oracle"), QStringLiteral("uniform")}));
  QCOMPARE(names(data, "gap"), QStringList{QStringLiteral("add-1 − oracle")});
  data.runs[2].config.set("task.order", std::int64_t{2});
  for (MetricsRow& row : data.runs[2].rows) {
    row.add_beta_loss += 0.03;
    row.oracle_loss += 0.02;
  }
  QCOMPARE(names(data, "loss"), (QStringList{QStringLiteral("add-1, order 1"), QStringLiteral("add-1, order 2"),
                                             QStringLiteral("oracle, order 1"), QStringLiteral("oracle, order 2"),
                                             QStringLiteral("uniform")}));
  QCOMPARE(names(data, "gap"),
           (QStringList{QStringLiteral("add-1 − oracle, order 1"), QStringLiteral("add-1 − oracle, order 2")}));
}

void LossPanelTest::ticksLeaveRoomForEachOther() {
  const auto panel = shownPanel(QStringLiteral("loss"), fake::oneRun());
  for (const int width : {640, 340, 260, 200}) {
    panel->resize(width, 300);
    QTest::qWait(50);
    plotOf(*panel)->replot();
    const QCPAxis* axis = mainRect(plotOf(*panel))->axis(QCPAxis::atBottom);
    const QFontMetricsF metrics(axis->tickLabelFont());
    const QVector<double> ticks = axis->tickVector();
    const QVector<QString> labels = axis->tickVectorLabels();
    double end = -1e9;
    int seen = 0;
    for (int i = 0; i < ticks.size(); ++i) {
      if (!axis->range().contains(ticks[i])) continue;
      const double half = metrics.horizontalAdvance(labels[i]) / 2, middle = axis->coordToPixel(ticks[i]);
      QVERIFY2(middle - half > end, qPrintable(QStringLiteral("%1 at width %2").arg(labels[i]).arg(width)));
      end = middle + half;
      ++seen;
    }
    QVERIFY(seen >= 2);
  }
}

QTEST_MAIN(LossPanelTest)
#include "loss_panel_test.moc"
