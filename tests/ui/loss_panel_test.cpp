// The loss panel: curves, references and what is said of them.

#include <cmath>

#include "core/decoding/session.h"
#include "panel_fixture.h"

using namespace mambarium;

class LossPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void lossSaysAndTabulatesWhatItShows();
  void lossSmoothingLeavesTheTableAlone();
  void referencesOfOneTaskAreNamedOnce();
  void guessingCostsWhatTheTaskSays_data();
  void guessingCostsWhatTheTaskSays();
  void runsInOtherUnitsSaySo();
  void positiveLossesHaveNoAxisBelowZero();
  void ticksLeaveRoomForEachOther();
};

namespace {

QStringList endLabels(const Panel& panel) {
  QStringList texts;
  for (QObject* child : plotOf(panel)->findChildren<QObject*>())
    if (const auto* const labels = dynamic_cast<const EndLabels*>(child))
      for (const EndLabel& label : labels->labels()) texts << label.text;
  texts.sort();
  return texts;
}

PanelData decoding(const char* answer, const char* recording = "simulated") {
  PanelData data = fake::oneRun();
  data.runs[0].config.set("task.kind", "decoding");
  data.runs[0].config.set("task.answer", answer);
  data.runs[0].config.set("task.recording", recording);
  return data;
}

}  // namespace

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

void LossPanelTest::guessingCostsWhatTheTaskSays_data() {
  QTest::addColumn<QString>("kind");
  QTest::addColumn<QString>("answer");
  QTest::addColumn<QString>("recording");
  QTest::addColumn<double>("answers");  // 0: there is no uniform guess, or nobody knows of how many
  QTest::addColumn<QString>("unit");
  const auto row = [](const char* name, const char* kind, const char* answer, const char* recording, double answers,
                      const char* unit) {
    QTest::newRow(name) << QString::fromLatin1(kind) << QString::fromLatin1(answer) << QString::fromLatin1(recording)
                        << answers << QString::fromLatin1(unit);
  };
  row("chain", "markov", "direction", "simulated", 2, "nats per token");
  row("switching", "switching", "direction", "simulated", 3, "nats per token");
  row("recall", "induction", "direction", "simulated", 2, "nats per answer");
  row("direction", "decoding", "direction", "simulated", static_cast<double>(direction_count), "nats per window");
  row("recorded", "decoding", "direction", "xds", static_cast<double>(direction_count), "nats per window");
  row("windows", "decoding", "direction", "windows", 0, "nats per window");
  row("outputs", "decoding", "outputs", "simulated", 0, "variances");
}

void LossPanelTest::guessingCostsWhatTheTaskSays() {
  QFETCH(const QString, kind);
  QFETCH(const QString, answer);
  QFETCH(const QString, recording);
  QFETCH(const double, answers);
  QFETCH(const QString, unit);
  PanelData data = decoding(answer.toLatin1().constData(), recording.toLatin1().constData());
  QVERIFY(!data.runs[0].config.set("task.kind", kind.toStdString()));
  const auto panel = shownPanel(QStringLiteral("loss"), data);
  const PanelTable table = panel->table();
  std::vector<double> guesses;
  for (const QStringList& line : table.rows)
    if (line[2] == QLatin1String("uniform")) guesses.push_back(line[3].toDouble());
  QCOMPARE(guesses, answers > 0 ? std::vector<double>{std::log(answers)} : std::vector<double>{});
  QCOMPARE(table.columns[3], QStringLiteral("loss_") + QString(unit).replace(u' ', u'_'));
  QCOMPARE(endLabels(*panel).contains(QStringLiteral("uniform")), answers > 0);
  QCOMPARE(panel->caption().contains(QStringLiteral("a uniform guess")), answers > 0);
  const QString caption = panel->caption();
  QVERIFY2(caption.contains(QStringLiteral(" %1, ").arg(unit)), qPrintable(caption));
  for (const char* const id : {"loss", "gap"}) {
    const auto shown = shownPanel(QLatin1String(id), data);
    const QString label = mainRect(plotOf(*shown))->axis(QCPAxis::atLeft)->label();
    QVERIFY2(label.endsWith(QStringLiteral(" (%1)").arg(unit)), qPrintable(label));
  }
}

void LossPanelTest::runsInOtherUnitsSaySo() {
  PanelData data = decoding("outputs");
  RunSeries chain = fake::oneRun().runs[0];
  chain.title = "A chain";
  data.runs.push_back(chain);
  const auto panel = shownPanel(QStringLiteral("loss"), data);
  QCOMPARE(endLabels(*panel), (QStringList{QStringLiteral("ideal decoder"), QStringLiteral("oracle")}));
  QCOMPARE(mainRect(plotOf(*panel))->axis(QCPAxis::atLeft)->label(), QStringLiteral("Loss (the legend says in what)"));
  const PanelTable table = panel->table();
  QCOMPARE(table.columns[3], QStringLiteral("loss"));
  QCOMPARE(table.columns.back(), QStringLiteral("unit"));
  for (const QStringList& line : table.rows) {
    const bool is_chain = line[0] == QLatin1String("A chain");
    QCOMPARE(line.back(), is_chain ? QStringLiteral("nats per token") : QStringLiteral("variances"));
  }
  data.current = 1;
  QCOMPARE(endLabels(*shownPanel(QStringLiteral("loss"), data)),
           (QStringList{QStringLiteral("add-1"), QStringLiteral("oracle"), QStringLiteral("uniform")}));
}

void LossPanelTest::positiveLossesHaveNoAxisBelowZero() {
  PanelData data = decoding("outputs");
  for (MetricsRow& row : data.runs[0].rows) {
    row.oracle_loss = row.add_beta_loss = 1e-4;  // so near that a margin would cross zero
    row.test_loss = std::max(row.test_loss, 1e-4);
  }
  const auto panel = shownPanel(QStringLiteral("loss"), data);
  QCOMPARE(mainRect(plotOf(*panel))->axis(QCPAxis::atLeft)->range().lower, 0.0);
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
