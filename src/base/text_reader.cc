#include "base/text_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <span>

namespace tallele {
namespace {

constexpr size_t kChunk = size_t{1} << 18;
constexpr size_t kStoredChunk = size_t{1} << 17;
// A line of a prediction file has about ten bytes for each person. A binary file given by mistake
// may have no line end at all and must not fill the memory.
constexpr size_t kMaxLine = size_t{256} << 20;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

bool BeginsGzip(std::span<const char> bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

std::span<std::byte> Bytes(std::span<char> text) { return std::as_writable_bytes(text); }

}  // namespace

// Inflates the members of a gzip file, one after the other as they are stored. What follows the
// last one and is none (padding) is left alone, as gzip does.
class LineReader::Gunzip {
 public:
  // `head`: bytes of the file that were read already.
  Gunzip(const ReadableFile& file, std::span<const char> head)
      : file_(file), stored_(head.begin(), head.end()), offset_(head.size()) {
    // 16: a gzip header with its checksum, as no other form is meant.
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
    Offer();
  }
  ~Gunzip() { inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  // The number of inflated bytes; 0 at the end.
  Result<size_t> Read(std::span<char> out) {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    while (stream_.avail_out == out.size()) {
      if (!inside_member_) {
        TALLELE_ASSIGN(const bool more, BeginMember());
        if (!more) return size_t{0};
      }
      if (stream_.avail_in == 0) {
        TALLELE_ASSIGN(const bool more, ReadStored());
        if (!more) return Damaged("the file ends inside the compressed data");
      }
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) inside_member_ = false;
      if (code == Z_MEM_ERROR) throw std::bad_alloc();
      if (code == Z_DATA_ERROR || code == Z_NEED_DICT || code == Z_STREAM_ERROR) {
        return Damaged(stream_.msg != nullptr ? stream_.msg : "data that cannot be inflated");
      }
    }
    return out.size() - stream_.avail_out;
  }

 private:
  void Offer() {
    stream_.next_in = reinterpret_cast<Bytef*>(stored_.data());
    stream_.avail_in = static_cast<uInt>(stored_.size());
  }

  // Adds stored bytes to those that are not inflated yet; false at the end of the file.
  Result<bool> ReadStored() {
    const size_t left = stream_.avail_in;
    stored_.erase(stored_.begin(), stored_.end() - static_cast<std::ptrdiff_t>(left));
    stored_.resize(left + kStoredChunk);
    TALLELE_ASSIGN(const size_t got,
                   file_.ReadSome(offset_, Bytes(std::span(stored_)).subspan(left)));
    offset_ += got;
    stored_.resize(left + got);
    Offer();
    return got > 0;
  }

  Result<bool> BeginMember() {
    while (stream_.avail_in < 2) {
      TALLELE_ASSIGN(const bool more, ReadStored());
      if (!more) return false;
    }
    if (!BeginsGzip({reinterpret_cast<const char*>(stream_.next_in), stream_.avail_in}))
      return false;
    if (inflateReset(&stream_) != Z_OK) return Damaged("data that cannot be inflated");
    inside_member_ = true;
    return true;
  }

  Error Damaged(std::string found) const {
    Error error =
        InputError("the compressed data is damaged or cut short",
                   file_.path() + ", compressed byte " + std::to_string(offset_ - stream_.avail_in),
                   "Copy or make the file again.");
    error.found = std::move(found);
    return error;
  }

  const ReadableFile& file_;
  std::vector<char> stored_;
  uint64_t offset_;
  z_stream stream_{};
  bool inside_member_ = false;
};

LineReader::LineReader(std::unique_ptr<ReadableFile> file)
    : file_(std::move(file)), path_(file_->path()), buffer_(kChunk) {}

LineReader::~LineReader() = default;

Result<std::unique_ptr<LineReader>> LineReader::Open(const std::string& path, FileEnv& env) {
  TALLELE_ASSIGN(auto file, env.OpenToRead(path));
  std::unique_ptr<LineReader> reader(new LineReader(std::move(file)));
  TALLELE_TRY(reader->TellForm());
  return reader;
}

// Reads the first bytes, which say whether the file is compressed.
Result<void> LineReader::TellForm() {
  while (offset_ < 2) {
    TALLELE_ASSIGN(const size_t got,
                   file_->ReadSome(offset_, Bytes(std::span(buffer_)).subspan(offset_)));
    if (got == 0) break;
    offset_ += got;
  }
  const std::span<const char> head(buffer_.data(), offset_);
  if (BeginsGzip(head)) {
    gunzip_ = std::make_unique<Gunzip>(*file_, head);
  } else {
    end_ = head.size();
  }
  return {};
}

std::string LineReader::Where() const { return path_ + ", line " + std::to_string(line_number_); }

Result<bool> LineReader::Fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == kMaxLine) {
    return InputError("a line has more than 256 MiB",
                      path_ + ", line " + std::to_string(line_number_ + 1),
                      "Check that this is a text file.");
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  const std::span<char> room = std::span(buffer_).subspan(end_);
  size_t got = 0;
  if (gunzip_ != nullptr) {
    TALLELE_ASSIGN(got, gunzip_->Read(room));
  } else {
    TALLELE_ASSIGN(got, file_->ReadSome(offset_, Bytes(room)));
    offset_ += got;
  }
  at_end_ = got == 0;
  end_ += got;
  return !at_end_;
}

Result<bool> LineReader::Next(std::string_view* line) {
  size_t searched = begin_;
  while (true) {
    const void* hit =
        searched < end_ ? std::memchr(buffer_.data() + searched, '\n', end_ - searched) : nullptr;
    if (hit != nullptr) {
      const size_t stop = static_cast<size_t>(static_cast<const char*>(hit) - buffer_.data());
      *line = std::string_view(buffer_.data() + begin_, stop - begin_);
      begin_ = stop + 1;
      break;
    }
    const size_t pending = end_ - begin_;
    TALLELE_ASSIGN(const bool more, Fill());
    searched = begin_ + pending;
    if (more) continue;
    if (begin_ == end_) return false;
    *line = std::string_view(buffer_.data() + begin_, end_ - begin_);
    begin_ = end_;
    break;
  }
  ++line_number_;
  if (line_number_ == 1 && line->starts_with("\xEF\xBB\xBF")) line->remove_prefix(3);
  if (line->ends_with('\r')) line->remove_suffix(1);
  return true;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

void SplitBlanks(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  size_t at = 0;
  while (true) {
    while (at < line.size() && IsBlank(line[at])) ++at;
    if (at == line.size()) return;
    const size_t start = at;
    while (at < line.size() && !IsBlank(line[at])) ++at;
    fields.push_back(line.substr(start, at - start));
  }
}

void SplitTabs(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  // Cells are short: a loop over the bytes is faster than a search for each tab.
  const char* const end = line.data() + line.size();
  const char* start = line.data();
  for (const char* at = start; at != end; ++at) {
    if (*at != '\t') continue;
    fields.push_back(Trim({start, static_cast<size_t>(at - start)}));
    start = at + 1;
  }
  fields.push_back(Trim({start, static_cast<size_t>(end - start)}));
}

}  // namespace tallele
