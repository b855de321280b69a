// The filters panel: map, stems, replay.

#include <cmath>

#include "panel_fixture.h"

using namespace mambarium;

class FiltersPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void overTrainingTapsAreLines();
  void filtersMapAndStemsShowTheSameNumbers();
  void filtersWithoutConvolutionSaySo();
  void filtersSliderReplaysCheckpoints();
};

void FiltersPanelTest::filtersMapAndStemsShowTheSameNumbers() {
  const FilterData answer = fake::filters(2, 3);
  const auto panel = shownPanel(QStringLiteral("filters"), fake::inspected(answer));
  QCOMPARE(plotOf(*panel)->axisRectCount(), 4);
  const auto rows = panel->table().rows;
  QCOMPARE(rows.size(), std::size_t{(16 + 8 + 8) * (3 + 1)});
  QCOMPARE(rows[0], (QStringList{QStringLiteral("1"), QStringLiteral("x"), QStringLiteral("0"), QStringLiteral("-2"),
                                 rows[0][4]}));
  QCOMPARE(rows[2][3], QStringLiteral("0"));
  QCOMPARE(rows[3][3], QStringLiteral("bias"));
  QCOMPARE(rows[1][4].toFloat(), answer.layers[0][0].taps.data[1]);

  auto* view = named<QComboBox>(*panel, QStringLiteral("View"));
  view->setFocus();
  QTest::keyClick(view, Qt::Key_Down);
  QCOMPARE(panel->options()["view"].get<std::string>(), std::string("stems"));
  QVERIFY(panel->table().rows == rows);
  QCustomPlot* plot = plotOf(*panel);
  QCOMPARE(plot->axisRectCount(), 3);
  int stems = 0;
  for (int i = 0; i < plot->graphCount(); ++i) {
    QCOMPARE(plot->graph(i)->lineStyle(), QCPGraph::lsImpulse);
    stems += plot->graph(i)->dataCount();
  }
  QCOMPARE(stems, (16 + 8 + 8) * (3 + 1));

  panel->setOptions({{"layer", 1}, {"view", "map"}});
  QCOMPARE(panel->table().rows[0][4].toFloat(), answer.layers[1][0].taps.data[0]);
  QVERIFY(panel->caption().contains(QStringLiteral("layer 2")));

  FilterData only_x = fake::filters(1, 2);
  only_x.layers[0].resize(1);
  panel->show(fake::inspected(only_x));
  QTRY_COMPARE(plot->axisRectCount(), 2);

  plot->replot();  // places the two
  moveMouse(plot, plot->axisRects().front()->rect().center());
  QVERIFY(plot->findChild<QLabel*>(QStringLiteral("hoverLabel"))->text().contains(QStringLiteral("x, channel")));
}

void FiltersPanelTest::filtersWithoutConvolutionSaySo() {
  FilterData none;
  none.step = 10;
  none.layers.emplace_back();
  const auto panel = shownPanel(QStringLiteral("filters"), fake::inspected(none));
  QVERIFY(!panel->hasData());
  QCOMPARE(panel->caption(), QStringLiteral("This model has no convolution."));
  PanelData unasked = fake::oneRun();
  unasked.runs[0].config.set("model.conv", std::string("none"));
  panel->show(unasked);
  QCOMPARE(panel->caption(), QStringLiteral("This model has no convolution."));
  panel->show(fake::inspected(fake::filters(1, 2)));
  QVERIFY(panel->hasData());
}

void FiltersPanelTest::filtersSliderReplaysCheckpoints() {
  const auto panel = shownPanel(QStringLiteral("filters"), fake::inspected(fake::filters(1, 2)));
  auto* slider = named<QSlider>(*panel, QStringLiteral("Checkpoint"));
  QVERIFY(!slider->isEnabled());
  panel->setCheckpoints({0, 100, 200});
  QVERIFY(slider->isEnabled());
  QCOMPARE(slider->value(), 3);
  QSignalSpy chosen(panel.get(), &Panel::checkpointChosen);
  slider->setFocus();
  QTest::keyClick(slider, Qt::Key_Left);
  QCOMPARE(chosen.size(), 1);
  const auto newest = [&] { return chosen.back().front().value<std::optional<std::int64_t>>(); };
  QCOMPARE(newest(), std::optional<std::int64_t>(200));
  QTest::keyClick(slider, Qt::Key_Home);
  QCOMPARE(newest(), std::optional<std::int64_t>(0));
  panel->setCheckpoints({0, 100, 200, 300});
  QCOMPARE(slider->value(), 0);
  QTest::keyClick(slider, Qt::Key_End);
  QVERIFY(!newest());
  panel->setCheckpoint(100);
  QCOMPARE(slider->value(), 1);
  QCOMPARE(chosen.size(), 3);
}

void FiltersPanelTest::overTrainingTapsAreLines() {
  const PanelData data = fake::panelData(QStringLiteral("filters"));
  const auto panel = shownPanel(QStringLiteral("filters"), data);
  QVERIFY(!panel->wantsEarlier());
  panel->setOptions({{"view", "training"}});
  QVERIFY(panel->wantsEarlier());
  QCOMPARE(plotOf(*panel)->axisRectCount(), 3);
  QCOMPARE(plotOf(*panel)->graphCount(), (16 + 8 + 8) * 2);
  const auto first = data.earlier[2].get<FilterData>();
  const QCPGraph* line = plotOf(*panel)->graph(0);
  QCOMPARE(line->dataCount(), static_cast<int>(data.earlier.size()) + 1);
  QCOMPARE(line->data()->at(2)->key, static_cast<double>(first.step));
  QCOMPARE(static_cast<float>(line->data()->at(2)->value), first.layers[0][0].taps.data[0]);
  const PanelTable table = panel->table();
  QCOMPARE(table.rows.size(), (data.earlier.size() + 1) * (16 + 8 + 8) * 2);
  QVERIFY2(panel->caption().startsWith(QStringLiteral("Steps 0 to 1,240, seen at 9 of them")),
           qPrintable(panel->caption()));

  const PanelData again = panel_data_from_recipe(nlohmann::json::parse(to_recipe_json(data).dump()));
  const auto redrawn = shownPanel(QStringLiteral("filters"), again);
  redrawn->setOptions({{"view", "training"}});
  QVERIFY(redrawn->table().rows == table.rows);

  panel->show(fake::inspected(fake::filters(1, 2)));
  QVERIFY2(panel->caption().contains(QStringLiteral("only this step has been seen")), qPrintable(panel->caption()));
  moveMouse(plotOf(*panel), plotOf(*panel)->axisRects().front()->rect().center());
}

QTEST_MAIN(FiltersPanelTest)
#include "filters_panel_test.moc"
