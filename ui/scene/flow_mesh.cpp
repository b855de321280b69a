#include "ui/scene/flow_mesh.h"

#include <vtkActor.h>
#include <vtkCellArray.h>
#include <vtkFloatArray.h>
#include <vtkIdTypeArray.h>
#include <vtkLookupTable.h>
#include <vtkNew.h>
#include <vtkPlane.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkPolyDataMapper.h>
#include <vtkProperty.h>
#include <vtkRenderer.h>
#include <vtkSmartPointer.h>
#include <vtkTubeFilter.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mambarium {
namespace {

constexpr int tube_sides = 8;

void fill(vtkIdTypeArray& array, const std::vector<std::int64_t>& values) {
  array.SetNumberOfValues(static_cast<vtkIdType>(values.size()));
  std::copy(values.begin(), values.end(), array.GetPointer(0));
  array.Modified();
}

void fill(vtkFloatArray& array, const std::vector<FlowPoint>& points) {
  array.SetNumberOfTuples(static_cast<vtkIdType>(points.size()));
  float* to = array.GetPointer(0);
  for (const FlowPoint& point : points) {
    to = std::transform(point.begin(), point.end(), to, [](double x) { return static_cast<float>(x); });
  }
  array.Modified();
}

bool coincide(const FlowPoint& a, const FlowPoint& b) {
  return std::abs(a[0] - b[0]) + std::abs(a[1] - b[1]) + std::abs(a[2] - b[2]) < 1e-6;
}

void setColorOf(vtkLookupTable& table, vtkIdType index, const QColor& color) {
  table.SetTableValue(index, color.redF(), color.greenF(), color.blueF());
}

}  // namespace

struct FlowMesh::Parts {
  vtkSmartPointer<vtkRenderer> renderer;
  vtkNew<vtkPolyData> data;
  vtkNew<vtkFloatArray> coordinates, normals, shades, radii;
  vtkNew<vtkPoints> points;
  vtkNew<vtkIdTypeArray> offsets, indices;
  vtkNew<vtkCellArray> cells;
  vtkNew<vtkLookupTable> scale;
  vtkNew<vtkTubeFilter> tubes;
  vtkNew<vtkPolyDataMapper> plain_mapper, tube_mapper;
  vtkNew<vtkActor> actor;
  FlowLook look;
  FlowGeometry drawn;
  std::optional<FlowHalfSpace> clip;
  std::vector<QColor> scale_colors;  // and the one of what is missing
  bool has_cells = false, visible = true;

  void show() { actor->SetVisibility(visible && has_cells); }

  // Whether anything changed.
  bool refill(FlowGeometry&& geometry) {
    if (geometry == drawn) return false;
    const bool same_cells = geometry.indices == drawn.indices && geometry.offsets == drawn.offsets;
    fill(*coordinates, geometry.points);
    fill(*normals, geometry.normals);
    data->GetPointData()->SetNormals(geometry.normals.empty() ? nullptr : normals.Get());
    points->Modified();
    shades->SetNumberOfValues(static_cast<vtkIdType>(geometry.shades.size()));
    std::copy(geometry.shades.begin(), geometry.shades.end(), shades->GetPointer(0));
    shades->Modified();
    data->GetPointData()->SetScalars(geometry.shades.empty() ? nullptr : shades.Get());
    if (!same_cells) {
      fill(*offsets, geometry.offsets);
      fill(*indices, geometry.indices);
      cells->SetData(offsets.Get(), indices.Get());
    }
    data->Modified();
    has_cells = geometry.cells() > 0;
    drawn = std::move(geometry);
    show();
    return true;
  }

  void draw(bool as_tubes, bool lit) {
    actor->SetMapper(as_tubes ? tube_mapper.Get() : plain_mapper.Get());
    vtkProperty& property = *actor->GetProperty();
    property.SetLighting(lit);
    property.SetAmbient(lit ? 0.5 : 1);
    property.SetDiffuse(lit ? 0.55 : 0);
    property.SetSpecular(lit ? 0.1 : 0);
    property.SetSpecularPower(20);
  }
};

FlowMesh::FlowMesh(vtkRenderer& renderer, const FlowLook& look) : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  p.renderer = &renderer;
  p.look = look;
  p.coordinates->SetNumberOfComponents(3);
  p.normals->SetNumberOfComponents(3);
  p.points->SetData(p.coordinates);
  p.data->SetPoints(p.points);
  p.tubes->SetInputData(p.data);
  p.tubes->SetNumberOfSides(tube_sides);
  p.tubes->CappingOn();
  p.plain_mapper->SetInputData(p.data);
  p.tube_mapper->SetInputConnection(p.tubes->GetOutputPort());
  p.scale->SetTableRange(0, 1);
  for (vtkPolyDataMapper* const mapper : {p.plain_mapper.Get(), p.tube_mapper.Get()}) {
    mapper->SetLookupTable(p.scale);
    mapper->UseLookupTableScalarRangeOn();
    mapper->SetColorModeToMapScalars();
  }
  vtkProperty& property = *p.actor->GetProperty();
  property.SetInterpolationToGouraud();
  property.SetOpacity(look.opacity);
  p.draw(false, look.lit);
  // VTK's translucent pass composes the whole picture in floating point, half a frame's time in software.
  p.actor->ForceOpaqueOn();
  p.actor->PickableOff();
  p.actor->VisibilityOff();
  renderer.AddActor(p.actor);
}

FlowMesh::~FlowMesh() {
  parts_->renderer->RemoveActor(parts_->actor);
}

void FlowMesh::setLines(FlowGeometry geometry) {
  if (parts_->refill(std::move(geometry))) parts_->data->SetLines(parts_->cells);
}

void FlowMesh::setFaces(FlowGeometry geometry) {
  if (parts_->refill(std::move(geometry))) parts_->data->SetPolys(parts_->cells);
}

void FlowMesh::setColor(const QColor& color) {
  parts_->actor->GetProperty()->SetColor(color.redF(), color.greenF(), color.blueF());
}

void FlowMesh::setScale(const std::vector<QColor>& colors, const QColor& missing) {
  std::vector<QColor> wanted = colors;
  wanted.push_back(missing);
  if (wanted == parts_->scale_colors) return;
  parts_->scale_colors = std::move(wanted);
  vtkLookupTable& scale = *parts_->scale;
  scale.SetNumberOfTableValues(static_cast<vtkIdType>(colors.size()));
  for (std::size_t index = 0; index < colors.size(); ++index) {
    setColorOf(scale, static_cast<vtkIdType>(index), colors[index]);
  }
  scale.SetNanColor(missing.redF(), missing.greenF(), missing.blueF(), 1);
  scale.Modified();
}

void FlowMesh::setLit(bool lit) {
  parts_->look.lit = lit;
  parts_->draw(false, lit);
}

void FlowMesh::setLineWidth(double pixels) {
  parts_->actor->GetProperty()->SetLineWidth(static_cast<float>(pixels));
}

void FlowMesh::setTubes(double radius, bool lit) {
  if (radius > 0) {
    parts_->tubes->SetVaryRadiusToVaryRadiusOff();
    parts_->tubes->SetRadius(radius);
  }
  parts_->draw(radius > 0, radius > 0 ? lit : parts_->look.lit);
}

void FlowMesh::setTubes(std::span<const float> radii) {
  Parts& p = *parts_;
  p.radii->SetNumberOfValues(static_cast<vtkIdType>(radii.size()));
  std::copy(radii.begin(), radii.end(), p.radii->GetPointer(0));
  p.radii->Modified();
  p.data->GetPointData()->SetScalars(p.radii);
  p.tubes->SetVaryRadiusToVaryRadiusByAbsoluteScalar();
  p.tube_mapper->ScalarVisibilityOff();
  p.draw(true, true);
}

void FlowMesh::setClip(const std::optional<FlowHalfSpace>& clip) {
  if (clip == parts_->clip) return;
  parts_->clip = clip;
  for (vtkPolyDataMapper* const mapper : {parts_->plain_mapper.Get(), parts_->tube_mapper.Get()}) {
    mapper->RemoveAllClippingPlanes();
    if (!clip) continue;
    vtkNew<vtkPlane> plane;
    plane->SetOrigin(clip->origin[0], clip->origin[1], clip->origin[2]);
    plane->SetNormal(clip->normal[0], clip->normal[1], clip->normal[2]);
    mapper->AddClippingPlane(plane);
  }
}

void FlowMesh::setVisible(bool visible) {
  parts_->visible = visible;
  parts_->show();
}

bool FlowMesh::isVisible() const {
  return parts_->visible && parts_->has_cells;
}

void FlowMesh::moveTo(const FlowPoint& position) {
  parts_->actor->SetPosition(position[0], position[1], position[2]);
}

void FlowGeometry::addCell(std::initializer_list<std::int64_t> corners) {
  indices.insert(indices.end(), corners);
  offsets.push_back(static_cast<std::int64_t>(indices.size()));
}

void FlowGeometry::addLine(std::span<const FlowPoint> line, std::span<const float> line_shades) {
  const std::size_t first = points.size();
  for (std::size_t index = 0; index < line.size(); ++index) {
    if (points.size() > first && coincide(points.back(), line[index])) continue;
    indices.push_back(static_cast<std::int64_t>(points.size()));
    points.push_back(line[index]);
    if (!line_shades.empty()) shades.push_back(line_shades[index]);
  }
  if (points.size() == first + 1) {
    indices.pop_back();
    points.pop_back();
    if (!line_shades.empty()) shades.pop_back();
  }
  if (points.size() > first) offsets.push_back(static_cast<std::int64_t>(indices.size()));
}

FlowGeometry ballGeometry(double radius) {
  constexpr int rings = 16, sectors = 28;
  FlowGeometry ball;
  for (int ring = 0; ring <= rings; ++ring) {
    const double polar = std::numbers::pi * ring / rings;
    for (int sector = 0; sector < sectors; ++sector) {
      const double angle = 2 * std::numbers::pi * sector / sectors;
      ball.addPoint({radius * std::sin(polar) * std::cos(angle), radius * std::sin(polar) * std::sin(angle),
                     radius * std::cos(polar)});
      const FlowPoint& point = ball.points.back();
      ball.normals.push_back({point[0] / radius, point[1] / radius, point[2] / radius});
    }
  }
  for (int ring = 0; ring < rings; ++ring) {
    for (int sector = 0; sector < sectors; ++sector) {
      const int next = (sector + 1) % sectors, from = ring * sectors, to = from + sectors;
      ball.addCell({from + sector, to + sector, to + next, from + next});
    }
  }
  return ball;
}

}  // namespace mambarium
