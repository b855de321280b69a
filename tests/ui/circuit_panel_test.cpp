// The circuit panel: the matrix as it came, the graph of its edges, triads that light up, and what the caption makes of
// them.

#include "ui/plots/circuit_panel.h"

#include <QSet>
#include <algorithm>
#include <cmath>

#include "panel_fixture.h"
#include "ui/plots/cell_map.h"
#include "ui/plots/circuit.h"
#include "ui/plots/circuit_graph.h"

using namespace mambarium;

namespace {

constexpr int motif_2 = 2;

template <typename Plottable>
Plottable* plottable(const Panel& panel) {
  for (int i = 0; i < plotOf(panel)->plottableCount(); ++i)
    if (auto* found = dynamic_cast<Plottable*>(plotOf(panel)->plottable(i))) return found;
  return nullptr;
}

QCPAxisRect* rectTitled(const Panel& panel, const QString& part) {
  for (QCPAxisRect* rect : plotOf(panel)->axisRects())
    if (rect->axis(QCPAxis::atBottom)->label().contains(part)) return rect;
  return nullptr;
}

QPointF pixelOfTriad(const Panel& panel, int motif) {
  const QCPAxisRect* rect = rectTitled(panel, QStringLiteral("Share of"));
  return {double(rect->center().x()), rect->axis(QCPAxis::atLeft)->coordToPixel(motif - 1)};
}

void clickTriad(const Panel& panel, int motif) {
  QTest::mouseClick(plotOf(panel), Qt::LeftButton, {}, pixelOfTriad(panel, motif).toPoint());
}

std::vector<std::pair<std::size_t, std::size_t>> brightEdges(const CircuitGraph& graph) {
  std::vector<std::pair<std::size_t, std::size_t>> bright;
  for (const CircuitGraph::Edge& edge : graph.edges())
    if (edge.color.alpha() == 255) bright.emplace_back(edge.from, edge.to);
  return bright;
}

// Where there is room for the graph too.
std::unique_ptr<Panel> widePanel(const PanelData& data) {
  auto panel = shownPanel(QStringLiteral("circuit"), data);
  panel->resize(820, 460);
  QTest::qWait(60);
  return panel;
}

CircuitData threeNodes(float there, float back) {
  return fake::circuitOf(3, {0.5F, there, 0, back, 0.5F, 0, 0, -0.02F, 0.5F});
}

}  // namespace

class CircuitPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void tabulatesWhatCame();
  void edgesAreEntriesAboveTheThreshold();
  void mutualEdgesAreOneLineWithTwoHeads();
  void causalEdgesRunTheOtherWay();
  void sendersStandLeftAndReceiversRight();
  void everyNodeHasAPlaceOfItsOwn_data();
  void everyNodeHasAPlaceOfItsOwn();
  void triadsAreNamedAndNumbered();
  void barsAreTheShares();
  void clicksStepThroughInstances();
  void keysDoWhatClicksDo();
  void escapeOfNothingIsLeftToTheWindow();
  void recipesKeepWhatIsLit();
  void captionSaysWhatIsThere();
  void growthIsAWarning();
  void captionWithoutAMotif();
  void noEdgesIsSaid();
  void smallAndBrokenMatrices_data();
  void smallAndBrokenMatrices();
  void aNarrowPanelDropsTheGraphFirst();
  void aHighPanelHasTheGraphBelow();
  void nodesDoNotOverlap();
  void aHighPanelShowsTheTraining();
  void layerAndChannelAreAskedFor();
  void hoverReadsEverything();
};

void CircuitPanelTest::tabulatesWhatCame() {
  const CircuitData answer = fake::circuit();
  const auto panel = shownPanel(QStringLiteral("circuit"), fake::circuitRun(answer));
  std::size_t cells = 0, soft = 0, hard = 0, picard = 0;
  for (const QStringList& row : panel->table().rows) {
    if (row[0] == u"coupling") {
      QCOMPARE(row[1].toInt() * 16 + row[2].toInt(), static_cast<int>(cells / 16 * 16 + 16 + cells % 16 + 1));
      QCOMPARE(row[4].toFloat(), answer.coupling.data[cells++]);
    }
    if (row[0] == u"soft_share") QCOMPARE(row[4].toDouble(), answer.soft[soft++]);
    if (row[0] == u"hard_share") QCOMPARE(row[4].toDouble(), answer.hard[hard++]);
    if (row[0] == u"picard_error") QCOMPARE(row[4].toDouble(), answer.picard[picard++]);
    if (row[0] == u"r_squared") QCOMPARE(row[4].toDouble(), answer.r_squared);
  }
  QCOMPARE(cells, std::size_t{256});
  QCOMPARE(soft, triad_count);
  QCOMPARE(hard, triad_count);
  QCOMPARE(picard, std::size_t{3});
}

void CircuitPanelTest::edgesAreEntriesAboveTheThreshold() {
  const CircuitData answer = fake::circuit();
  const Circuit circuit(answer);
  std::size_t count = 0;
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 16; ++j) {
      const auto entry = static_cast<double>(answer.coupling.data[i * 16 + j]);
      const bool is_edge = i != j && std::abs(entry) > std::sqrt(answer.theta);
      QCOMPARE(circuit.hasEdge(i, j), is_edge);
      count += is_edge;
    }
  QCOMPARE(circuit.edgeCount(), count);
  QCOMPARE(count, std::size_t{9 * 4});
  QCOMPARE(circuit.instanceCount(1), std::int64_t{36 * 4});
  QVERIFY(std::ranges::is_sorted(circuit.edges(), {}, [](const Circuit::Edge& edge) { return std::abs(edge.weight); }));
}

void CircuitPanelTest::mutualEdgesAreOneLineWithTwoHeads() {
  const Circuit circuit(threeNodes(0.01F, -0.03F));
  QCOMPARE(circuit.edgeCount(), std::size_t{3});
  QCOMPARE(circuit.edges().size(), std::size_t{2});
  const Circuit::Edge& mutual = circuit.edges().back();
  QVERIFY(mutual.mutual);
  QCOMPARE(mutual.weight, static_cast<double>(-0.03F));
  const auto panel = widePanel(fake::inspected(threeNodes(0.01F, -0.03F)));
  const auto& drawn = plottable<CircuitGraph>(*panel)->edges();
  QCOMPARE(drawn.size(), std::size_t{2});
  QCOMPARE(std::ranges::count(drawn, true, &CircuitGraph::Edge::both), 1);
}

void CircuitPanelTest::causalEdgesRunTheOtherWay() {
  CircuitData answer = threeNodes(0.03F, 0);
  QVERIFY(Circuit(answer).hasEdge(0, 1) && !Circuit(answer).hasEdge(1, 0));
  answer.causal = true;
  QVERIFY(!Circuit(answer).hasEdge(0, 1) && Circuit(answer).hasEdge(1, 0));
  QCOMPARE(Circuit(answer).edges().back().weight, static_cast<double>(0.03F));
  const auto panel = shownPanel(QStringLiteral("circuit"), fake::inspected(answer));
  QVERIFY(rectTitled(*panel, QStringLiteral("From state j")));
  // Transposed and causal, the circuit is the same one.
  const Circuit index(fake::circuit(false)), causal(fake::circuit(true));
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 16; ++j) QCOMPARE(index.hasEdge(i, j), causal.hasEdge(i, j));
}

void CircuitPanelTest::sendersStandLeftAndReceiversRight() {
  const Circuit circuit(fake::circuit());
  const auto places = circuit.layout();
  for (std::size_t node = 0; node < 16; ++node) {
    if (circuit.outDegree(node) > 0) QVERIFY(places[node].x < -0.3);
    if (circuit.inDegree(node) > 0) QVERIFY(places[node].x > 0.3);
  }
  // A cycle has neither: its nodes stand around the circle.
  std::vector<float> cycle(25);
  for (std::size_t i = 0; i < 5; ++i) cycle[i * 5 + (i + 1) % 5] = 0.1F;
  for (const Circuit::Place& place : Circuit(fake::circuitOf(5, cycle)).layout())
    QVERIFY(std::abs(std::hypot(place.x, place.y) - 1) < 1e-12);
}

void CircuitPanelTest::everyNodeHasAPlaceOfItsOwn_data() {
  QTest::addColumn<int>("states");
  QTest::addColumn<double>("density");
  for (const int states : {1, 2, 3, 8, 16, 33})
    for (const double density : {0.0, 0.1, 0.5, 1.0}) QTest::addRow("%d %g", states, density) << states << density;
}

void CircuitPanelTest::everyNodeHasAPlaceOfItsOwn() {
  QFETCH(int, states);
  QFETCH(double, density);
  std::vector<float> coupling;
  for (int entry = 0; entry < states * states; ++entry)
    coupling.push_back(std::fmod(entry * 0.6180339887, 1.0) < density ? 0.1F : 0.0F);
  const auto places = Circuit(fake::circuitOf(states, coupling)).layout();
  QCOMPARE(places.size(), static_cast<std::size_t>(states));
  for (std::size_t i = 0; i < places.size(); ++i) {
    QVERIFY(std::hypot(places[i].x, places[i].y) < 1.2);
    for (std::size_t j = 0; j < i; ++j)
      QVERIFY(std::hypot(places[i].x - places[j].x, places[i].y - places[j].y) > 0.02);
  }
}

void CircuitPanelTest::triadsAreNamedAndNumbered() {
  const auto panel = shownPanel(QStringLiteral("circuit"), fake::circuitRun(fake::circuit()));
  const QCPAxis* names = rectTitled(*panel, QStringLiteral("Share of triples"))->axis(QCPAxis::atLeft);
  const auto labels = names->tickVectorLabels();
  QCOMPARE(labels.size(), 13);
  QCOMPARE(labels[0], QStringLiteral("021D 1"));
  QCOMPARE(labels[1], QStringLiteral("021U 2"));
  QCOMPARE(labels[12], QStringLiteral("300 13"));
}

void CircuitPanelTest::barsAreTheShares() {
  const CircuitData answer = fake::circuit();
  const auto panel = shownPanel(QStringLiteral("circuit"), fake::circuitRun(answer));
  std::vector<QCPBars*> bars;
  for (int i = 0; i < plotOf(*panel)->plottableCount(); ++i)
    if (auto* found = dynamic_cast<QCPBars*>(plotOf(*panel)->plottable(i))) bars.push_back(found);
  QCOMPARE(bars.size(), std::size_t{2});
  for (int triad = 0; triad < 13; ++triad) {
    QCOMPARE(bars[0]->data()->at(triad)->value, 100 * answer.soft[static_cast<std::size_t>(triad)]);
    QCOMPARE(bars[1]->data()->at(triad)->value, 100 * answer.hard[static_cast<std::size_t>(triad)]);
  }
  const auto graphs = visibleGraphs(*panel);
  QCOMPARE(graphs.size(), std::size_t{1});  // the target: of 021U alone
  QCOMPARE(graphs[0]->data()->size(), 1);
  QCOMPARE(graphs[0]->data()->at(0)->key, 1.0);
  QCOMPARE(graphs[0]->data()->at(0)->value, 25.0);
  QVERIFY(legendTexts(*panel).contains(QStringLiteral("asked for")));
}

void CircuitPanelTest::clicksStepThroughInstances() {
  const CircuitData answer = fake::circuit();
  const auto panel = widePanel(fake::circuitRun(answer));
  const Circuit circuit(answer);
  auto* graph = plottable<CircuitGraph>(*panel);
  QSignalSpy changes(panel.get(), &Panel::optionsChanged);
  clickTriad(*panel, motif_2);
  QCOMPARE(panel->options()["triad"].get<int>(), motif_2);
  QCOMPARE(brightEdges(*graph).size(), std::size_t{36});  // every edge is in some 021U
  const auto instances = circuit.instances(motif_2 - 1, CircuitPanel::most_instances);
  QCOMPARE(instances.size(), std::size_t{144});
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    clickTriad(*panel, motif_2);
    const auto [a, b, c] = instances[which];
    const auto bright = brightEdges(*graph);
    QCOMPARE(bright.size(), std::size_t{2});
    for (const auto& [from, to] : bright) QVERIFY((from == a || from == b) && to == c);
  }
  QCOMPARE(changes.size(), 3);
  panel->setOptions({{"instance", 144}});
  clickTriad(*panel, motif_2);  // after the last one, all again
  QCOMPARE(brightEdges(*graph).size(), std::size_t{36});
  clickTriad(*panel, 13);
  QCOMPARE(panel->options()["triad"].get<int>(), 13);
  QVERIFY(brightEdges(*graph).empty());
  QTest::keyClick(panel.get(), Qt::Key_Escape);
  QCOMPARE(panel->options()["triad"].get<int>(), 0);
}

void CircuitPanelTest::keysDoWhatClicksDo() {
  const auto panel = widePanel(fake::circuitRun(fake::circuit()));
  QApplication::setActiveWindow(panel.get());
  panel->setFocus();
  QTRY_VERIFY(panel->hasFocus());
  QTest::keyClick(panel.get(), Qt::Key_Up);  // stays at the first
  QTest::keyClick(panel.get(), Qt::Key_Down);
  QCOMPARE(panel->options()["triad"].get<int>(), 0);
  QTest::keyClick(panel.get(), Qt::Key_Return);
  QCOMPARE(panel->options()["triad"].get<int>(), motif_2);
  QCOMPARE(panel->options()["instance"].get<int>(), 0);
  QTest::keyClick(panel.get(), Qt::Key_Enter);
  QCOMPARE(panel->options()["instance"].get<int>(), 1);
  QTest::keyClick(panel.get(), Qt::Key_Down);
  QTest::keyClick(panel.get(), Qt::Key_Return);
  QCOMPARE(panel->options()["triad"].get<int>(), 3);
  QCOMPARE(panel->options()["instance"].get<int>(), 0);
  QTest::keyClick(panel.get(), Qt::Key_Escape);
  QCOMPARE(panel->options()["triad"].get<int>(), 0);
}

void CircuitPanelTest::escapeOfNothingIsLeftToTheWindow() {
  const auto panel = widePanel(fake::circuitRun(fake::circuit()));
  const auto taken = [&](int key) {
    QKeyEvent press(QEvent::KeyPress, key, Qt::NoModifier);
    QCoreApplication::sendEvent(panel.get(), &press);
    return press.isAccepted();
  };
  QVERIFY(!taken(Qt::Key_Escape));
  QVERIFY(!taken(Qt::Key_Space));
  QVERIFY(taken(Qt::Key_Return));
  QVERIFY(taken(Qt::Key_Escape));
  QVERIFY(!taken(Qt::Key_Escape));
}

void CircuitPanelTest::recipesKeepWhatIsLit() {
  const PanelData data = fake::circuitRun(fake::circuit());
  const auto panel = widePanel(data);
  clickTriad(*panel, motif_2);
  clickTriad(*panel, motif_2);
  const auto again = widePanel(panel_data_from_recipe(to_recipe_json(data)));
  again->setOptions(panel->options());
  QCOMPARE(brightEdges(*plottable<CircuitGraph>(*again)), brightEdges(*plottable<CircuitGraph>(*panel)));
  QCOMPARE(brightEdges(*plottable<CircuitGraph>(*again)).size(), std::size_t{2});
}

void CircuitPanelTest::captionSaysWhatIsThere() {
  const CircuitData answer = fake::circuit();
  const auto panel = shownPanel(QStringLiteral("circuit"), fake::circuitRun(answer));
  QCOMPARE(panel->caption(),
           QStringLiteral("Step 1,240, layer 1: Motif-2 (021U) is %1 % of the triples by soft edges and 25.7 % by hard "
                          "ones, asked for is 25.0 % (R² %2); ‖M‖₂ = 0.12 is within 0.63, so no token makes the state "
                          "grow by itself; a plain scan corrected 1 to 3 times is off by 2×10⁻⁵, 7×10⁻⁸, 3×10⁻¹⁰.")
               .arg(QString::number(100 * answer.soft[1], 'f', 1), QString::number(answer.r_squared, 'f', 3)));
}

void CircuitPanelTest::growthIsAWarning() {
  CircuitData answer = fake::circuit();
  answer.norm = 0.9;
  const auto panel = widePanel(fake::circuitRun(answer));
  QVERIFY2(panel->caption().contains(QStringLiteral("‖M‖₂ = 0.9 is above 0.63, so the state may grow")),
           qPrintable(panel->caption()));
  const QCPAxis* heading = rectTitled(*panel, QStringLiteral("To state j"))->axis(QCPAxis::atTop);
  QVERIFY(heading->label().endsWith(QStringLiteral("may grow")));
  QCOMPARE(heading->labelColor(), Theme().warning());
  answer.bound = std::nan("");
  panel->show(fake::circuitRun(answer));
  QVERIFY(!panel->caption().contains(QStringLiteral("‖M‖₂")));
  QCOMPARE(heading->labelColor(), Theme().text());
}

void CircuitPanelTest::captionWithoutAMotif() {
  CircuitData answer = fake::circuit();
  answer.target.clear();
  answer.loss = answer.r_squared = std::nan("");
  const auto panel = shownPanel(QStringLiteral("circuit"), fake::circuitRun(answer));
  QVERIFY2(panel->caption().contains(QStringLiteral("of the connected triads Motif-2 (021U) is ")),
           qPrintable(panel->caption()));
  QVERIFY(!legendTexts(*panel).contains(QStringLiteral("asked for")));
  QVERIFY(visibleGraphs(*panel).empty());
}

void CircuitPanelTest::noEdgesIsSaid() {
  const auto panel = widePanel(fake::inspected(fake::circuitOf(16, std::vector<float>(256, 0.001F))));
  QCOMPARE(plottable<CircuitGraph>(*panel)->message(), QStringLiteral("No entry of M is above 0.0071 yet."));
  QVERIFY2(panel->caption().contains(QStringLiteral("no entry of M is above 0.0071 yet")),
           qPrintable(panel->caption()));
  clickTriad(*panel, motif_2);
  QVERIFY(plottable<CircuitGraph>(*panel)->edges().empty());
  panel->show(fake::inspected(fake::circuit()));
  QVERIFY(plottable<CircuitGraph>(*panel)->message().isEmpty());
}

void CircuitPanelTest::smallAndBrokenMatrices_data() {
  QTest::addColumn<int>("states");
  QTest::addColumn<float>("entry");
  QTest::addColumn<int>("edges");
  QTest::newRow("one state") << 1 << 0.1F << 0;
  QTest::newRow("two states") << 2 << 0.1F << 2;
  QTest::newRow("three states") << 3 << 0.1F << 6;
  QTest::newRow("no numbers") << 4 << std::numeric_limits<float>::quiet_NaN() << 0;
  QTest::newRow("infinite") << 4 << std::numeric_limits<float>::infinity() << 0;
}

void CircuitPanelTest::smallAndBrokenMatrices() {
  QFETCH(int, states);
  QFETCH(float, entry);
  QFETCH(int, edges);
  const CircuitData answer =
      fake::circuitOf(states, std::vector<float>(static_cast<std::size_t>(states * states), entry));
  QCOMPARE(Circuit(answer).edgeCount(), static_cast<std::size_t>(edges));
  PanelData data = fake::inspected(answer);
  if (std::isinf(entry)) data.inspected = to_recipe_json(data)["inspected"];
  const auto panel = widePanel(data);
  QVERIFY2(panel->hasData(), qPrintable(panel->caption()));
  QVERIFY(panel->caption().endsWith(u'.'));
  if (states < 3) QVERIFY(panel->caption().contains(QStringLiteral("fewer than three states make no triads")));
  for (int motif = 1; motif <= 13; ++motif) clickTriad(*panel, motif);
  for (const QStringList& row : panel->table().rows) QCOMPARE(row.size(), panel->table().columns.size());
  moveMouse(plotOf(*panel), pixelOfTriad(*panel, 13));
}

void CircuitPanelTest::aNarrowPanelDropsTheGraphFirst() {
  const auto panel = widePanel(fake::circuitRun(fake::circuit()));
  const auto* graph = plottable<CircuitGraph>(*panel);
  const QCPAxisRect* matrix = rectTitled(*panel, QStringLiteral("To state j"));
  const QCPAxisRect* bars = rectTitled(*panel, QStringLiteral("Share of"));
  QVERIFY(graph->visible());
  QVERIFY(std::abs(matrix->width() - matrix->height()) <= 2);  // square cells
  panel->resize(360, 300);
  QTRY_VERIFY(!graph->visible());
  QTRY_VERIFY(matrix->width() >= 90 && bars->width() >= 90);
  QVERIFY(matrix->right() < bars->left());
  panel->resize(820, 460);
  QTRY_VERIFY(graph->visible() && graph->keyAxis()->axisRect()->width() >= 150);
}

void CircuitPanelTest::aHighPanelHasTheGraphBelow() {
  const auto panel = widePanel(fake::circuitRun(fake::circuit()));
  const QCPAxisRect* matrix = rectTitled(*panel, QStringLiteral("To state j"));
  const QCPAxisRect* bars = rectTitled(*panel, QStringLiteral("Share of"));
  const QCPAxisRect* graph = plottable<CircuitGraph>(*panel)->keyAxis()->axisRect();
  const auto isBeside = [&] { return graph->left() > matrix->right() && graph->right() < bars->left(); };
  const auto isBelow = [&] { return graph->top() > matrix->bottom() && graph->right() < bars->left(); };
  QVERIFY(isBeside());
  for (int times = 0; times < 2; ++times) {
    panel->resize(660, 760);
    QTRY_VERIFY(isBelow());
    QVERIFY(graph->height() >= 120 && graph->width() >= 200);
    QVERIFY(std::abs(matrix->width() - matrix->height()) <= 2);
    panel->resize(820, 460);
    QTRY_VERIFY(isBeside());
  }
}

void CircuitPanelTest::nodesDoNotOverlap() {
  std::vector<float> chain(16 * 16);  // of states that send and receive, but for its ends
  for (std::size_t i = 0; i + 1 < 16; ++i) chain[i * 16 + i + 1] = 0.1F;
  for (const CircuitData& answer : {fake::circuit(), fake::circuitOf(16, chain)}) {
    const auto panel = widePanel(fake::inspected(answer));
    const auto* graph = plottable<CircuitGraph>(*panel);
    for (std::size_t i = 0; i < 16; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const QPointF away = graph->pixelOf(i) - graph->pixelOf(j);
        QVERIFY(std::hypot(away.x(), away.y()) >= 2 * graph->radius());
      }
  }
}

void CircuitPanelTest::aHighPanelShowsTheTraining() {
  const PanelData data = fake::circuitRun(fake::circuit());
  const auto panel = widePanel(data);
  QCPAxisRect* training = rectTitled(*panel, QStringLiteral("Training step"));
  QVERIFY(training && training->visible() && training->height() >= 50);
  const auto graphs = visibleGraphs(*panel);
  const auto& line = *graphs.back()->data();
  QCOMPARE(line.size(), static_cast<int>(data.runs[0].rows.size()));
  for (int i = 0; i < line.size(); ++i)
    QCOMPARE(line.at(i)->value, data.runs[0].rows[static_cast<std::size_t>(i)].motif_r_squared);
  panel->resize(820, 240);
  QTRY_VERIFY(!training->visible());
  QTRY_COMPARE(visibleGraphs(*panel).size(), std::size_t{1});
  panel->resize(820, 460);
  PanelData without = data;
  for (MetricsRow& row : without.runs[0].rows) row.motif_r_squared = row.motif_loss = std::nan("");
  without.runs[0].folder = "elsewhere";
  panel->show(without);
  QTest::qWait(60);
  QVERIFY(!training->visible());
}

void CircuitPanelTest::layerAndChannelAreAskedFor() {
  PanelData data = fake::circuitRun(fake::circuit());
  data.runs[0].config.set("model.layers", std::int64_t{3});
  const auto panel = shownPanel(QStringLiteral("circuit"), data);
  auto* layer = named<QComboBox>(*panel, QStringLiteral("Layer"));
  auto* channel = named<QComboBox>(*panel, QStringLiteral("Channel"));
  QCOMPARE(layer->count(), 3);
  QCOMPARE(channel->count(), static_cast<int>(d_inner_of(data.runs[0].config)));
  for (QComboBox* box : {layer, channel}) {
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Down);
  }
  QCOMPARE(panel->wants()->what, std::string("circuit"));
  QCOMPARE(panel->wants()->layer, 1);
  QCOMPARE(panel->wants()->head, 1);
  panel->setOptions({{"layer", 40}, {"channel", 4000}});
  QCOMPARE(panel->wants()->layer, 2);
  QCOMPARE(panel->wants()->head, d_inner_of(data.runs[0].config) - 1);
  data.runs[0].config.set("model.coupling", std::string("none"));
  data.inspected.reset();
  panel->show(data);
  QVERIFY2(panel->caption().startsWith(QStringLiteral("The states of this model are not coupled")),
           qPrintable(panel->caption()));
}

void CircuitPanelTest::hoverReadsEverything() {
  const CircuitData answer = fake::circuit();
  const auto panel = widePanel(fake::circuitRun(answer));
  const auto* label = plotOf(*panel)->findChild<QLabel*>(QStringLiteral("hoverLabel"));
  const QCPAxisRect* matrix = rectTitled(*panel, QStringLiteral("To state j"));
  const auto overCell = [&](double row, double column) {
    moveMouse(plotOf(*panel), {matrix->axis(QCPAxis::atBottom)->coordToPixel(column),
                               matrix->axis(QCPAxis::atLeft)->coordToPixel(row)});
    return label->text();
  };
  QVERIFY2(overCell(0, 2).contains(QStringLiteral("edge from state 1 to state 3")), qPrintable(label->text()));
  QVERIFY(label->text().contains(QStringLiteral("M(1, 3) = ")));
  QVERIFY(overCell(0, 1).contains(QStringLiteral("no edge")));
  QVERIFY(overCell(3, 3).contains(QStringLiteral("counts in no triad")));
  auto* graph = plottable<CircuitGraph>(*panel);
  moveMouse(plotOf(*panel), graph->pixelOf(2));
  QVERIFY2(label->text().contains(QStringLiteral("sends to 0, receives from 9")), qPrintable(label->text()));
  moveMouse(plotOf(*panel), pixelOfTriad(*panel, motif_2));
  QVERIFY2(label->text().contains(QStringLiteral("Motif-2 (021U)")) &&
               label->text().contains(QStringLiteral("(144 triples)")) &&
               label->text().contains(QStringLiteral("asked for 25.0 %")),
           qPrintable(label->text()));
  const QCPAxisRect* training = rectTitled(*panel, QStringLiteral("Training step"));
  moveMouse(plotOf(*panel), training->center());
  QVERIFY2(label->text().contains(QStringLiteral("R² ")), qPrintable(label->text()));
}

QTEST_MAIN(CircuitPanelTest)
#include "circuit_panel_test.moc"
