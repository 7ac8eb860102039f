// The floor that scans are measured against: a bare loop that reads the variant blocks of a
// BGEN file (layout 2, zlib) one after the other and inflates them with libdeflate. It
// checks nothing, keeps nothing and shares no code with the engine.
//
//   inflate_floor FILE [repetitions]
//
// Prints one JSON line: variants, people, CPU microseconds per variant (median over the
// repetitions), share of file bytes.
#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

double ThreadCpuSeconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <typename T>
T Load(const uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

struct Record {
  uint64_t offset;  // of the compressed bytes
  uint32_t compressed;
  uint32_t inflated;
};

bool ReadFully(int fd, uint8_t* out, size_t size, uint64_t offset) {
  while (size > 0) {
    const ssize_t got = pread(fd, out, size, static_cast<off_t>(offset));
    if (got <= 0) return false;
    out += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return true;
}

std::vector<Record> ScanRecords(int fd, uint32_t* num_people) {
  uint8_t head[24];
  if (!ReadFully(fd, head, sizeof head, 0)) return {};
  uint64_t at = 4 + uint64_t{Load<uint32_t>(head)};
  const uint32_t num_variants = Load<uint32_t>(head + 8);
  *num_people = Load<uint32_t>(head + 12);
  std::vector<Record> records;
  std::vector<uint8_t> text(4096);
  for (uint32_t v = 0; v < num_variants; ++v) {
    ssize_t have = pread(fd, text.data(), text.size(), static_cast<off_t>(at));
    if (have < 32) return {};
    size_t p = 0;
    for (int field = 0; field < 3; ++field) p += 2 + Load<uint16_t>(&text[p]);
    p += 4;
    const uint16_t alleles = Load<uint16_t>(&text[p]);
    p += 2;
    for (int a = 0; a < alleles; ++a) p += 4 + Load<uint32_t>(&text[p]);
    const uint32_t stored = Load<uint32_t>(&text[p]);
    records.push_back({at + p + 8, stored - 4, Load<uint32_t>(&text[p + 4])});
    at += p + 4 + stored;
  }
  return records;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: inflate_floor FILE [repetitions]\n");
    return 2;
  }
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 3;
  const int fd = open(argv[1], O_RDONLY);
  uint32_t num_people = 0;
  const std::vector<Record> records = fd < 0 ? std::vector<Record>{} : ScanRecords(fd, &num_people);
  if (records.empty()) {
    std::fprintf(stderr, "cannot read %s as BGEN layout 2 with zlib\n", argv[1]);
    return 1;
  }
  libdeflate_decompressor* inflater = libdeflate_alloc_decompressor();
  std::vector<uint8_t> in, out;
  std::vector<double> seconds;
  for (int r = 0; r < repetitions; ++r) {
    const double start = ThreadCpuSeconds();
    for (const Record& record : records) {
      if (in.size() < record.compressed) in.resize(record.compressed);
      if (out.size() < record.inflated) out.resize(record.inflated);
      size_t made = 0;
      if (!ReadFully(fd, in.data(), record.compressed, record.offset) ||
          libdeflate_zlib_decompress(inflater, in.data(), record.compressed, out.data(),
                                     record.inflated, &made) != LIBDEFLATE_SUCCESS) {
        std::fprintf(stderr, "damaged block at byte %llu\n",
                     static_cast<unsigned long long>(record.offset));
        return 1;
      }
    }
    seconds.push_back(ThreadCpuSeconds() - start);
  }
  std::sort(seconds.begin(), seconds.end());
  const double median = seconds[seconds.size() / 2];
  std::printf("{\"people\": %u, \"variants\": %zu, \"us_per_variant\": %.2f}\n", num_people,
              records.size(), median / static_cast<double>(records.size()) * 1e6);
  libdeflate_free_decompressor(inflater);
  close(fd);
  return 0;
}
