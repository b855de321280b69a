// FieldView: any vector field v(z), seen without owning it, so that streamlines and slow points are written once.
//
// What is behind it is called as bool field(z, v) or void field(z, v), z and v spans of dimension() numbers; false says
// that the field has no value at z, as outside a grid. It must outlive the view. A view may be used from the threads
// that its field may be. An affine field is seen as such too: what calls it a million times need not do so through a
// pointer.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

namespace mambarium {

struct AffineField;

class FieldView {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a field is passed where a view is asked for.
  template <class Field>
  requires requires(const Field& field) { field.dimension(); }
  FieldView(const Field& field) : FieldView(field, field.dimension()) {}

  template <class Field>
  FieldView(const Field& field, std::int64_t dimension)
      : field_(&field),
        dimension_(dimension),
        call_([](const void* at, std::span<const double> z, std::span<double> v) {
          const auto& called = *static_cast<const Field*>(at);
          if constexpr (std::is_void_v<decltype(called(z, v))>) {
            called(z, v);
            return true;
          } else {
            return static_cast<bool>(called(z, v));
          }
        }) {
    if constexpr (std::is_same_v<Field, AffineField>) affine_ = &field;
  }

  std::int64_t dimension() const { return dimension_; }
  bool operator()(std::span<const double> z, std::span<double> v) const { return call_(field_, z, v); }
  const AffineField* affine() const { return affine_; }  // nullptr for any other field

 private:
  const void* field_;
  std::int64_t dimension_;
  bool (*call_)(const void*, std::span<const double>, std::span<double>);
  const AffineField* affine_ = nullptr;
};

}  // namespace mambarium
