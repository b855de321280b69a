// The inner products: every number of the answer, frames where the counting model has its numbers, refusals in words.

#include <cmath>

#include "panel_fixture.h"
#include "ui/plots/cell_map.h"

using namespace mambarium;

class InnerProductsPanelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void tabulatesWhatCame();
  void captionIsTheTwoMeans();
  void contextsOfHigherOrders();
  void aWindowOfOneTokenIsOneToken();
  void refusalsAreSentences();
  void hoverReadsACell();
};

void InnerProductsPanelTest::tabulatesWhatCame() {
  const InnerProductData answer = fake::innerProducts(2, 3);
  const auto panel = shownPanel(QStringLiteral("inner-products"), fake::inspected(answer));
  const auto rows = panel->table().rows;
  QCOMPARE(rows.size(), std::size_t{64});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string &v = answer.windows[i / 8], &u = answer.windows[i % 8];
    QCOMPARE(rows[i][0].toStdString(), v);
    QCOMPARE(rows[i][1].toStdString(), u);
    QCOMPARE(rows[i][2], v[1] == u[2] ? QStringLiteral("1") : QStringLiteral("0"));
    QCOMPARE(rows[i][3].toFloat(), answer.products.data[i]);
  }
}

void InnerProductsPanelTest::captionIsTheTwoMeans() {
  const InnerProductData answer = fake::innerProducts(2, 2);
  const auto panel = shownPanel(QStringLiteral("inner-products"), fake::inspected(answer));
  double same = 0, other = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    const bool agrees = answer.windows[i / 4][0] == answer.windows[i % 4][1];
    (agrees ? same : other) +=
        (agrees ? double{answer.products.data[i]} : std::abs(double{answer.products.data[i]})) / 8;
  }
  QCOMPARE(panel->caption(),
           QStringLiteral("Step 1,240: b(v)·c(u) is %1 on average where u asks for the context that v "
                          "stores, and ±%2 elsewhere; a model that counts has 0 there.")
               .arg(QString::number(same, 'f', 3), QString::number(other, 'f', 3)));
}

void InnerProductsPanelTest::contextsOfHigherOrders() {
  PanelData data = fake::inspected(fake::innerProducts(2, 3));
  data.runs[0].config.set("task.order", std::int64_t{2});
  const auto panel = shownPanel(QStringLiteral("inner-products"), data);
  for (const QStringList& row : panel->table().rows) QCOMPARE(row[2] == u"1", row[0].left(2) == row[1].right(2));
  data.runs[0].config.set("task.order", std::int64_t{3});
  panel->show(data);
  QVERIFY2(panel->caption().contains(QStringLiteral("too short")), qPrintable(panel->caption()));
}

void InnerProductsPanelTest::aWindowOfOneTokenIsOneToken() {
  const auto panel = shownPanel(QStringLiteral("inner-products"), fake::inspected(fake::innerProducts(12, 1)));
  QCOMPARE(panel->table().rows.back()[0], QStringLiteral("11"));
  for (const QStringList& row : panel->table().rows) QCOMPARE(row[2], QStringLiteral("0"));
  QVERIFY2(panel->caption().contains(QStringLiteral("too short")), qPrintable(panel->caption()));
}

void InnerProductsPanelTest::refusalsAreSentences() {
  PanelData data = fake::oneRun();
  data.runs[0].config.set("model.d_conv", std::int64_t{7});
  const auto panel = shownPanel(QStringLiteral("inner-products"), data);
  QVERIFY(!panel->wants());
  QVERIFY2(panel->caption().startsWith(QStringLiteral("There are too many windows")), qPrintable(panel->caption()));
  PanelData of_attention = data;
  of_attention.runs[0].config.set("model.kind", std::string("transformer"));
  panel->show(of_attention);
  QVERIFY2(panel->caption().startsWith(QStringLiteral("A transformer has no recurrent state")),
           qPrintable(panel->caption()));
  data.runs[0].config.set("model.d_conv", std::int64_t{6});
  panel->show(data);
  QCOMPARE(panel->wants()->what, std::string("inner_products"));
}

void InnerProductsPanelTest::hoverReadsACell() {
  const auto panel = shownPanel(QStringLiteral("inner-products"), fake::inspected(fake::innerProducts(2, 2)));
  QCPAxisRect* matrix = plotOf(*panel)->axisRects().front();
  const QPointF cell(matrix->axis(QCPAxis::atBottom)->coordToPixel(1), matrix->axis(QCPAxis::atLeft)->coordToPixel(2));
  moveMouse(plotOf(*panel), cell);
  const auto* label = plotOf(*panel)->findChild<QLabel*>(QStringLiteral("hoverLabel"));
  QVERIFY2(label->text().contains(QStringLiteral("b(10)·c(01)")), qPrintable(label->text()));
  QVERIFY(label->text().contains(QStringLiteral("the same context")));
}

QTEST_MAIN(InnerProductsPanelTest)
#include "inner_products_panel_test.moc"
