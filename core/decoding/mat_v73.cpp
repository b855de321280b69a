#include "core/decoding/mat_v73.h"

#include <hdf5.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "core/contract/text.h"

namespace mambarium {
namespace {

constexpr std::int64_t most_deflated = 1032;  // bytes that one byte of a deflated stream can become
constexpr std::int64_t most_numbers = std::int64_t{1} << 30;

// An HDF5 identifier and the function that gives it back.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  explicit operator bool() const { return id_ >= 0; }
  hid_t id() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// HDF5 prints what goes wrong to stderr unless told otherwise; here it becomes a sentence.
class QuietHdf5 {
 public:
  QuietHdf5() {
    H5Eget_auto2(H5E_DEFAULT, &report_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;
  ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, report_, data_); }

 private:
  H5E_auto2_t report_ = nullptr;
  void* data_ = nullptr;
};

bool has_link(hid_t group, const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && H5Lexists(group, name.c_str(), H5P_DEFAULT) > 0;
}

// The attribute MATLAB_class; "" where there is none.
std::string matlab_class(hid_t object) {
  if (H5Aexists(object, "MATLAB_class") <= 0) return "";
  const Handle attribute(H5Aopen(object, "MATLAB_class", H5P_DEFAULT), H5Aclose);
  if (!attribute) return "";
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (!type || !space || H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0 ||
      H5Sget_simple_extent_npoints(space.id()) != 1)
    return "";
  const std::size_t size = H5Tget_size(type.id());
  if (size == 0 || size > 256) return "";
  std::string name(size, '\0');
  if (H5Aread(attribute.id(), type.id(), name.data()) < 0) return "";
  const std::size_t end = name.find('\0');
  return end == std::string::npos ? name : name.substr(0, end);
}

class MatV73Struct final : public MatStruct {
 public:
  MatV73Struct(const std::filesystem::path& path, const std::string& variable)
      : name_(path.string() + ": " + variable),
        file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose),
        group_(open_group(path, variable)) {}

  std::optional<MatValue> read(const std::string& field) const override {
    const QuietHdf5 quiet;
    if (!has_link(group_.id(), field)) return std::nullopt;
    const std::string where = name_ + "." + field;
    const Handle object(H5Oopen(group_.id(), field.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object) throw std::invalid_argument(where + " is damaged");
    return value_of(object.id(), where, true);
  }

 private:
  Handle open_group(const std::filesystem::path& path, const std::string& variable) const {
    if (!file_) throw std::invalid_argument(path.string() + ": cannot be opened as HDF5; it is damaged or cut short");
    if (!has_link(file_.id(), variable))
      throw std::invalid_argument(path.string() + ": holds no variable " + in_quotes(variable));
    Handle group(H5Gopen2(file_.id(), variable.c_str(), H5P_DEFAULT), H5Gclose);
    // In an array of structs every field holds references; its own class is struct as well.
    if (!group || matlab_class(group.id()) != "struct") throw std::invalid_argument(name_ + " is no single struct");
    return group;
  }

  MatValue value_of(hid_t object, const std::string& where, bool with_cells) const {
    MatValue value;
    if (H5Iget_type(object) != H5I_DATASET) return value;
    const std::string type_name = matlab_class(object);
    const Handle type(H5Dget_type(object), H5Tclose);
    const Handle space(H5Dget_space(object), H5Sclose);
    const int rank = space ? H5Sget_simple_extent_ndims(space.id()) : -1;
    if (!type || rank < 0) throw std::invalid_argument(where + " is damaged");
    const H5T_class_t kind = H5Tget_class(type.id());
    const bool is_number = kind == H5T_INTEGER || kind == H5T_FLOAT;
    const bool is_class_of_numbers = type_name.starts_with("int") || type_name.starts_with("uint") ||
                                     type_name == "double" || type_name == "single" || type_name == "logical";
    // An empty array's dataset, of cells as well, holds its sizes instead, in one row of them.
    const bool is_empty = H5Aexists(object, "MATLAB_empty") > 0;
    const bool is_cell =
        type_name == "cell" && (is_empty || (kind == H5T_REFERENCE && H5Tequal(type.id(), H5T_STD_REF_OBJ) > 0));
    if ((rank != 2 && !is_empty) || (is_cell && !with_cells)) return value;
    if (is_cell) {
      value.kind = MatValue::Kind::cells;
    } else if (is_number && type_name == "char") {
      value.kind = MatValue::Kind::text;
    } else if (is_number && is_class_of_numbers) {
      value.kind = MatValue::Kind::numbers;
    } else {
      return value;
    }
    if (is_empty) return value;
    hsize_t sizes[2] = {0, 0};
    H5Sget_simple_extent_dims(space.id(), sizes, nullptr);
    const auto stored = static_cast<std::int64_t>(H5Dget_storage_size(object));
    const auto most =
        static_cast<hsize_t>(std::min(most_numbers, stored > most_numbers ? most_numbers : stored * most_deflated));
    if (sizes[0] > 0 && sizes[1] > most / sizes[0])
      throw std::invalid_argument(where + " claims " + std::to_string(sizes[1]) + " by " + std::to_string(sizes[0]) +
                                  " numbers, more than its file can hold");
    value.rows = static_cast<std::int64_t>(sizes[1]);
    value.columns = static_cast<std::int64_t>(sizes[0]);
    const auto count = static_cast<std::size_t>(sizes[0] * sizes[1]);
    if (count == 0) return value;
    if (is_cell) {
      read_cells(object, where, count, value);
    } else {
      value.numbers.resize(count);
      if (H5Dread(object, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.numbers.data()) < 0)
        throw std::invalid_argument(where + " is damaged or cut short");
    }
    return value;
  }

  void read_cells(hid_t object, const std::string& where, std::size_t count, MatValue& value) const {
    std::vector<hobj_ref_t> references(count);
    if (H5Dread(object, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references.data()) < 0)
      throw std::invalid_argument(where + " is damaged or cut short");
    for (const hobj_ref_t& reference : references) {
      const Handle cell(H5Rdereference2(object, H5P_DEFAULT, H5R_OBJECT, &reference), H5Oclose);
      if (!cell) throw std::invalid_argument(where + " is damaged: a cell refers to nothing");
      value.cells.push_back(value_of(cell.id(), where, false));
    }
  }

  std::string name_;
  Handle file_;
  Handle group_;
};

}  // namespace

std::unique_ptr<MatStruct> open_mat_v73(const std::filesystem::path& path, const std::string& variable) {
  const QuietHdf5 quiet;
  return std::make_unique<MatV73Struct>(path, variable);
}

}  // namespace mambarium
