#include "base/text_reader.h"

#include <sys/stat.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace tallele {
namespace {

constexpr size_t kChunk = size_t{1} << 18;
constexpr unsigned kInflateBuffer = 1u << 17;
// A line of a prediction file has about ten bytes for each person. A binary file given by mistake
// may have no line end at all and must not fill the memory.
constexpr size_t kMaxLine = size_t{256} << 20;

gzFile AsGz(void* stream) { return static_cast<gzFile>(stream); }

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

Result<std::unique_ptr<LineReader>> LineReader::Open(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return IoError("cannot open the file", path, errno);
  if (S_ISDIR(status.st_mode)) return IoError("cannot read a folder as text", path, EISDIR);
  std::unique_ptr<LineReader> reader(new LineReader);
  reader->path_ = path;
  reader->stream_ = gzopen(path.c_str(), "rb");
  if (reader->stream_ == nullptr) return IoError("cannot open the file", path, errno);
  gzbuffer(AsGz(reader->stream_), kInflateBuffer);
  reader->buffer_.resize(kChunk);
  return reader;
}

LineReader::~LineReader() {
  if (stream_ != nullptr) gzclose_r(AsGz(stream_));
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
  const size_t room = std::min(buffer_.size() - end_, size_t{1} << 30);
  const int got = gzread(AsGz(stream_), buffer_.data() + end_, static_cast<unsigned>(room));
  if (got > 0) {
    end_ += static_cast<size_t>(got);
    return true;
  }
  at_end_ = true;
  int code = Z_OK;
  const char* text = gzerror(AsGz(stream_), &code);
  if (code == Z_OK || code == Z_STREAM_END) return false;
  if (code == Z_ERRNO) return IoError("cannot read the file", path_, errno);
  Error error = InputError("the compressed data is damaged or cut short",
                           path_ + ", compressed byte " + std::to_string(gzoffset(AsGz(stream_))),
                           "Copy or make the file again.");
  error.found = text;
  return error;
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
  size_t start = 0;
  while (true) {
    const size_t tab = line.find('\t', start);
    fields.push_back(Trim(line.substr(start, tab - start)));
    if (tab == std::string_view::npos) return;
    start = tab + 1;
  }
}

}  // namespace tallele
