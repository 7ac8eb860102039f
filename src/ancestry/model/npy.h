#ifndef TALLELE_ANCESTRY_MODEL_NPY_H_
#define TALLELE_ANCESTRY_MODEL_NPY_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tallele {

// The header of a `.npy` member: NumPy's kind letter and size, the shape, where the data begin.
struct NpyHeader {
  char type = 0;      // 'f', 'i', 'u', 'b', 'S', 'U', 'O'
  int item_size = 0;  // bytes; of 'U' 4 per character
  bool column_major = false;
  std::vector<int64_t> shape;
  size_t data_offset = 0;

  int64_t num_elements() const;
};

// Reads the header of `bytes` and checks that the data have the stated size (not for 'O', which
// is followed by a pickle). `where` names file and member.
Result<NpyHeader> ReadNpyHeader(std::string_view bytes, const std::string& where);

// A numeric array in row-major order; any float or integer type is converted.
struct DoubleArray {
  std::vector<int64_t> shape;
  std::vector<double> values;
};
Result<DoubleArray> ReadNpyDoubles(std::string_view bytes, const std::string& where);
// Entry `row` of the first dimension, which must exist; the array may not be column-major.
Result<DoubleArray> ReadNpyDoublesRow(std::string_view bytes, const std::string& where,
                                      int64_t row);

// One-dimensional fixed-width text ('S' or 'U'), padding removed.
Result<std::vector<std::string>> ReadNpyTexts(std::string_view bytes, const std::string& where);

// One-dimensional whole numbers.
Result<std::vector<int64_t>> ReadNpyIntegers(std::string_view bytes, const std::string& where);

// The header alone, for data that follow piece by piece; `type` as in NumPy's `descr`, "<f4".
std::string WriteNpyHeader(std::string_view type, std::span<const int64_t> shape);

// Whole `.npy` files, version 1.0, row-major, data aligned to 64.
std::string WriteNpy(std::span<const double> values, std::span<const int64_t> shape);
std::string WriteNpy(std::span<const float> values, std::span<const int64_t> shape);
std::string WriteNpy(std::span<const int64_t> values, std::span<const int64_t> shape);
std::string WriteNpy(std::span<const uint32_t> values, std::span<const int64_t> shape);
std::string WriteNpy(std::span<const uint16_t> values, std::span<const int64_t> shape);
std::string WriteNpyBytes(std::span<const std::string> texts);    // dtype 'S<w>'
std::string WriteNpyUnicode(std::span<const std::string> texts);  // dtype '<U<w>' from UTF-8

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_NPY_H_
