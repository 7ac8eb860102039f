#include "ancestry/model/tar_archive.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace tallele {
namespace {

constexpr size_t kBlock = 512;
// Names and pax records are short; anything longer is damage.
constexpr uint64_t kLongestText = 1 << 16;

// Fields of a header: offset and length (ustar, IEEE Std 1003.1).
struct Field {
  size_t begin;
  size_t length;
};
constexpr Field kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kMagic{257, 5}, kPrefix{345, 155};
constexpr size_t kType = 156;

using Header = std::array<char, kBlock>;

std::string_view Bytes(const Header& header, Field field) {
  return {header.data() + field.begin, field.length};
}

std::string Text(const Header& header, Field field) {
  const std::string_view bytes = Bytes(header, field);
  return std::string(bytes.substr(0, bytes.find('\0')));
}

// Octal digits, blanks around them; or, beyond 8 GiB, GNU's big-endian number with the top bit set.
std::optional<uint64_t> Number(const Header& header, Field field) {
  const std::string_view bytes = Bytes(header, field);
  if (static_cast<unsigned char>(bytes[0]) == 0x80) {
    uint64_t value = 0;
    for (const char byte : bytes.substr(1)) {
      if (value >> 55 != 0) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(byte);
    }
    return value;
  }
  size_t begin = 0;
  while (begin < bytes.size() && bytes[begin] == ' ') ++begin;
  uint64_t value = 0;
  const char* last = bytes.data() + bytes.size();
  const auto [end, code] = std::from_chars(bytes.data() + begin, last, value, 8);
  if (code != std::errc() || (end != last && *end != ' ' && *end != '\0')) return std::nullopt;
  return value;
}

bool ChecksumFits(const Header& header) {
  const auto stored = Number(header, kChecksum);
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const bool of_checksum = i >= kChecksum.begin && i < kChecksum.begin + kChecksum.length;
    sum += of_checksum ? static_cast<unsigned char>(' ') : static_cast<unsigned char>(header[i]);
  }
  return stored == sum;
}

bool IsInside(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string_view::npos) {
    return false;
  }
  while (!name.empty()) {
    const size_t slash = name.find('/');
    if (name.substr(0, slash) == "..") return false;
    name.remove_prefix(slash == std::string_view::npos ? name.size() : slash + 1);
  }
  return true;
}

class TarReader {
 public:
  TarReader(const ByteSource& source, const std::string& where, const TarSink& sink)
      : source_(source), where_(where), sink_(sink) {}

  Result<void> Run() {
    while (true) {
      Header header;
      TALLELE_ASSIGN(const size_t got, Fill(header.data(), kBlock));
      const bool blank = std::all_of(header.begin(), header.end(), [](char c) { return c == 0; });
      if (got == kBlock && blank) return {};  // the end mark; what follows is padding
      if (got < kBlock) return EndsEarly("in or before a header");
      if (!ChecksumFits(header)) {
        return Fail(fmt::format("this is no tar archive, or it is damaged after {} files", files_));
      }
      TALLELE_TRY(Entry(header));
    }
  }

 private:
  Error Fail(std::string what, std::string_view entry = {}) const {
    return InputError(std::move(what),
                      entry.empty() ? where_ : fmt::format("{}, entry {}", where_, entry),
                      "Get the archive again.");
  }
  Error EndsEarly(std::string_view place) const {
    return Fail(fmt::format("the archive ends early, {} (after {} files)", place, files_));
  }

  Result<size_t> Fill(char* out, size_t size) {
    size_t got = 0;
    while (got < size) {
      TALLELE_ASSIGN(const size_t more, source_(out + got, size - got));
      if (more == 0) break;
      got += more;
    }
    return got;
  }

  // The bytes of an entry and the padding after it.
  Result<void> Content(uint64_t size, const std::function<Result<void>(std::string_view)>& take) {
    uint64_t left = size;
    while (left > 0) {
      const size_t want = static_cast<size_t>(std::min<uint64_t>(left, buffer_.size()));
      TALLELE_ASSIGN(const size_t got, Fill(buffer_.data(), want));
      if (got < want) return EndsEarly("inside a file");
      TALLELE_TRY(take(std::string_view(buffer_.data(), want)));
      left -= want;
    }
    const size_t padding = static_cast<size_t>((kBlock - size % kBlock) % kBlock);
    TALLELE_ASSIGN(const size_t got, Fill(buffer_.data(), padding));
    return got == padding ? Result<void>() : EndsEarly("after a file");
  }

  Result<std::string> TextContent(uint64_t size) {
    if (size > kLongestText) return Fail("a name of the archive is impossibly long");
    std::string text;
    TALLELE_TRY(Content(size, [&text](std::string_view piece) {
      text += piece;
      return Result<void>();
    }));
    return text;
  }

  // Records "<length> <key>=<value>\n" that hold for the next entry.
  Result<void> ReadPax(std::string_view records) {
    while (!records.empty()) {
      size_t length = 0;
      const auto [end, code] =
          std::from_chars(records.data(), records.data() + records.size(), length);
      const size_t digits = static_cast<size_t>(end - records.data());
      if (code != std::errc() || length > records.size() || length < digits + 3 ||
          records[digits] != ' ' || records[length - 1] != '\n') {
        return Fail("an extended header of the archive is damaged");
      }
      const std::string_view record = records.substr(digits + 1, length - digits - 2);
      const size_t equals = record.find('=');
      if (equals == std::string_view::npos) {
        return Fail("an extended header of the archive is damaged");
      }
      TALLELE_TRY(TakePax(record.substr(0, equals), record.substr(equals + 1)));
      records.remove_prefix(length);
    }
    return {};
  }

  Result<void> TakePax(std::string_view key, std::string_view value) {
    if (key == "path") next_name_ = std::string(value);
    if (key != "size") return {};
    uint64_t size = 0;
    const char* last = value.data() + value.size();
    const auto [end, code] = std::from_chars(value.data(), last, size);
    if (code != std::errc() || end != last) return Fail("an extended header has a wrong size");
    next_size_ = size;
    return {};
  }

  Result<void> Entry(const Header& header) {
    const auto stored = Number(header, kSize);
    if (!stored) return Fail("an entry of the archive has no size", Text(header, kName));
    const char type = header[kType];
    if (type == 'L') {
      TALLELE_ASSIGN(const std::string name, TextContent(*stored));
      next_name_ = name.substr(0, name.find('\0'));
      return {};
    }
    if (type == 'x' || type == 'g') {
      TALLELE_ASSIGN(const std::string records, TextContent(*stored));
      return type == 'x' ? ReadPax(records) : Result<void>();
    }
    std::string name = next_name_.empty() ? NameOf(header) : next_name_;
    const uint64_t size = next_size_.value_or(*stored);
    next_name_.clear();
    next_size_.reset();
    return FileOrFolder(type, std::move(name), size);
  }

  static std::string NameOf(const Header& header) {
    const std::string prefix = Bytes(header, kMagic) == "ustar" && header[kMagic.begin + 5] == '\0'
                                   ? Text(header, kPrefix)
                                   : std::string();
    return prefix.empty() ? Text(header, kName) : prefix + "/" + Text(header, kName);
  }

  Result<void> FileOrFolder(char type, std::string name, uint64_t size) {
    const std::string whole = name;
    while (name.starts_with("./")) name.erase(0, 2);
    const bool is_folder = type == '5' || name.ends_with('/') || name.empty() || name == ".";
    while (name.ends_with('/')) name.pop_back();
    if (is_folder && (name.empty() || name == ".") && !whole.starts_with('/')) {
      return Content(type == '5' ? 0 : size, [](std::string_view) { return Result<void>(); });
    }
    if (whole.starts_with('/') || !IsInside(name)) {
      return Fail("an entry would be written outside the folder", whole);
    }
    if (is_folder) return sink_.folder(name);
    if (type != '0' && type != '\0' && type != '7') {
      return Fail(
          fmt::format("the archive has a link or device (type {})",
                      type > ' ' && type < 127 ? std::string(1, type) : fmt::format("{:#x}", type)),
          whole);
    }
    TALLELE_TRY(sink_.begin_file(name, size));
    TALLELE_TRY(Content(size, sink_.bytes));
    TALLELE_TRY(sink_.end_file());
    ++files_;
    return {};
  }

  const ByteSource& source_;
  const std::string& where_;
  const TarSink& sink_;
  std::vector<char> buffer_ = std::vector<char>(size_t{1} << 18);
  std::string next_name_;  // of the next entry, when a header before it says so
  std::optional<uint64_t> next_size_;
  size_t files_ = 0;
};

}  // namespace

Result<void> ReadTar(const ByteSource& source, const std::string& where, const TarSink& sink) {
  return TarReader(source, where, sink).Run();
}

}  // namespace tallele
