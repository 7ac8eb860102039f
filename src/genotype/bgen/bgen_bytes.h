#ifndef TALLELE_GENOTYPE_BGEN_BGEN_BYTES_H_
#define TALLELE_GENOTYPE_BGEN_BGEN_BYTES_H_

// For tests: BGEN files built byte by byte, right or spoiled at will. Follows the text of the
// format and shares no code with the readers or the writers.

#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "genotype/bgen/bgen_source.h"

namespace tallele::bgen_bytes {

struct Call {
  int ploidy = 2;
  bool missing = false;
  uint32_t a0 = 0, a1 = 0;
};

// One layout 2 variant; every number that its record repeats can be falsified.
struct Variant {
  std::string id = "v", rsid = "rs", chromosome = "1";
  uint32_t position = 1;
  std::vector<std::string> alleles = {"A", "C"};
  std::vector<Call> calls;
  int bits = 8;
  bool phased = false;
  std::optional<std::string> payload;         // instead of the calls
  std::function<void(std::string&)> damage;   // of the bytes before compression
  std::function<void(std::string&)> corrupt;  // of the bytes after compression
  int64_t declared_extra = 0;                 // added to the inflated length
};

template <typename T>
void Put(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    out += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
}

inline void PutText(std::string& out, const std::string& text) {
  Put(out, static_cast<uint16_t>(text.size()));
  out += text;
}

inline std::string PayloadBytes(const Variant& v) {
  std::string out;
  Put(out, static_cast<uint32_t>(v.calls.size()));
  Put(out, static_cast<uint16_t>(v.alleles.size()));
  int low = 63, high = 0;
  for (const Call& call : v.calls) {
    low = std::min(low, call.ploidy);
    high = std::max(high, call.ploidy);
  }
  out += static_cast<char>(low);
  out += static_cast<char>(high);
  for (const Call& call : v.calls) out += static_cast<char>(call.ploidy | (call.missing ? 128 : 0));
  out += static_cast<char>(v.phased);
  out += static_cast<char>(v.bits);
  std::vector<bool> stream;
  for (const Call& call : v.calls) {
    for (int k = 0; k < call.ploidy; ++k) {
      const uint32_t value = k == 0 ? call.a0 : call.a1;
      for (int b = 0; b < v.bits; ++b) stream.push_back((value >> b & 1) != 0);
    }
  }
  for (size_t at = 0; at < stream.size(); at += 8) {
    int byte = 0;
    for (size_t b = 0; b < 8 && at + b < stream.size(); ++b) byte |= stream[at + b] << b;
    out += static_cast<char>(byte);
  }
  return out;
}

inline std::string Compress(int compression, const std::string& bytes) {
  if (compression == 0) return bytes;
  if (compression == 2) {
    std::string out(ZSTD_compressBound(bytes.size()), 0);
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
    return out;
  }
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_zlib_compress_bound(compressor, bytes.size()), 0);
  out.resize(
      libdeflate_zlib_compress(compressor, bytes.data(), bytes.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

struct File {
  int layout = 2;
  int compression = 0;
  uint32_t num_samples = 0;
  std::vector<std::string> sample_ids;
  std::vector<Variant> variants;
};

inline std::string RecordBytes(const File& file, const Variant& v) {
  std::string out;
  if (file.layout == 1) Put(out, file.num_samples);
  PutText(out, v.id);
  PutText(out, v.rsid);
  PutText(out, v.chromosome);
  Put(out, v.position);
  if (file.layout == 2) Put(out, static_cast<uint16_t>(v.alleles.size()));
  for (const std::string& allele : v.alleles) {
    Put(out, static_cast<uint32_t>(allele.size()));
    out += allele;
  }
  std::string payload = v.payload ? *v.payload : PayloadBytes(v);
  if (v.damage) v.damage(payload);
  std::string stored = Compress(file.compression, payload);
  if (v.corrupt) v.corrupt(stored);
  const bool has_inflated = file.layout == 2 && file.compression != 0;
  if (file.layout == 2 || file.compression != 0)
    Put(out, static_cast<uint32_t>(stored.size() + (has_inflated ? 4 : 0)));
  if (has_inflated)
    Put(out, static_cast<uint32_t>(static_cast<int64_t>(payload.size()) + v.declared_extra));
  return out + stored;
}

inline std::string FileBytes(const File& file) {
  std::string ids;
  if (!file.sample_ids.empty()) {
    std::string texts;
    for (const std::string& id : file.sample_ids) PutText(texts, id);
    Put(ids, static_cast<uint32_t>(texts.size() + 8));
    Put(ids, file.num_samples);
    ids += texts;
  }
  std::string out;
  Put(out, static_cast<uint32_t>(20 + ids.size()));
  Put(out, uint32_t{20});
  Put(out, static_cast<uint32_t>(file.variants.size()));
  Put(out, file.num_samples);
  out += "bgen";
  Put(out, static_cast<uint32_t>(file.compression | file.layout << 2) |
               (ids.empty() ? 0 : uint32_t{1} << 31));
  out += ids;
  for (const Variant& v : file.variants) out += RecordBytes(file, v);
  return out;
}

// Calls of one kind: 0 diploid, 1 haploid, 2 one or two copies, 3 none to two; in some variants
// with missing calls, in some with few carriers.
inline Variant RandomVariant(std::mt19937& random, size_t people, int bits, bool phased, int kind) {
  Variant v;
  v.bits = bits;
  v.phased = phased;
  const uint64_t d = (uint64_t{1} << bits) - 1;
  const auto below = [&](uint64_t bound) { return random() % bound; };
  const bool rare = below(3) == 0, gaps = below(2) == 0;
  for (size_t i = 0; i < people; ++i) {
    Call call;
    call.ploidy = kind == 0   ? 2
                  : kind == 1 ? 1
                  : kind == 2 ? 1 + static_cast<int>(below(2))
                              : static_cast<int>(below(3));
    call.missing = gaps && below(6) == 0;
    if (!call.missing && !(rare && below(20) != 0)) {
      if (call.ploidy > 0) call.a0 = static_cast<uint32_t>(below(4) == 0 ? d : below(d + 1));
      if (call.ploidy > 1) {
        const uint64_t room = phased ? d : d - call.a0;
        call.a1 = static_cast<uint32_t>(below(3) == 0 ? room : below(room + 1));
      }
    }
    v.calls.push_back(call);
  }
  return v;
}

// The first error of opening and decoding everything, or nothing.
inline std::string FirstError(const std::string& path, CarrierPolicy carriers = {},
                              std::optional<std::vector<uint32_t>> chosen = std::nullopt) {
  auto source = OpenBgen(path);
  if (!source.ok()) return source.error().Message();
  auto cursor = (*source)->OpenCursor({(*source)->num_samples(), std::move(chosen)}, carriers,
                                      CpuTarget::kScalar);
  if (!cursor.ok()) return cursor.error().Message();
  VariantBlock block;
  Result<void> done = (*cursor)->Read({0, (*source)->variants().size()});
  if (done.ok()) done = (*cursor)->Decode(block);
  return done.ok() ? std::string() : done.error().Message();
}

}  // namespace tallele::bgen_bytes

#endif  // TALLELE_GENOTYPE_BGEN_BGEN_BYTES_H_
