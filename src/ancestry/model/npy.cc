#include "ancestry/model/npy.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/parse_number.h"

namespace tallele {
namespace {

Error Broken(const std::string& where, std::string what, std::string found = {}) {
  Error error = InputError(std::move(what), where, "Write the array again with NumPy.");
  error.found = std::move(found);
  return error;
}

// The text after `key` in the header's Python dictionary, blanks removed.
std::optional<std::string_view> After(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  header.remove_prefix(at + key.size());
  const size_t start = header.find_first_not_of(" :");
  if (start == std::string_view::npos) return std::nullopt;
  return header.substr(start);
}

bool ParseType(std::string_view text, NpyHeader& header) {
  if (text.size() < 4 || text[0] != '\'') return false;
  text.remove_prefix(1);
  const size_t end = text.find('\'');
  if (end == std::string_view::npos) return false;
  text = text.substr(0, end);
  if (text.empty() || text[0] == '>') return false;
  if (text[0] == '<' || text[0] == '|' || text[0] == '=') text.remove_prefix(1);
  if (text.empty() || std::string_view("fiubSUO").find(text[0]) == std::string_view::npos) {
    return false;
  }
  header.type = text[0];
  header.item_size = 8;
  if (text == "O") return true;
  const auto size = ParseInteger(text.substr(1));
  if (!size || *size < 0 || *size > 1 << 20) return false;
  header.item_size = static_cast<int>(*size) * (header.type == 'U' ? 4 : 1);
  return true;
}

bool ParseShape(std::string_view text, NpyHeader& header) {
  if (text.empty() || text[0] != '(') return false;
  const size_t end = text.find(')');
  if (end == std::string_view::npos) return false;
  text = text.substr(1, end - 1);
  int64_t elements = 1;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view length = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (!length.empty() && length.front() == ' ') length.remove_prefix(1);
    if (length.empty() && text.empty()) break;
    const auto number = ParseInteger(length);
    if (!number || *number < 0 || *number > int64_t{1} << 40 || header.shape.size() == 8 ||
        __builtin_mul_overflow(elements, *number, &elements)) {
      return false;
    }
    header.shape.push_back(*number);
  }
  return true;
}

template <typename T>
T At(const char* data, size_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof(T));
  return value;
}

// Element i as double; the type must be one of IsNumber.
double NumberAt(const NpyHeader& header, const char* data, size_t i) {
  switch (header.type) {
    case 'f':
      return header.item_size == 8 ? At<double>(data, i) : static_cast<double>(At<float>(data, i));
    case 'i':
      switch (header.item_size) {
        case 1:
          return At<int8_t>(data, i);
        case 2:
          return At<int16_t>(data, i);
        case 4:
          return At<int32_t>(data, i);
        default:
          return static_cast<double>(At<int64_t>(data, i));
      }
    default:
      switch (header.item_size) {
        case 1:
          return At<uint8_t>(data, i);
        case 2:
          return At<uint16_t>(data, i);
        case 4:
          return At<uint32_t>(data, i);
        default:
          return static_cast<double>(At<uint64_t>(data, i));
      }
  }
}

bool IsNumber(const NpyHeader& h) {
  const int s = h.item_size;
  if (h.type == 'f') return s == 4 || s == 8;
  return (h.type == 'i' || h.type == 'u') && (s == 1 || s == 2 || s == 4 || s == 8);
}

// Where element i of the row-major order lies in a column-major array.
size_t ColumnMajorIndex(size_t i, const std::vector<int64_t>& shape) {
  size_t index = 0;
  for (size_t d = shape.size(); d-- > 0;) {
    const auto length = static_cast<size_t>(shape[d]);
    size_t stride = 1;
    for (size_t e = 0; e < d; ++e) stride *= static_cast<size_t>(shape[e]);
    index += i % length * stride;
    i /= length;
  }
  return index;
}

void AppendUtf8(uint32_t c, std::string& out) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
    return;
  }
  const int rest = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out.push_back(static_cast<char>(kLead[rest] | c >> (6 * rest)));
  for (int k = rest; k-- > 0;) out.push_back(static_cast<char>(0x80 | ((c >> (6 * k)) & 0x3f)));
}

template <typename T>
std::string WriteArray(std::string_view type, std::span<const T> values,
                       std::span<const int64_t> shape) {
  std::string out = WriteNpyHeader(type, shape);
  out.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return out;
}

// UTF-8 to code points; a malformed byte stands for itself.
std::vector<uint32_t> CodePoints(std::string_view text) {
  std::vector<uint32_t> points;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
    if (length == 1 || i + length > text.size()) {
      points.push_back(c);
      ++i;
      continue;
    }
    uint32_t point = c & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) {
      point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    }
    points.push_back(point);
    i += length;
  }
  return points;
}

}  // namespace

int64_t NpyHeader::num_elements() const {
  int64_t elements = 1;
  for (const int64_t length : shape) elements *= length;
  return elements;
}

Result<NpyHeader> ReadNpyHeader(std::string_view bytes, const std::string& where) {
  if (bytes.size() < 12 || bytes.substr(0, 6) != "\x93NUMPY") {
    return Broken(where, "this is no NumPy array");
  }
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) {
    return Broken(where, "the NumPy array has a version that is not supported",
                  fmt::format("{}", version));
  }
  size_t length = 0;
  const size_t length_bytes = version == 1 ? 2 : 4;
  for (size_t i = length_bytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(bytes[8 + i]);
  }
  NpyHeader header;
  header.data_offset = 8 + length_bytes + length;
  if (header.data_offset > bytes.size()) return Broken(where, "the NumPy array ends in its header");
  const std::string_view dict = bytes.substr(8 + length_bytes, length);
  const auto type = After(dict, "'descr'");
  const auto order = After(dict, "'fortran_order'");
  const auto shape = After(dict, "'shape'");
  if (!type || !ParseType(*type, header)) {
    return Broken(where, "the NumPy array has a data type that is not supported",
                  type ? std::string(type->substr(0, 20)) : "none");
  }
  if (!order || !shape || !ParseShape(*shape, header)) {
    return Broken(where, "the NumPy array has a header that cannot be read");
  }
  header.column_major = order->substr(0, 4) == "True";
  int64_t data_bytes = 0;
  if (header.type != 'O' &&
      (__builtin_mul_overflow(header.num_elements(), int64_t{header.item_size}, &data_bytes) ||
       static_cast<uint64_t>(data_bytes) != bytes.size() - header.data_offset)) {
    return Broken(where, "the NumPy array does not have as many bytes as its shape says",
                  fmt::format("{} bytes", bytes.size() - header.data_offset));
  }
  return header;
}

Result<DoubleArray> ReadNpyDoubles(std::string_view bytes, const std::string& where) {
  TALLELE_ASSIGN(const NpyHeader header, ReadNpyHeader(bytes, where));
  if (!IsNumber(header)) {
    return Broken(where, "the NumPy array holds no numbers",
                  fmt::format("type {}{}", header.type, header.item_size));
  }
  DoubleArray array;
  array.shape = header.shape;
  const auto count = static_cast<size_t>(header.num_elements());
  const char* data = bytes.data() + header.data_offset;
  array.values.resize(count);
  const bool reorder = header.column_major && header.shape.size() > 1;
  for (size_t i = 0; i < count; ++i) {
    array.values[i] = NumberAt(header, data, reorder ? ColumnMajorIndex(i, header.shape) : i);
  }
  return array;
}

Result<DoubleArray> ReadNpyDoublesRow(std::string_view bytes, const std::string& where,
                                      int64_t row) {
  TALLELE_ASSIGN(const NpyHeader header, ReadNpyHeader(bytes, where));
  if (!IsNumber(header) || header.column_major || header.shape.empty() || row < 0 ||
      row >= header.shape[0]) {
    return Broken(where, "the NumPy array is no row-major array of numbers with that row");
  }
  DoubleArray array;
  array.shape.assign(header.shape.begin() + 1, header.shape.end());
  const int64_t count = header.num_elements() / header.shape[0];
  const char* data = bytes.data() + header.data_offset + row * count * header.item_size;
  for (int64_t i = 0; i < count; ++i) {
    array.values.push_back(NumberAt(header, data, static_cast<size_t>(i)));
  }
  return array;
}

Result<std::vector<std::string>> ReadNpyTexts(std::string_view bytes, const std::string& where) {
  TALLELE_ASSIGN(const NpyHeader header, ReadNpyHeader(bytes, where));
  if ((header.type != 'S' && header.type != 'U') || header.shape.size() != 1) {
    return Broken(where, "the NumPy array is no list of texts");
  }
  // Texts of width 0 take no bytes, so their number is not bounded by the file.
  if (header.item_size == 0 && header.num_elements() > 0) {
    return Broken(where, "the NumPy array holds texts of width 0");
  }
  std::vector<std::string> texts;
  const auto width = static_cast<size_t>(header.item_size);
  for (size_t at = header.data_offset; at < bytes.size(); at += width) {
    std::string_view cell = bytes.substr(at, width);
    std::string text;
    if (header.type == 'S') {
      while (!cell.empty() && cell.back() == '\0') cell.remove_suffix(1);
      text = cell;
    } else {
      size_t length = width / 4;
      while (length > 0 && At<uint32_t>(cell.data(), length - 1) == 0) --length;
      for (size_t i = 0; i < length; ++i) {
        AppendUtf8(std::min<uint32_t>(At<uint32_t>(cell.data(), i), 0x10ffff), text);
      }
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::vector<int64_t>> ReadNpyIntegers(std::string_view bytes, const std::string& where) {
  TALLELE_ASSIGN(const NpyHeader header, ReadNpyHeader(bytes, where));
  if (!IsNumber(header) || header.type == 'f' || header.shape.size() != 1) {
    return Broken(where, "the NumPy array is no list of whole numbers");
  }
  const char* data = bytes.data() + header.data_offset;
  std::vector<int64_t> numbers(static_cast<size_t>(header.num_elements()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = header.item_size == 8 ? At<int64_t>(data, i)
                                       : static_cast<int64_t>(NumberAt(header, data, i));
  }
  return numbers;
}

std::string WriteNpyHeader(std::string_view type, std::span<const int64_t> shape) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", type);
  for (size_t d = 0; d < shape.size(); ++d) {
    dict += fmt::format("{}{}", shape[d],
                        d + 1 < shape.size() ? ", "
                        : shape.size() == 1  ? ","
                                             : "");
  }
  dict += "), }";
  constexpr size_t kBefore = 10;
  const size_t padded = (kBefore + dict.size() + 1 + 63) / 64 * 64;
  dict.append(padded - kBefore - dict.size() - 1, ' ');
  dict += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out.push_back(static_cast<char>(dict.size() & 255));
  out.push_back(static_cast<char>(dict.size() >> 8));
  return out + dict;
}

std::string WriteNpy(std::span<const double> values, std::span<const int64_t> shape) {
  return WriteArray("<f8", values, shape);
}
std::string WriteNpy(std::span<const float> values, std::span<const int64_t> shape) {
  return WriteArray("<f4", values, shape);
}
std::string WriteNpy(std::span<const int64_t> values, std::span<const int64_t> shape) {
  return WriteArray("<i8", values, shape);
}
std::string WriteNpy(std::span<const uint32_t> values, std::span<const int64_t> shape) {
  return WriteArray("<u4", values, shape);
}
std::string WriteNpy(std::span<const uint16_t> values, std::span<const int64_t> shape) {
  return WriteArray("<u2", values, shape);
}

std::string WriteNpyBytes(std::span<const std::string> texts) {
  size_t width = 1;
  for (const std::string& text : texts) width = std::max(width, text.size());
  const int64_t shape[] = {static_cast<int64_t>(texts.size())};
  std::string out = WriteNpyHeader(fmt::format("|S{}", width), shape);
  for (const std::string& text : texts) out += text + std::string(width - text.size(), '\0');
  return out;
}

std::string WriteNpyUnicode(std::span<const std::string> texts) {
  std::vector<std::vector<uint32_t>> cells;
  size_t width = 1;
  for (const std::string& text : texts) {
    cells.push_back(CodePoints(text));
    width = std::max(width, cells.back().size());
  }
  const int64_t shape[] = {static_cast<int64_t>(texts.size())};
  std::string out = WriteNpyHeader(fmt::format("<U{}", width), shape);
  for (auto& cell : cells) {
    cell.resize(width);
    out.append(reinterpret_cast<const char*>(cell.data()), 4 * width);
  }
  return out;
}

}  // namespace tallele
