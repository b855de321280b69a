// What is written beside a fixed point: numbers a person can read, on lines of their own, inside the picture.
#include "ui/scene/fixed_point_label.h"

#include <QFontMetricsF>
#include <QtTest>

using namespace mambarium;

namespace {

using Eigenvalues = std::vector<std::complex<double>>;

}  // namespace

class FixedPointLabelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }

  void eigenvaluesAreShortNumbers() {
    QCOMPARE(eigenvalueText(Eigenvalues{-0.4213, -3.06}), QStringLiteral("λ = −0.42, −3.1"));
    QCOMPARE(eigenvalueText(Eigenvalues{{-0.307, 2.22}, {-0.307, -2.22}}), QStringLiteral("λ = −0.31 ± 2.2i"));
    QCOMPARE(eigenvalueText(Eigenvalues{1.5, {-0.2, 1}, {-0.2, -1}}), QStringLiteral("λ = 1.5, −0.20 ± 1.0i"));
    QCOMPARE(eigenvalueText(Eigenvalues{-1, -2, -3}), QStringLiteral("λ = −1.0, −2.0, −3.0"));
    QCOMPARE(eigenvalueText(Eigenvalues{-1, -2, -3, -4}), QStringLiteral("λ = −1.0, −2.0, −3.0, −4.0"));
    QCOMPARE(eigenvalueText(Eigenvalues{-6, -0.996, 99.6, 0}), QStringLiteral("λ = −6.0, −1.0, 1.0e+02, 0"));
    QCOMPARE(eigenvalueText(Eigenvalues{-1, -2, -3, -4, -5}), QStringLiteral("λ = −1.0, −2.0, −3.0, −4.0, …"));
    QCOMPARE(eigenvalueText(Eigenvalues{-0.00001234}), QStringLiteral("λ = −1.2e−05"));
    QCOMPARE(eigenvalueText(Eigenvalues{}), QString());
  }

  // A centre's real part and a double eigenvalue's imaginary part are what rounding left.
  void whatRoundingLeftIsNotShown() {
    QCOMPARE(eigenvalueText(Eigenvalues{{-3e-17, 2}, {-3e-17, -2}}), QStringLiteral("λ = 0 ± 2.0i"));
    QCOMPARE(eigenvalueText(Eigenvalues{{-2, 1e-9}, {-2, -1e-9}}), QStringLiteral("λ = −2.0, −2.0"));
  }

  void linesDoNotCollideAndStayInThePicture_data() {
    QTest::addColumn<double>("zoom");
    QTest::newRow("100 %") << 1.0;
    QTest::newRow("150 %") << 1.5;
    QTest::newRow("200 %") << 2.0;
  }
  void linesDoNotCollideAndStayInThePicture() {
    QFETCH(double, zoom);
    const Theme theme = Theme::screen(Appearance::light, zoom);
    QImage image(1200, 800, QImage::Format_RGB32);
    const QRectF room(0, 0, 1100, 800);
    const double radius = theme.px(6);
    const QString numbers = QStringLiteral("λ = −0.31 ± 2.2i, −3.1");
    for (const QString& type :
         {QStringLiteral("stable focus"), QStringLiteral("saddle with rotation, 2 stable directions and 1 unstable")}) {
      const double type_width = QFontMetricsF(theme.font(), &image).horizontalAdvance(type);
      const double number_width = QFontMetricsF(theme.smallFont(), &image).horizontalAdvance(numbers);
      for (const double x : {20.0, 550.0, 1085.0}) {
        for (const double y : {10.0, 400.0, 790.0}) {
          const FixedPointLabel label(type, numbers, {x, y}, radius, room, theme, &image);
          QVERIFY(!label.typeRect().intersects(label.eigenvalueRect()));
          QVERIFY(label.typeRect().bottom() <= label.eigenvalueRect().top());
          QVERIFY(label.typeRect().width() >= type_width && label.eigenvalueRect().width() >= number_width);
          QVERIFY(label.typeRect().height() >= QFontMetricsF(theme.font(), &image).height());
          QVERIFY(label.ground().contains(label.typeRect()) && label.ground().contains(label.eigenvalueRect()));
          QVERIFY(room.contains(label.ground()));
          const QRectF mark(x - radius, y - radius, 2 * radius, 2 * radius);
          QVERIFY(!label.ground().intersects(mark) || label.ground().width() + radius > 550);
        }
      }
    }
  }

  void anEmptyTextTakesNoRoom() {
    const Theme theme;
    QImage image(400, 300, QImage::Format_RGB32);
    image.fill(Qt::red);
    const QImage before = image;
    const QRectF room(0, 0, 400, 300);
    const auto label = [&](const QString& type, const QString& numbers) {
      return FixedPointLabel(type, numbers, {100, 150}, 6, room, theme, &image);
    };
    const QString numbers = QStringLiteral("λ = −1");
    QVERIFY(label({}, {}).ground().isNull());
    QVERIFY(label(QStringLiteral("centre"), {}).ground().height() <
            label(QStringLiteral("centre"), numbers).ground().height());
    QPainter painter(&image);
    label({}, {}).paint(painter);
    QCOMPARE(image, before);
    label(QStringLiteral("centre"), numbers).paint(painter);
    QVERIFY(image != before);
  }
};

QTEST_MAIN(FixedPointLabelTest)
#include "fixed_point_label_test.moc"
