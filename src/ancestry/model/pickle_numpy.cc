// NumPy arrays and scalars inside pickles.
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "ancestry/model/pickle.h"
#include "base/parse_number.h"

namespace tallele {
namespace {

using Kind = PickleValue::Kind;

struct Dtype {
  char type = 0;
  int item_size = 0;
};

Error Broken(const std::string& where, std::string what, std::string found = {}) {
  Error error = InputError(std::move(what), where);
  error.found = std::move(found);
  return error;
}

// Texts like "i8", "f4", "S12", "O8". For 'S' and 'U' the size may also stand in the state.
std::optional<Dtype> ParseDtypeName(std::string_view name) {
  if (name.size() < 2) return std::nullopt;
  const auto size = ParseInteger(name.substr(1));
  if (!size || *size < 0 || *size > 1 << 20) return std::nullopt;
  Dtype dtype{name[0], static_cast<int>(*size)};
  if (dtype.type == 'U') dtype.item_size *= 4;
  return dtype;
}

// numpy.dtype(name, align, copy) with the state (version, order, subtype, names, fields, item
// size, alignment, flags ...).
Result<Dtype> ReadDtype(const PickleValue& value, const std::string& where) {
  if (!value.IsObject(PickleGlobal::kNumpyDtype) || value.items().empty() ||
      !value.items()[0]->Is(Kind::kText)) {
    return Broken(where, "an array has no data type");
  }
  const std::string_view name = value.items()[0]->text;
  auto dtype = ParseDtypeName(name);
  if (!dtype || std::string_view("iufbSUO").find(dtype->type) == std::string_view::npos) {
    return Broken(where, "an array has a data type that is not supported", std::string(name));
  }
  if (value.state() == nullptr) return *dtype;
  const auto& state = value.state()->items();
  if (!value.state()->Is(Kind::kTuple) || state.size() < 7 || !state[1]->Is(Kind::kText) ||
      !state[5]->Is(Kind::kInteger)) {
    return Broken(where, "an array has a data type of unknown form");
  }
  if (state[1]->text == ">") {
    return Broken(where, "an array is stored in big-endian order, which is not supported");
  }
  if (!state[2]->Is(Kind::kNone) || !state[3]->Is(Kind::kNone)) {
    return Broken(where, "an array has fields or sub-arrays, which are not supported");
  }
  if (dtype->type == 'S' || dtype->type == 'U') {
    if (state[5]->integer < 0 || state[5]->integer > 1 << 20) {
      return Broken(where, "an array has text of impossible width");
    }
    dtype->item_size = static_cast<int>(state[5]->integer);
  }
  return *dtype;
}

Result<std::vector<int64_t>> ReadShape(const PickleValue& value, const std::string& where) {
  std::vector<int64_t> shape;
  if (!value.Is(Kind::kTuple) || value.items().size() > 8) {
    return Broken(where, "an array has no shape");
  }
  int64_t elements = 1;
  for (const PickleValue* length : value.items()) {
    if (!length->Is(Kind::kInteger) || length->integer < 0 || length->integer > int64_t{1} << 40 ||
        __builtin_mul_overflow(elements, length->integer, &elements)) {
      return Broken(where, "an array has an impossible shape");
    }
    shape.push_back(length->integer);
  }
  return shape;
}

Result<PickledArray> ReadScalar(const PickleValue& value, const std::string& where) {
  PickledArray array;
  const auto& arguments = value.items();
  if (arguments.size() != 2 || !arguments[1]->Is(Kind::kBytes)) {
    return Broken(where, "a NumPy scalar has no data type and bytes");
  }
  TALLELE_ASSIGN(const Dtype dtype, ReadDtype(*arguments[0], where));
  array.type = dtype.type;
  array.item_size = dtype.item_size;
  array.bytes = arguments[1]->text;
  if (dtype.type == 'O' || array.bytes.size() != static_cast<size_t>(dtype.item_size)) {
    return Broken(where, "a NumPy scalar has bytes that do not fit its type");
  }
  return array;
}

}  // namespace

size_t PickledArray::num_elements() const {
  size_t elements = 1;
  for (const int64_t length : shape) elements *= static_cast<size_t>(length);
  return elements;
}

Result<PickledArray> ReadPickledArray(const PickleValue& value, const std::string& where) {
  if (value.IsObject(PickleGlobal::kNumpyScalar)) return ReadScalar(value, where);
  if (!value.IsObject(PickleGlobal::kNumpyReconstruct) || value.state() == nullptr) {
    return Broken(where, "something stands where an array should be");
  }
  const auto& state = value.state()->items();
  if (!value.state()->Is(Kind::kTuple) || state.size() != 5 || !state[3]->Is(Kind::kBool)) {
    return Broken(where, "an array has a state of unknown form");
  }
  PickledArray array;
  TALLELE_ASSIGN(array.shape, ReadShape(*state[1], where));
  TALLELE_ASSIGN(const Dtype dtype, ReadDtype(*state[2], where));
  array.type = dtype.type;
  array.item_size = dtype.item_size;
  array.column_major = state[3]->integer != 0;
  if (dtype.type == 'O') {
    if (!state[4]->Is(Kind::kList)) return Broken(where, "an array of objects has no list of them");
    if (array.column_major && array.shape.size() > 1) {
      return Broken(where, "an array of objects is in column order, which is not supported");
    }
    if (state[4]->items().size() != array.num_elements()) {
      return Broken(where, "an array does not have as many objects as its shape says");
    }
    array.items = state[4]->items();
    return array;
  }
  if (!state[4]->Is(Kind::kBytes)) return Broken(where, "an array has no bytes");
  array.bytes = state[4]->text;
  int64_t expected = 0;
  if (__builtin_mul_overflow(static_cast<int64_t>(array.num_elements()), int64_t{array.item_size},
                             &expected) ||
      static_cast<int64_t>(array.bytes.size()) != expected) {
    return Broken(where, "an array does not have as many bytes as its shape and type say",
                  fmt::format("{}", array.bytes.size()));
  }
  return array;
}

namespace {

int64_t IntegerAt(const PickledArray& array, size_t i) {
  const int size = array.item_size;
  uint64_t raw = 0;
  std::memcpy(&raw, array.bytes.data() + i * static_cast<size_t>(size), static_cast<size_t>(size));
  if (array.type == 'i' && size < 8 && (raw >> (8 * size - 1) & 1) != 0) {
    raw |= ~uint64_t{0} << (8 * size);
  }
  return static_cast<int64_t>(raw);
}

bool IsIntegerArray(const PickledArray& array) {
  return (array.type == 'i' || array.type == 'u') && array.item_size >= 1 && array.item_size <= 8;
}

}  // namespace

Result<int64_t> ReadPickledInteger(const PickleValue& value, const std::string& where) {
  if (value.Is(Kind::kInteger)) return value.integer;
  TALLELE_ASSIGN(const PickledArray scalar, ReadPickledArray(value, where));
  if (!IsIntegerArray(scalar) || !scalar.shape.empty()) {
    return Broken(where, "a list of whole numbers holds something else");
  }
  return IntegerAt(scalar, 0);
}

Result<std::vector<int64_t>> ReadPickledIntegers(const PickleValue& value,
                                                 const std::string& where) {
  std::vector<int64_t> numbers;
  std::vector<const PickleValue*> items;
  if (value.Is(Kind::kList) || value.Is(Kind::kTuple)) {
    items = value.items();
  } else {
    TALLELE_ASSIGN(const PickledArray array, ReadPickledArray(value, where));
    if (array.type != 'O') {
      if (!IsIntegerArray(array) || array.shape.size() > 1) {
        return Broken(where, "a list of whole numbers is an array of another kind");
      }
      for (size_t i = 0; i < array.num_elements(); ++i) numbers.push_back(IntegerAt(array, i));
      return numbers;
    }
    items = array.items;
  }
  numbers.reserve(items.size());
  for (const PickleValue* item : items) {
    TALLELE_ASSIGN(const int64_t number, ReadPickledInteger(*item, where));
    numbers.push_back(number);
  }
  return numbers;
}

Result<double> ReadPickledReal(const PickleValue& value, const std::string& where) {
  if (value.Is(Kind::kReal)) return value.real;
  if (value.Is(Kind::kInteger)) return static_cast<double>(value.integer);
  TALLELE_ASSIGN(const PickledArray array, ReadPickledArray(value, where));
  if (array.num_elements() == 1 && array.type == 'f' && array.item_size == 8) {
    double number;
    std::memcpy(&number, array.bytes.data(), 8);
    return number;
  }
  if (array.num_elements() == 1 && array.type == 'f' && array.item_size == 4) {
    float number;
    std::memcpy(&number, array.bytes.data(), 4);
    return number;
  }
  if (array.num_elements() == 1 && IsIntegerArray(array)) {
    return static_cast<double>(IntegerAt(array, 0));
  }
  return Broken(where, "something stands where a number should be");
}

}  // namespace tallele
