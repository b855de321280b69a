#include "ui/scene/flow_files.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkImageData.h>
#include <vtkIntArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkTypeInt64Array.h>
#include <vtkXMLImageDataWriter.h>
#include <vtkXMLPolyDataWriter.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "ui/figure/figure_renderer.h"

namespace mambarium {
namespace {

enum Kind { fixed_point, streamline, trajectory };

std::optional<QString> written(vtkXMLWriter& writer, const QString& path) {
  writer.WriteToOutputStringOn();
  writer.SetDataModeToAppended();
  writer.EncodeAppendedDataOff();
  if (!writer.Write()) return QStringLiteral("%1 cannot be written: VTK could not encode it.").arg(path);
  const std::string bytes = writer.GetOutputString();
  return writeFile(path, QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size())));
}

class LineFile {
 public:
  explicit LineFile(int dimension) : dimension_(dimension) {
    points_->SetDataTypeToDouble();
    speed_->SetName("speed");
    token_->SetName("token");
    kind_->SetName("kind");
    index_->SetName("index");
  }

  vtkIdType addPoint(FlowPoint z, double speed, std::int64_t token) {
    if (dimension_ == 2) z[2] = 0;
    speed_->InsertNextValue(speed);
    token_->InsertNextValue(token);
    return points_->InsertNextPoint(z.data());
  }
  void addVertex(vtkIdType point) {
    vertices_->InsertNextCell({point});
    addCell(fixed_point, 0);
  }
  // The `count` points that were added last.
  void addLine(std::size_t count, Kind kind, std::size_t index) {
    std::vector<vtkIdType> ids(count);
    std::iota(ids.begin(), ids.end(), points_->GetNumberOfPoints() - static_cast<vtkIdType>(count));
    lines_->InsertNextCell(static_cast<vtkIdType>(count), ids.data());
    addCell(kind, index);
  }

  std::optional<QString> write(const QString& path) {
    vtkNew<vtkPolyData> data;
    data->SetPoints(points_);
    data->SetVerts(vertices_);
    data->SetLines(lines_);
    data->GetPointData()->SetScalars(speed_);
    data->GetPointData()->AddArray(token_);
    data->GetCellData()->AddArray(kind_);
    data->GetCellData()->AddArray(index_);
    vtkNew<vtkXMLPolyDataWriter> writer;
    writer->SetInputData(data);
    return written(*writer, path);
  }

 private:
  void addCell(Kind kind, std::size_t index) {
    kind_->InsertNextValue(kind);
    index_->InsertNextValue(static_cast<int>(index));
  }

  int dimension_;
  vtkNew<vtkPoints> points_;
  vtkNew<vtkCellArray> vertices_, lines_;
  vtkNew<vtkDoubleArray> speed_;
  vtkNew<vtkTypeInt64Array> token_;
  vtkNew<vtkIntArray> kind_, index_;
};

std::size_t nodesOf(const FlowGrid& grid) {
  if (grid.dimension != 2 && grid.dimension != 3) {
    throw std::invalid_argument("flow grid: the dimension is " + std::to_string(grid.dimension) +
                                "; it must be 2 or 3");
  }
  std::size_t nodes = 1;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.dimension); ++axis) {
    const double extent = grid.upper[axis] - grid.lower[axis];
    if (grid.counts[axis] < 2 || !std::isfinite(extent) || extent <= 0) {
      throw std::invalid_argument("flow grid: axis " + std::to_string(axis + 1) +
                                  " needs 2 nodes at least and a lower end below its upper end");
    }
    nodes *= static_cast<std::size_t>(grid.counts[axis]);
  }
  return nodes;
}

double spacing(const FlowGrid& grid, std::size_t axis) {
  return (grid.upper[axis] - grid.lower[axis]) / (grid.counts[axis] - 1);
}

}  // namespace

std::optional<QString> writeFlowLines(const FlowPicture& picture, const QString& path) {
  validate(picture);
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  LineFile file(picture.dimension);
  // Cell arrays follow VTK's order of cells: vertices first.
  if (picture.fixed_point) file.addVertex(file.addPoint(picture.fixed_point->position, 0, -1));
  for (std::size_t index = 0; index < picture.lines.size(); ++index) {
    const FlowLine& line = picture.lines[index];
    if (line.points.size() < 2) continue;
    for (std::size_t i = 0; i < line.points.size(); ++i) file.addPoint(line.points[i], line.speeds[i], -1);
    file.addLine(line.points.size(), streamline, index);
  }
  for (std::size_t index = 0; index < picture.trajectories.size(); ++index) {
    const FlowTrajectory& line = picture.trajectories[index];
    if (line.points.size() < 2) continue;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      file.addPoint(line.points[i], none, line.tokens.empty() ? static_cast<std::int64_t>(i) : line.tokens[i]);
    }
    file.addLine(line.points.size(), trajectory, index);
  }
  return file.write(path);
}

FlowGrid sampledFlow(int dimension, const std::array<int, 3>& counts, const FlowPoint& lower, const FlowPoint& upper,
                     const std::function<FlowPoint(const FlowPoint&)>& field) {
  FlowGrid grid{.dimension = dimension, .counts = counts, .lower = lower, .upper = upper, .vectors = {}};
  grid.vectors.reserve(nodesOf(grid));
  const int layers = dimension == 3 ? counts[2] : 1;
  for (int k = 0; k < layers; ++k) {
    for (int j = 0; j < counts[1]; ++j) {
      for (int i = 0; i < counts[0]; ++i) {
        FlowPoint z{lower[0] + i * spacing(grid, 0), lower[1] + j * spacing(grid, 1), 0};
        if (dimension == 3) z[2] = lower[2] + k * spacing(grid, 2);
        grid.vectors.push_back(field(z));
      }
    }
  }
  return grid;
}

std::optional<QString> writeFlowGrid(const FlowGrid& grid, const QString& path) {
  const std::size_t nodes = nodesOf(grid);
  if (grid.vectors.size() != nodes) {
    throw std::invalid_argument("flow grid: " + std::to_string(grid.vectors.size()) + " vectors for " +
                                std::to_string(nodes) + " nodes; there must be one a node");
  }
  const bool solid = grid.dimension == 3;
  vtkNew<vtkImageData> image;
  image->SetDimensions(grid.counts[0], grid.counts[1], solid ? grid.counts[2] : 1);
  image->SetOrigin(grid.lower[0], grid.lower[1], solid ? grid.lower[2] : 0);
  image->SetSpacing(spacing(grid, 0), spacing(grid, 1), solid ? spacing(grid, 2) : 1);
  vtkNew<vtkDoubleArray> vectors, speeds;
  vectors->SetName("v");
  vectors->SetNumberOfComponents(3);
  vectors->SetNumberOfTuples(static_cast<vtkIdType>(nodes));
  speeds->SetName("speed");
  speeds->SetNumberOfTuples(static_cast<vtkIdType>(nodes));
  for (std::size_t node = 0; node < nodes; ++node) {
    FlowPoint v = grid.vectors[node];
    if (!solid) v[2] = 0;
    vectors->SetTypedTuple(static_cast<vtkIdType>(node), v.data());
    speeds->SetValue(static_cast<vtkIdType>(node), std::hypot(v[0], v[1], v[2]));
  }
  image->GetPointData()->SetScalars(speeds);
  image->GetPointData()->SetVectors(vectors);
  vtkNew<vtkXMLImageDataWriter> writer;
  writer->SetInputData(image);
  return written(*writer, path);
}

}  // namespace mambarium
