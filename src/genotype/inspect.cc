#include "genotype/inspect.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "base/file_env.h"
#include "genotype/bed/bed_source.h"
#include "genotype/bgen/bgen_source.h"

namespace tallele {
namespace {

int BitsOf(const DecodedVariant& variant) {
  if (variant.denominator == 1) return 0;
  if (variant.denominator == 32768) return 16;  // layout 1 stores 16-bit numbers
  return std::bit_width(variant.denominator);
}

void CountChromosomes(const VariantIndex& variants, GenotypeSummary& summary) {
  for (const ChromosomeRun& run : variants.runs()) {
    const auto known = std::find_if(summary.chromosomes.begin(), summary.chromosomes.end(),
                                    [&](const auto& c) { return c.label == run.label; });
    if (known == summary.chromosomes.end()) {
      summary.chromosomes.push_back({run.label, run.range.count});
    } else {
      known->num_variants += run.range.count;
    }
  }
  for (size_t v = 0; v < variants.size(); ++v) {
    summary.num_multiallelic += variants[v].num_alleles != 2;
  }
}

}  // namespace

Result<GenotypeSummary> InspectGenotypes(const GenotypeSource& source, size_t variants_to_decode) {
  GenotypeSummary summary;
  summary.format = source.format();
  summary.num_samples = source.num_samples();
  summary.num_variants = source.variants().size();
  CountChromosomes(source.variants(), summary);
  TALLELE_ASSIGN(const CpuTarget target, ChooseCpuTarget());
  TALLELE_ASSIGN(const auto cursor,
                 source.OpenCursor({source.num_samples(), std::nullopt}, {}, target));
  const size_t wanted = std::min(variants_to_decode, summary.num_variants);
  VariantBlock block;
  std::set<int> bits;
  size_t missing = 0;
  for (size_t k = 0; k < wanted; ++k) {
    const size_t variant = k * summary.num_variants / wanted;
    TALLELE_TRY(cursor->Read({variant, 1}));
    TALLELE_TRY(cursor->Decode(block));
    const DecodedVariant& v = block.variant(0);
    summary.num_high_ploidy += v.state == VariantState::kHighPloidy;
    if (v.state != VariantState::kUsable) continue;
    ++summary.num_decoded;
    summary.num_phased += v.kind == CallKind::kPhased;
    summary.num_with_haploid += !v.haploid.empty();
    missing += v.missing.size();
    bits.insert(BitsOf(v));
  }
  summary.bits.assign(bits.begin(), bits.end());
  const double calls = static_cast<double>(summary.num_decoded * summary.num_samples);
  summary.missing_share = calls > 0 ? static_cast<double>(missing) / calls : 0;
  return summary;
}

Result<std::unique_ptr<GenotypeSource>> OpenGenotypes(const std::string& path) {
  const auto has_suffix = [&](std::string_view suffix) { return path.ends_with(suffix); };
  for (const std::string_view suffix : {".bim", ".fam"}) {
    if (has_suffix(suffix)) return OpenBed(path.substr(0, path.size() - suffix.size()), nullptr);
  }
  FileEnv& env = PosixFileEnv();
  if (!env.Identity(path).ok() && env.Identity(path + ".bed").ok()) return OpenBed(path, nullptr);
  TALLELE_ASSIGN(const auto file, env.OpenToRead(path));
  TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
  std::array<std::byte, 2> magic{};
  if (identity.size >= 2) TALLELE_TRY(file->ReadAt(0, magic));
  const bool is_bed = magic[0] == std::byte{0x6c} && magic[1] == std::byte{0x1b};
  if (is_bed || has_suffix(".bed")) return OpenBed(path, nullptr);
  return OpenBgen(path);
}

}  // namespace tallele
