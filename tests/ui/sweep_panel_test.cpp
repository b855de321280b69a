// The panel of sweeps: what it shows of one by itself, what its charts, captions and tables say, and what it refuses.

#include "ui/plots/sweep_panel.h"

#include <QComboBox>
#include <QTest>
#include <cmath>
#include <set>

#include "core/contract/student_t.h"
#include "sweep_fake_data.h"
#include "ui/figure/figure_recipe.h"
#include "ui/figure/figure_renderer.h"
#include "ui/plots/cell_map.h"
#include "ui/plots/number_text.h"

using namespace mambarium;

namespace {

PanelData dataOf(std::shared_ptr<const SweepData> sweep) {
  PanelData data;
  data.sweep = std::move(sweep);
  return data;
}

// The half interval of three seeds that lie 0.002 apart: t (2 degrees of freedom) x 0.002 / sqrt 3.
const double half_interval = student_t_95(2) * 0.002 / std::sqrt(3.0);

template <class Plottable>
QList<Plottable*> plottablesOf(const SweepPanel& panel) {
  QList<Plottable*> found;
  QCustomPlot* plot = panel.plots().front();
  for (int i = 0; i < plot->plottableCount(); ++i)
    if (auto* plottable = dynamic_cast<Plottable*>(plot->plottable(i))) found << plottable;
  return found;
}

}  // namespace

class SweepPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theChartFollowsFromTheAxes() {
    const auto chart = [](const SweepData& data) { return SweepSlice(data.result, {}).chart(); };
    QCOMPARE(chart(*fake::orderAndWindow()), SweepChartKind::heat);
    QCOMPARE(chart(*fake::widths()), SweepChartKind::lines);
    QCOMPARE(chart(*fake::parts()), SweepChartKind::matrix);
    const auto cases = fake::sweep({fake::axis("case", "Case", {"a", "b"})}, [](const auto&) { return 0.1; });
    QCOMPARE(chart(*cases), SweepChartKind::dots);
    const auto seeds = fake::sweep({}, [](const auto&) { return 0.1; });
    const SweepSlice slice(seeds->result, {});
    QCOMPARE(slice.chart(), SweepChartKind::dots);
    QCOMPARE(slice.positions() * slice.series(), std::size_t{1});
  }

  void xIsAQuantityOfTheModel() {
    const auto data = fake::orderAndWindow();
    const SweepSlice windows(data->result, {});
    QCOMPARE(windows.x()->name, std::string("model.d_conv"));
    QCOMPARE(windows.seriesTitle(), QStringLiteral("Order k"));
    SweepChoice choice;
    choice.x = "task.order";
    const SweepSlice orders(data->result, choice);
    QCOMPARE(orders.positions(), std::size_t{4});
    QCOMPARE(orders.cellLabel(orders.cell(2, 3)), QStringLiteral("Order k 4, Window w 4"));
    QCOMPARE(data->result.cells[orders.cell(2, 3)].position, (std::vector<std::size_t>{3, 2}));
    choice = {};
    choice.by = "model.d_conv";
    QCOMPARE(SweepSlice(data->result, choice).x()->name, std::string("task.order"));
  }

  void everyCellIsInThePictureOnce() {
    const auto data = fake::parts();
    for (const char* const x : {"model.conv", "model.gate", "model.mlp"}) {
      SweepChoice choice;
      choice.x = x;
      const SweepSlice slice(data->result, choice);
      std::set<std::size_t> seen;
      for (std::size_t series = 0; series < slice.series(); ++series)
        for (std::size_t position = 0; position < slice.positions(); ++position) {
          const std::size_t cell = slice.cell(series, position);
          seen.insert(cell);
          QVERIFY(slice.cellLabel(cell).contains(slice.positionLabel(position)));
        }
      QCOMPARE(seen.size(), std::size_t{8});
    }
  }

  void wrongChoicesAreOneSentence_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("says");
    QTest::newRow("axis") << "x"
                          << "task.ordr"
                          << "it must be one of task.order, model.d_conv";
    QTest::newRow("series") << "by"
                            << "case"
                            << "the axis of the series is \"case\"";
    QTest::newRow("measure") << "measure"
                             << "gap"
                             << "it must be one of gap_add_beta, gap_oracle";
    QTest::newRow("reference") << "reference"
                               << "full"
                               << "this sweep has no cases";
  }

  void wrongChoicesAreOneSentence() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(QString, says);
    SweepPanel panel;
    panel.show(dataOf(fake::orderAndWindow()));
    QVERIFY(panel.hasData());
    panel.setOptions({{key.toStdString(), value.toStdString()}});
    QVERIFY(!panel.hasData());
    QVERIFY2(panel.caption().contains(says), qPrintable(panel.caption()));
    QVERIFY(panel.caption().endsWith(u'.'));
    panel.setOptions({{key.toStdString(), ""}});
    QVERIFY(panel.hasData());
  }

  void curvesAreOfWhatIsFollowedOverTraining() {
    SweepPanel panel;
    panel.show(dataOf(fake::orderAndWindow(-1, true)));
    panel.setOptions({{"chart", "curves"}, {"measure", "parameter_count"}});
    QVERIFY2(panel.caption().contains(QStringLiteral("curves show gap_add_beta")), qPrintable(panel.caption()));
    panel.setOptions({{"measure", "model_loss"}});
    QVERIFY(panel.hasData());
    const PanelTable table = panel.table();
    QCOMPARE(table.columns[2], QStringLiteral("step"));
    QCOMPARE(table.rows.size(), std::size_t{20 * 11});
    // The last step of the first cell: the mean of the seeds' gaps above the loss of the best predictor.
    const double last = 0.5 + 0.004 * (1 + std::exp(-5.0));
    QVERIFY(std::abs(table.rows[10][3].toDouble() - last) < 1e-9);
    panel.show(dataOf(fake::orderAndWindow()));
    QVERIFY(!panel.hasData() && panel.needsCurves());
  }

  void theHeatMapHasAColourForEveryCell() {
    SweepPanel panel;
    panel.resize(900, 600);
    panel.show(dataOf(fake::orderAndWindow(30)));
    QCOMPARE(plottablesOf<CellMap>(panel).size(), 2);
    QVERIFY2(panel.caption().contains(QStringLiteral("30 of 60 models are trained")), qPrintable(panel.caption()));
    QVERIFY(panel.caption().contains(
        QStringLiteral("Lowest 0.0040 ± %1 at Order k 1, Window w 2").arg(fixedText(half_interval, 4))));
    const PanelTable table = panel.table();
    QCOMPARE(table.rows.size(), std::size_t{20});
    QCOMPARE(table.columns.mid(0, 3), (QStringList{"task.order", "model.d_conv", "gap_add_beta_mean"}));
    const auto& first = table.rows.front();
    QVERIFY(std::abs(first[2].toDouble() - 0.004) < 1e-12);
    QVERIFY(std::abs(first[5].toDouble() - (0.004 + half_interval)) < 1e-9);
    QCOMPARE(first[6], QStringLiteral("3"));
    QVERIFY(std::abs(first[7].toDouble() - 0.002) < 1e-12);
    QVERIFY(table.rows.back()[2].isEmpty());
  }

  void linesHaveErrorBarsAndAReference() {
    SweepPanel panel;
    panel.show(dataOf(fake::widths()));
    const auto lines = plottablesOf<QCPGraph>(panel);
    QCOMPARE(lines.size(), 3);
    QCOMPARE(plottablesOf<QCPErrorBars>(panel).size(), 3);
    QCOMPARE(lines[0]->keyAxis()->scaleType(), QCPAxis::stLogarithmic);  // widths that double
    QCOMPARE(lines[1]->data()->at(2)->key, 8.0);
    QVERIFY(std::abs(lines[1]->data()->at(2)->value - 0.04) < 1e-12);
    const QCPErrorBarsDataContainer& bars = *plottablesOf<QCPErrorBars>(panel)[0]->data();
    QVERIFY(std::abs(bars[0].errorPlus - half_interval) < 1e-9);
    panel.setOptions({{"reference", "full"}});
    QVERIFY(plottablesOf<QCPGraph>(panel)[0]->pen().style() == Qt::CustomDashLine);
    QCOMPARE(plottablesOf<QCPGraph>(panel)[0]->pen().color(), Theme().neutral());
  }

  void aLogarithmHasAPlaceForWhatHasNone() {
    SweepPanel panel;
    panel.show(dataOf(fake::sweep({fake::axis("model.d_conv", "Window w", {"2", "3"}, {2, 3})},
                                  [](const auto& at) { return at[0] == 0 ? -0.01 : 0.1; })));
    panel.setOptions({{"log", true}});
    const auto lines = plottablesOf<QCPGraph>(panel);
    QVERIFY(lines[0]->data()->at(0)->value > 0);
    QVERIFY(lines[0]->data()->at(0)->value < 0.09);
    QVERIFY(panel.caption().contains(QStringLiteral("−0.0100")));
  }

  void dotsAndTilesShowEverySeed() {
    SweepPanel panel;
    panel.show(dataOf(fake::parts(10)));
    QVERIFY2(panel.caption().contains(QStringLiteral("Convolution on x,B,C, Gate on, MLP gated: 0.0100 ± ")),
             qPrintable(panel.caption()));
    int seeds = 0;
    for (const QCPGraph* graph : plottablesOf<QCPGraph>(panel))
      if (graph->lineStyle() == QCPGraph::lsNone) seeds += graph->dataCount();
    QCOMPARE(seeds, 10);
    QCOMPARE(panel.plots().front()->axisRectCount(), 8);
    panel.setOptions({{"chart", "dots"}});
    QCOMPARE(panel.plots().front()->axisRectCount(), 1);
    QCOMPARE(plottablesOf<QCPErrorBars>(panel).size(), 4);
  }

  void tilesAreThereBeforeTheFirstModel() {
    SweepPanel panel;
    panel.show(dataOf(fake::parts(0)));
    QVERIFY(panel.hasData());
    QVERIFY(panel.caption().contains(QStringLiteral("0 of 24 models are trained")));
    panel.setOptions({{"chart", "dots"}});
    QVERIFY(!panel.hasData());
  }

  void boxesChooseAndOptionsFollow() {
    SweepPanel panel;
    panel.show(dataOf(fake::orderAndWindow()));
    const auto box = [&](const char* name) {
      for (QComboBox* known : panel.findChildren<QComboBox*>())
        if (known->accessibleName() == QLatin1String(name)) return known;
      return static_cast<QComboBox*>(nullptr);
    };
    const auto choose = [](QComboBox* chosen, const char* data) {
      chosen->setCurrentIndex(chosen->findData(QLatin1String(data)));
      Q_EMIT chosen->activated(chosen->currentIndex());
    };
    choose(box("Chart"), "lines");
    choose(box("Along x"), "task.order");
    choose(box("Measure"), "model_loss");
    QCOMPARE(panel.options()["chart"], "lines");
    QCOMPARE(plottablesOf<QCPGraph>(panel).size(), 5);
    QVERIFY(panel.caption().contains(QStringLiteral("Test loss of the model")));
    choose(box("Series by"), "task.order");
    QCOMPARE(panel.options()["x"], "");
    QVERIFY(panel.hasData());
  }

  void aRecipeDrawsTheSame() {
    for (const char* const chart : {"heat", "lines", "dots", "curves", "matrix"}) {
      SweepPanel panel;
      panel.show(dataOf(fake::orderAndWindow(-1, true)));
      panel.setOptions({{"chart", chart}});
      const Figure figure = figureOf(panel, {});
      const Figure again = figureFromRecipe(nlohmann::json::parse(figureToRecipe(figure).dump()));
      QCOMPARE(figureCsv(again), figureCsv(figure));
      QVERIFY(figureImage(again, 100) == figureImage(figure, 100));
    }
  }
};

QTEST_MAIN(SweepPanelTest)
#include "sweep_panel_test.moc"
