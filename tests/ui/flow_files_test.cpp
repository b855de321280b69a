// Flow fields as files: VTK's own readers find the same numbers.
#include "ui/scene/flow_files.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkIdList.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkXMLImageDataReader.h>
#include <vtkXMLPolyDataReader.h>

#include <QTemporaryDir>
#include <QtTest>

#include "flow_fake_data.h"

using namespace mambarium;
using namespace mambarium::fake;

class FlowFilesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void linesComeBackWithTheirNumbers() {
    FlowPicture picture = withSpiral(twoLines(3));
    picture.fixed_point = FlowFixedPoint{.position = {1, 3.5, 11.25}, .type = "saddle", .stable = false};
    const QString path = folder.filePath(QStringLiteral("lines.vtp"));
    QCOMPARE(writeFlowLines(picture, path).value_or(QString()), QString());
    vtkNew<vtkXMLPolyDataReader> reader;
    reader->SetFileName(path.toUtf8().constData());
    reader->Update();
    vtkPolyData& data = *reader->GetOutput();
    QCOMPARE(data.GetNumberOfPoints(), vtkIdType{1 + 2 * 21 + 40});
    QCOMPARE(data.GetNumberOfVerts(), vtkIdType{1});
    QCOMPARE(data.GetNumberOfLines(), vtkIdType{3});
    vtkDataArray& kind = *data.GetCellData()->GetArray("kind");
    vtkDataArray& index = *data.GetCellData()->GetArray("index");
    vtkDataArray& speed = *data.GetPointData()->GetArray("speed");
    vtkDataArray& token = *data.GetPointData()->GetArray("token");
    const double kinds[] = {0, 1, 1, 2}, indices[] = {0, 0, 1, 0};
    for (vtkIdType cell = 0; cell < 4; ++cell) {
      QCOMPARE(kind.GetTuple1(cell), kinds[cell]);
      QCOMPARE(index.GetTuple1(cell), indices[cell]);
    }
    const auto point = [&](vtkIdType id) {
      FlowPoint z{};
      data.GetPoint(id, z.data());
      return z;
    };
    QCOMPARE(point(0), picture.fixed_point->position);
    for (vtkIdType cell = 1; cell < 4; ++cell) {
      vtkNew<vtkIdList> ids;
      data.GetCellPoints(cell, ids);
      const auto& points = cell < 3 ? picture.lines[static_cast<std::size_t>(cell - 1)].points : spiral().points;
      QCOMPARE(ids->GetNumberOfIds(), static_cast<vtkIdType>(points.size()));
      for (vtkIdType i = 0; i < ids->GetNumberOfIds(); ++i) {
        const vtkIdType id = ids->GetId(i);
        QCOMPARE(point(id), points[static_cast<std::size_t>(i)]);
        if (cell < 3) {
          QCOMPARE(speed.GetTuple1(id), picture.lines[static_cast<std::size_t>(cell - 1)].speeds[0]);
          QCOMPARE(token.GetTuple1(id), -1.0);
        } else {
          QVERIFY(std::isnan(speed.GetTuple1(id)));
          QCOMPARE(token.GetTuple1(id), 5.0 + 2 * static_cast<double>(i));
        }
      }
    }
  }

  void aPlaneLiesInItsPlane() {
    const QString path = folder.filePath(QStringLiteral("plane.vtp"));
    QCOMPARE(writeFlowLines(twoLines(2), path).value_or(QString()), QString());
    vtkNew<vtkXMLPolyDataReader> reader;
    reader->SetFileName(path.toUtf8().constData());
    reader->Update();
    double bounds[6];
    reader->GetOutput()->GetBounds(bounds);
    QCOMPARE(bounds[4], 0.0);
    QCOMPARE(bounds[5], 0.0);
  }

  void aGridComesBackWithItsVectors_data() {
    QTest::addColumn<int>("dimension");
    QTest::newRow("plane") << 2;
    QTest::newRow("solid") << 3;
  }
  void aGridComesBackWithItsVectors() {
    QFETCH(int, dimension);
    const auto field = [](const FlowPoint& z) { return FlowPoint{z[1] - 0.3 * z[0], -z[0] * z[2], z[2] + z[0]}; };
    const std::array<int, 3> counts{5, 4, 3};
    const FlowGrid grid = sampledFlow(dimension, counts, {-1, 2, 10}, {3, 5, 13}, field);
    const QString path = folder.filePath(QStringLiteral("grid%1.vti").arg(dimension));
    QCOMPARE(writeFlowGrid(grid, path).value_or(QString()), QString());
    vtkNew<vtkXMLImageDataReader> reader;
    reader->SetFileName(path.toUtf8().constData());
    reader->Update();
    vtkImageData& image = *reader->GetOutput();
    QCOMPARE(image.GetNumberOfPoints(), vtkIdType{dimension == 2 ? 20 : 60});
    vtkDataArray& v = *image.GetPointData()->GetArray("v");
    vtkDataArray& speed = *image.GetPointData()->GetArray("speed");
    for (vtkIdType node = 0; node < image.GetNumberOfPoints(); ++node) {
      FlowPoint z{}, read{};
      image.GetPoint(node, z.data());
      v.GetTuple(node, read.data());
      FlowPoint expected = field(z);
      if (dimension == 2) expected[2] = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) QVERIFY(std::abs(read[axis] - expected[axis]) < 1e-13);
      QVERIFY(std::abs(speed.GetTuple1(node) - std::hypot(read[0], read[1], read[2])) < 1e-13);
    }
    double last[3];
    image.GetPoint(image.GetNumberOfPoints() - 1, last);
    QCOMPARE(last[0], 3.0);
    QCOMPARE(last[1], 5.0);
  }

  void whatCannotBeWrittenIsSaidInOneSentence() {
    const QString path = folder.filePath(QStringLiteral("no/such/folder/file"));
    const FlowGrid grid = sampledFlow(2, {2, 2, 1}, {0, 0, 0}, {1, 1, 1}, [](const FlowPoint& z) { return z; });
    for (const auto& problem : {writeFlowLines(twoLines(2), path), writeFlowGrid(grid, path)}) {
      QVERIFY(problem);
      QVERIFY2(problem->contains(path) && problem->contains(QStringLiteral("cannot be written")), qPrintable(*problem));
      QCOMPARE(problem->count(QLatin1Char('\n')), 0);
    }
  }

  void aGridThatIsNoneIsRefused() {
    const auto field = [](const FlowPoint& z) { return z; };
    const auto sample = [&](const std::array<int, 3>& counts, const FlowPoint& upper) {
      return sampledFlow(2, counts, {0, 0, 0}, upper, field);
    };
    QVERIFY_EXCEPTION_THROWN(sample({1, 4, 4}, {1, 1, 1}), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(sample({4, 4, 4}, {1, 0, 1}), std::invalid_argument);
    FlowGrid grid = sample({4, 4, 4}, {1, 1, 1});
    grid.vectors.pop_back();
    QVERIFY_EXCEPTION_THROWN(writeFlowGrid(grid, folder.filePath(QStringLiteral("x.vti"))), std::invalid_argument);
  }

 private:
  QTemporaryDir folder;
};

QTEST_GUILESS_MAIN(FlowFilesTest)
#include "flow_files_test.moc"
