// Writes a MAT-file of version 7.3 as MATLAB does: a struct is a group, arrays lie transposed, a cell array holds
// references, and an empty array is a dataset that holds its sizes and says MATLAB_empty.
#pragma once

#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

class MatV73Writer {
 public:
  explicit MatV73Writer(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose),
        cells_(group("#refs#")),
        xds_(group("xds")) {
    attribute(xds_, "MATLAB_class", "struct");
  }

  MatV73Writer& numbers(const std::string& field, std::size_t rows, std::size_t columns,
                        const std::vector<double>& values) {
    write_numbers(xds_, field, {columns, rows}, values);
    return *this;
  }
  MatV73Writer& text(const std::string& field, const std::string& letters) {
    const std::vector<unsigned short> codes(letters.begin(), letters.end());
    const Id made = dataset(xds_, field, H5T_NATIVE_USHORT, {codes.size(), 1}, codes.data());
    attribute(made, "MATLAB_class", "char");
    return *this;
  }
  MatV73Writer& empty(const std::string& field, const std::string& matlab_class) {
    write_empty(xds_, field, matlab_class);
    return *this;
  }
  // A row of cells, each a column of numbers or empty.
  MatV73Writer& cells(const std::string& field, const std::vector<std::vector<double>>& columns) {
    std::vector<hobj_ref_t> references(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string name = field + std::to_string(c);
      if (columns[c].empty())
        write_empty(cells_, name, "double");
      else
        write_numbers(cells_, name, {1, columns[c].size()}, columns[c]);
      check(H5Rcreate(&references[c], cells_.id, name.c_str(), H5R_OBJECT, -1));
    }
    const Id made = dataset(xds_, field, H5T_STD_REF_OBJ, {columns.size(), 1}, references.data());
    attribute(made, "MATLAB_class", "cell");
    return *this;
  }

 private:
  struct Id {
    Id(hid_t made, herr_t (*close_it)(hid_t)) : id(made), close(close_it) { check(id < 0 ? -1 : 0); }
    Id(Id&& other) noexcept : id(std::exchange(other.id, -1)), close(other.close) {}
    Id& operator=(Id&&) = delete;
    ~Id() {
      if (id >= 0) close(id);
    }
    hid_t id;
    herr_t (*close)(hid_t);
  };
  static void check(herr_t answer) {
    if (answer < 0) throw std::runtime_error("HDF5 cannot write");
  }

  Id group(const char* name) const {
    return {H5Gcreate2(file_.id, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
  }
  static Id dataset(const Id& owner, const std::string& name, hid_t type, const std::vector<hsize_t>& sizes,
                    const void* values) {
    const Id space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
    Id made(H5Dcreate2(owner.id, name.c_str(), type, space.id, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    check(H5Dwrite(made.id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    return made;
  }
  static void attribute(const Id& owner, const char* name, const std::string& value) {
    const Id type(H5Tcopy(H5T_C_S1), H5Tclose);
    check(H5Tset_size(type.id, value.size()));
    write_attribute(owner, name, type.id, value.data());
  }
  static void write_attribute(const Id& owner, const char* name, hid_t type, const void* value) {
    const Id space(H5Screate(H5S_SCALAR), H5Sclose);
    const Id made(H5Acreate2(owner.id, name, type, space.id, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(H5Awrite(made.id, type, value));
  }
  static void write_numbers(const Id& owner, const std::string& name, const std::vector<hsize_t>& sizes,
                            const std::vector<double>& values) {
    const Id made = dataset(owner, name, H5T_NATIVE_DOUBLE, sizes, values.data());
    attribute(made, "MATLAB_class", "double");
  }
  static void write_empty(const Id& owner, const std::string& name, const std::string& matlab_class) {
    const unsigned long long sizes[2] = {0, 0};
    const Id made = dataset(owner, name, H5T_NATIVE_ULLONG, {2}, sizes);
    attribute(made, "MATLAB_class", matlab_class);
    const unsigned char yes = 1;
    write_attribute(made, "MATLAB_empty", H5T_NATIVE_UCHAR, &yes);
  }

  Id file_, cells_, xds_;
};
