// What every panel does alike: empty states, names, frames, options, recipes, themes.

#include <cmath>
#include <map>

#include "panel_fixture.h"

using namespace mambarium;

class PanelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void emptyPanelsSayWhatWouldAppear_data() { panels(); }
  void emptyPanelsSayWhatWouldAppear();
  void everyControlHasAName_data() { panels(); }
  void everyControlHasAName();
  void nothingIsDrawnTwice_data() { panels(); }
  void nothingIsDrawnTwice();
  void framesLeaveNothingBehind_data() { panels(); }
  void framesLeaveNothingBehind();
  void malformedAnswersAreASentence_data() { panels(); }
  void malformedAnswersAreASentence();
  void badOptionsAreASentenceAndChangeNothing_data();
  void badOptionsAreASentenceAndChangeNothing();
  void optionsRoundTrip_data() { panels(); }
  void optionsRoundTrip();
  void recipeDataRoundTrip_data() { panels(); }
  void recipeDataRoundTrip();
  void themesReachThePlot_data() { panels(); }
  void themesReachThePlot();
  void whatAKindOfModelHasNotIsSaid();

 private:
  static void panels();
};

void PanelsTest::panels() {
  QTest::addColumn<QString>("id");
  for (const QString& id : panelIds()) QTest::newRow(qPrintable(id)) << id;
}

void PanelsTest::emptyPanelsSayWhatWouldAppear() {
  QFETCH(QString, id);
  const auto panel = shownPanel(id, {});
  QVERIFY(!panel->hasData());
  QVERIFY2(panel->caption().contains(QStringLiteral("Press Play (Space)")), qPrintable(panel->caption()));
  QVERIFY(!plotOf(*panel)->isVisible());
  QVERIFY(panel->table().rows.empty());
  panel->show(fake::panelData(id));
  QVERIFY(panel->hasData() && plotOf(*panel)->isVisible());
  const PanelTable table = panel->table();
  QVERIFY(!table.rows.empty());
  for (const QStringList& row : table.rows) QCOMPARE(row.size(), table.columns.size());
  QCOMPARE(panel->accessibleDescription(), panel->caption());
  QVERIFY(panel->caption().endsWith(u'.'));
  panel->show(PanelData{});
  QVERIFY(!panel->hasData() && !plotOf(*panel)->isVisible());
}

void PanelsTest::everyControlHasAName() {
  QFETCH(QString, id);
  const auto panel = shownPanel(id, fake::panelData(id));
  QVERIFY(!panel->accessibleName().isEmpty());
  QList<QWidget*> controls;
  for (auto* widget : panel->findChildren<QAbstractButton*>()) controls << widget;
  for (auto* widget : panel->findChildren<QComboBox*>()) controls << widget;
  for (auto* widget : panel->findChildren<QSlider*>()) controls << widget;
  QVERIFY(!controls.isEmpty());
  for (const QWidget* control : controls) {
    QVERIFY(!control->accessibleName().isEmpty());
    QVERIFY2(!control->toolTip().isEmpty(), qPrintable(control->accessibleName()));
    QVERIFY(control->focusPolicy() & Qt::TabFocus);
  }
}

void PanelsTest::nothingIsDrawnTwice() {
  QFETCH(QString, id);
  const PanelData data = fake::panelData(id);
  const auto panel = shownPanel(id, data);
  QSignalSpy replots(plotOf(*panel), &QCustomPlot::afterReplot);
  for (int frame = 0; frame < 10; ++frame) {
    panel->show(data);
    QCoreApplication::processEvents();
  }
  QCOMPARE(replots.size(), 0);
  PanelData more = data;
  more.runs[0].title += " again";
  panel->show(more);
  QTRY_COMPARE(replots.size(), 1);
}

void PanelsTest::framesLeaveNothingBehind() {
  QFETCH(QString, id);
  const auto panel = shownPanel(id, fake::panelData(id));
  const auto counts = [&] {
    const QCustomPlot* plot = plotOf(*panel);
    return std::vector<int>{plot->plottableCount(), plot->itemCount(), plot->axisRectCount(),
                            static_cast<int>(panel->findChildren<QObject*>().size())};
  };
  PanelData data = fake::panelData(id);
  const auto nudge = [&](int frame) {
    if (id == u"filters") data.inspected = nlohmann::json(fake::filters(1, 2 + frame % 2));
    if (id == u"decay") data.inspected = nlohmann::json(fake::decay(100 + frame % 2, 1, 1));
    if (id == u"prediction") data.inspected = nlohmann::json(fake::prediction(100 + frame % 2, 2));
    if (id == u"state") data.inspected = nlohmann::json(fake::state(100 + frame % 2, 2, 1));
    if (id == u"inner-products") data.inspected = nlohmann::json(fake::innerProducts(2, 2 + frame % 2));
    if (id == u"flow") data.inspected = nlohmann::json(fake::flow(6, 2 + frame % 2, 40));
    if (id == u"reconstruction") data.inspected = nlohmann::json(fake::reconstruction(40, 5 + frame % 2));
    if (id == u"circuit") data.inspected = nlohmann::json(fake::circuit(frame % 2 != 0));
    if (id == u"extrapolation") data.inspected = nlohmann::json(fake::extrapolation(300 + frame % 2));
    if (id == u"decoding") {
      const nlohmann::json directions = fake::decodedDirections(0.8), outputs = fake::decodedOutputs(0.8);
      data.inspected = frame % 2 ? outputs : directions;
    }
    data.runs[0] = fake::run("full", 0, 0.0007, 1000 + frame % 2);
    panel->show(data);
    QCoreApplication::processEvents();
  };
  nudge(0);
  nudge(1);
  const auto before = counts();
  for (int frame = 0; frame < 40; ++frame) nudge(frame);
  QCOMPARE(counts(), before);
}

void PanelsTest::malformedAnswersAreASentence() {
  QFETCH(QString, id);
  if (id == u"loss" || id == u"gap" || id == u"theory") return;
  const auto panel = shownPanel(id, fake::panelData(id));
  PanelData bad = fake::panelData(id);
  bad.inspected = nlohmann::json{{"step", 3}, {"tokens", "many"}, {"layers", 7}};
  panel->show(bad);
  QVERIFY(!panel->hasData());
  QVERIFY2(panel->caption().startsWith(id.left(5)) && panel->caption().contains(QStringLiteral(" data")),
           qPrintable(panel->caption()));
  QVERIFY(panel->table().rows.empty());
  panel->show(fake::panelData(id));
  QVERIFY(panel->hasData());
}

void PanelsTest::badOptionsAreASentenceAndChangeNothing_data() {
  QTest::addColumn<QString>("id");
  QTest::addColumn<QString>("options");
  QTest::newRow("loss") << "loss"
                        << R"({"smooth": true, "train": "yes"})";
  QTest::newRow("gap") << "gap"
                       << R"({"oracle": false, "log": 1})";
  QTest::newRow("symbol") << "prediction"
                          << R"({"probe": 2, "symbol": -1})";
  QTest::newRow("context") << "prediction"
                           << R"({"context": "a b"})";
  QTest::newRow("probe") << "decay"
                         << R"({"scale": "linear", "probe": 8})";
  QTest::newRow("scale") << "decay"
                         << R"({"probe": 1, "scale": "cubic"})";
  QTest::newRow("curves") << "loss"
                          << R"({"train": false, "curves": "all"})";
  QTest::newRow("minus") << "gap"
                         << R"({"log": false, "minus": 3})";
  QTest::newRow("position") << "prediction"
                            << R"({"symbol": 0, "position": 0})";
  QTest::newRow("maps") << "state"
                        << R"({"layer": 1, "view": "maps please"})";
  QTest::newRow("epsilon") << "theory"
                           << R"({"bits": 4, "epsilon": 0.5})";
  QTest::newRow("beta") << "theory"
                        << R"({"view": "construction", "beta": "one"})";
  QTest::newRow("triad") << "circuit"
                         << R"({"layer": 1, "triad": 14})";
  QTest::newRow("instance") << "circuit"
                            << R"({"triad": 2, "instance": -1})";
  QTest::newRow("directions") << "decoding"
                              << R"({"output": 1, "directions": "matrix"})";
  QTest::newRow("output") << "decoding"
                          << R"({"outputs": "r_squared", "output": -1})";
  QTest::newRow("view") << "filters"
                        << R"({"layer": 1, "view": "pie"})";
}

void PanelsTest::badOptionsAreASentenceAndChangeNothing() {
  QFETCH(QString, id);
  QFETCH(QString, options);
  const auto panel = shownPanel(id, fake::panelData(id));
  const nlohmann::json before = panel->options();
  try {
    panel->setOptions(nlohmann::json::parse(options.toStdString()));
    QFAIL("accepted");
  } catch (const std::invalid_argument& problem) {
    QVERIFY(QString::fromUtf8(problem.what()).contains(id));
  }
  QVERIFY(panel->options() == before);
  panel->setOptions({{"from the future", 1}});
  QVERIFY(panel->options() == before);
}

void PanelsTest::optionsRoundTrip() {
  QFETCH(QString, id);
  const std::map<QString, nlohmann::json> others = {
      {"loss", {{"train", false}, {"smooth", true}, {"curves", "means"}, {"minus", ""}}},
      {"gap", {{"log", false}, {"oracle", false}, {"curves", "runs"}, {"minus", "elsewhere"}}},
      {"prediction", {{"probe", 5}, {"view", "contexts"}, {"symbol", 0}, {"context", "1"}, {"position", 20}}},
      {"decay", {{"probe", 4}, {"view", "histogram"}, {"scale", "linear"}}},
      {"filters", {{"view", "training"}, {"layer", 0}}},
      {"state", {{"probe", 2}, {"view", "maps"}, {"layer", 1}, {"head", 3}}},
      {"inner-products", nlohmann::json::object()},
      {"flow",
       {{"probe", 3},
        {"view", "plane"},
        {"field", "empirical"},
        {"dimension", 2},
        {"principal", true},
        {"which", {2, 0, 1}},
        {"layer", 1},
        {"channel", 3},
        {"glyphs", true},
        {"hold", 4},
        {"lines", 60}}},
      {"reconstruction", {{"probe", 3}, {"layer", 1}, {"channel", 3}}},
      {"circuit", {{"layer", 1}, {"channel", 3}, {"triad", 2}, {"instance", 5}}},
      {"extrapolation", nlohmann::json::object()},
      {"decoding", {{"directions", "traces"}, {"outputs", "r_squared"}, {"output", 2}}},
      {"theory", {{"view", "bound"}, {"epsilon", 0.05}, {"bits", 8}, {"beta", 0.5}}}};
  const auto panel = shownPanel(id, fake::panelData(id));
  QVERIFY(panel->options() != others.at(id) || panel->options().empty());
  panel->setOptions(others.at(id));
  QVERIFY(panel->options() == others.at(id));
}

void PanelsTest::recipeDataRoundTrip() {
  QFETCH(QString, id);
  const PanelData data = fake::panelData(id);
  const std::string text = to_recipe_json(data).dump();
  const PanelData again = panel_data_from_recipe(nlohmann::json::parse(text));
  QCOMPARE(again.runs.size(), data.runs.size());
  for (std::size_t i = 0; i < data.runs.size(); ++i) {
    QVERIFY(again.runs[i].config == data.runs[i].config);
    QCOMPARE(again.runs[i].rows.size(), data.runs[i].rows.size());
    QVERIFY(std::isnan(again.runs[i].rows[0].train_loss));
    for (std::size_t row = 0; row < data.runs[i].rows.size(); ++row)
      QCOMPARE(again.runs[i].rows[row].gap_add_beta, data.runs[i].rows[row].gap_add_beta);
    QVERIFY(again.runs[i].train_losses == data.runs[i].train_losses);
  }
  QCOMPARE(to_recipe_json(again).dump(), text);
  QCOMPARE(again.inspected.has_value(), data.inspected.has_value());
}

void PanelsTest::themesReachThePlot() {
  QFETCH(QString, id);
  const auto panel = shownPanel(id, fake::panelData(id));
  for (const Appearance appearance : {Appearance::dark, Appearance::light}) {
    const Theme theme = Theme::screen(appearance);
    panel->setTheme(theme);
    QTest::qWait(30);
    const QImage image = plotOf(*panel)->grab().toImage();
    QCOMPARE(image.pixelColor(image.width() - 2, image.height() - 2), theme.panel());
    QCOMPARE(mainRect(plotOf(*panel))->axis(QCPAxis::atBottom)->labelColor(), theme.text());
  }
}

void PanelsTest::whatAKindOfModelHasNotIsSaid() {
  PanelData data = fake::oneRun();
  data.runs[0].config.set("model.kind", std::string("transformer"));
  QCOMPARE(shownPanel(QStringLiteral("decay"), data)->caption(),
           QStringLiteral("A transformer has no decay factors: attention reads every token so far and forgets none."));
  QCOMPARE(shownPanel(QStringLiteral("filters"), data)->caption(), QStringLiteral("This model has no convolution."));

  FilterData of_attention = fake::filters(1, 2);
  of_attention.layers[0].resize(1);
  of_attention.layers[0][0].name = std::string("K");
  of_attention.layers[0][0].bias = {{0}, {}};
  data.runs[0].config.set("model.conv_qkv", std::string("K"));
  data.inspected = of_attention;
  const auto filters = shownPanel(QStringLiteral("filters"), data);
  QVERIFY(filters->hasData());
  QCOMPARE(filters->table().rows.size(), std::size_t{16 * 2});
  QCOMPARE(filters->table().rows[0][1], QStringLiteral("K"));

  data = fake::oneRun();
  data.runs[0].config.set("model.kind", std::string("ngram"));
  for (const char* id : {"decay", "filters", "state", "inner-products"}) {
    const auto panel = shownPanel(QLatin1String(id), data);
    QVERIFY(!panel->hasData());
    QVERIFY2(panel->caption().startsWith(QStringLiteral("An n-gram estimator has no ")), id);
  }
}

QTEST_MAIN(PanelsTest)
#include "panels_test.moc"
