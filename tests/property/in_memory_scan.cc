#include "tests/property/in_memory_scan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>

namespace tallele::property {
namespace {

class MadePredictions final : public LocoPredictions {
 public:
  explicit MadePredictions(const std::vector<std::vector<double>>& values) : values_(values) {}
  bool HasTrait(size_t) const override { return true; }
  bool HasChromosome(size_t, int) const override { return true; }
  Result<LocoVector> Load(size_t trait, int) const override {
    LocoVector vector;
    vector.values = values_[trait];
    return vector;
  }
  std::string path(size_t) const override { return "made.loco"; }
  std::string fingerprint(size_t) const override { return ""; }

 private:
  const std::vector<std::vector<double>>& values_;
};

uint16_t Joined(StoredPair pair) { return static_cast<uint16_t>(pair.a0 | pair.a1 << 8); }

void AddSparse(const MadeVariant& made, std::span<const StoredPair> pairs, DecodedVariant& variant,
               VariantBlock& block) {
  variant.is_sparse = true;
  variant.baseline = Joined(pairs[0]);
  std::vector<uint32_t> carriers;
  std::vector<uint16_t> carrier_pairs;
  for (uint32_t p = 0; p < pairs.size(); ++p) {
    if (Joined(pairs[p]) == variant.baseline) continue;
    carriers.push_back(p);
    carrier_pairs.push_back(Joined(pairs[p]));
  }
  variant.carriers = block.StoreIndices(carriers);
  variant.carrier_pairs = block.StorePairs(carrier_pairs);
  ASSERT_LE(made.denominator, 255u);
}

void AddDense(const MadeVariant& made, std::span<const StoredPair> pairs, DecodedVariant& variant,
              VariantBlock& block) {
  size_t planes = 1;
  while ((uint64_t{made.denominator} >> (8 * planes)) != 0) ++planes;
  uint8_t* row = block.ScratchRow();
  variant.first_row = static_cast<uint32_t>(block.rows().num_rows);
  variant.num_planes = static_cast<uint8_t>(planes);
  const size_t stride = block.rows().stride;
  for (size_t k = 0; k < planes; ++k) {
    std::fill_n(row + k * stride, 2 * PaddedPeople(pairs.size()), 0);
    for (size_t p = 0; p < pairs.size(); ++p) {
      row[k * stride + 2 * p] = static_cast<uint8_t>(pairs[p].a0 >> (8 * k));
      row[k * stride + 2 * p + 1] = static_cast<uint8_t>(pairs[p].a1 >> (8 * k));
    }
  }
  block.KeepRows(planes, planes > 1 || made.phased ? PairBound::kAnyBytes : PairBound::kSumUpTo255);
}

void AddVariant(const MadeVariant& made, const ScanAxis& axis, VariantBlock& block) {
  std::vector<uint32_t> people(axis.num_block_people());
  std::iota(people.begin(), people.end(), 0);
  std::vector<StoredPair> pairs;
  std::vector<uint32_t> missing;
  std::vector<uint32_t> haploid;
  for (const uint32_t p : people) {
    const uint32_t file = axis.selection.file_positions ? (*axis.selection.file_positions)[p] : p;
    pairs.push_back(made.calls[file].value_or(StoredPair{}));
    if (!made.calls[file]) missing.push_back(p);
    if (made.IsHaploid(file)) haploid.push_back(p);
  }
  DecodedVariant variant;
  variant.kind = made.phased ? CallKind::kPhased : CallKind::kUnphased;
  variant.denominator = made.denominator;
  (made.sparse ? AddSparse : AddDense)(made, pairs, variant, block);
  variant.missing = block.StoreIndices(missing);
  variant.haploid = block.StoreIndices(haploid);
  block.mutable_variants().push_back(variant);
  block.mutable_variants().back().moments =
      SubsetMoments(block, block.variant(block.num_variants() - 1), people);
}

VariantIndex IndexOf(const InMemoryScan& scan) {
  VariantIndex index;
  for (const MadeVariant& made : scan.variants) {
    VariantRecord record;
    record.chromosome = scan.chromosome;
    record.position = made.position;
    record.id = "v";
    record.first_allele = "A";
    record.second_allele = "C";
    index.Add(record);
  }
  return index;
}

}  // namespace

std::optional<golden::Real> MadeVariant::Value(size_t person, const Coding& coding) const {
  if (!calls[person]) return std::nullopt;
  const golden::Real d = denominator;
  const golden::Real a = calls[person]->a0 / d;
  const golden::Real b = calls[person]->a1 / d;
  golden::Real two = a;
  golden::Real one = b;
  if (IsHaploid(person)) {
    one = 0;
  } else if (phased) {
    two = a * b;
    one = a * (1 - b) + b * (1 - a);
  }
  const golden::Real none = 1 - two - one;
  const golden::Real homs = coding.effect_is_second ? none : two;
  switch (coding.model) {
    case GeneticModel::kDominant:
      return homs + one;
    case GeneticModel::kRecessive:
      return homs;
    default:
      return 2 * homs + one;
  }
}

std::vector<ResultTable> InMemoryScan::Run(CpuTarget target, size_t width) const {
  std::vector<bool> used(cohort.base.size(), false);
  for (const TraitColumn& trait : cohort.traits) {
    for (size_t b = 0; b < used.size(); ++b) used[b] = used[b] || !std::isnan(trait.values[b]);
  }
  const ScanAxis axis = ChooseScanAxis(num_file_people, cohort.base, used);
  auto basis = BuildCovariateBasis(cohort.covariates, cohort.covariate_names, cohort.base.size());
  EXPECT_TRUE(basis.ok());
  const MadePredictions predictions(loco);
  NullModelInputs inputs;
  inputs.axis = &axis;
  inputs.basis = &*basis;
  inputs.cohort = &cohort;
  inputs.loco = loco.empty() ? nullptr : &predictions;
  for (const Sex sex : cohort.base_sex) inputs.is_male.push_back(sex == Sex::kMale);
  inputs.target = target;
  if (is_binary) inputs.binary = &binary;
  NullModelFitter fitter(inputs);
  std::vector<size_t> traits(cohort.traits.size());
  std::iota(traits.begin(), traits.end(), 0);
  FitReport report;
  auto state = fitter.Fit(traits, chromosome_code, chromosome, report);
  EXPECT_TRUE(state.ok());
  EXPECT_TRUE(report.problems.empty());

  const VariantIndex index = IndexOf(*this);
  const BinaryCorrector corrector(binary, *basis, target);
  tbb::enumerable_thread_specific<CorrectionScratch> scratch;
  BlockTester tester(settings, index, corrector, scratch);
  std::vector<TraitRows> rows(traits.size());
  SkippedVariants skipped;
  VariantBlock block;
  for (size_t first = 0; first < variants.size(); first += width) {
    const size_t count = std::min(width, variants.size() - first);
    block.Reset({first, count}, axis.num_block_people());
    for (size_t v = first; v < first + count; ++v) AddVariant(variants[v], axis, block);
    tester.Test(block, **state, rows, skipped);
  }
  std::vector<ResultTable> tables;
  for (TraitRows& trait : rows) tables.push_back(std::move(trait.table));
  return tables;
}

golden::Real InMemoryScan::ExpectFrequency(size_t trait, size_t variant) const {
  const Coding additive{GeneticModel::kAdditive, settings.coding.effect_is_second};
  golden::Real sum = 0;
  size_t n = 0;
  for (size_t b = 0; b < cohort.base.size(); ++b) {
    const bool member = !std::isnan(cohort.traits[trait].values[b]) &&
                        (loco.empty() || !std::isnan(loco[trait][b]));
    const auto dosage = variants[variant].Value(cohort.base[b], additive);
    if (!member || !dosage) continue;
    sum += *dosage;
    ++n;
  }
  return sum / (2 * static_cast<golden::Real>(n));
}

golden::ReferenceRow InMemoryScan::Expect(size_t trait, size_t variant) const {
  std::vector<std::vector<double>> covariates(cohort.covariates.size());
  std::vector<double> values;
  std::vector<double> predictions;
  std::vector<std::optional<golden::Real>> dosage;
  for (size_t b = 0; b < cohort.base.size(); ++b) {
    const double y = cohort.traits[trait].values[b];
    if (std::isnan(y) || (!loco.empty() && std::isnan(loco[trait][b]))) continue;
    values.push_back(y);
    if (!loco.empty()) predictions.push_back(loco[trait][b]);
    for (size_t c = 0; c < covariates.size(); ++c) {
      covariates[c].push_back(cohort.covariates[c][b]);
    }
    dosage.push_back(variants[variant].Value(cohort.base[b], settings.coding));
  }
  return golden::TestReferenceVariant(golden::FitReferenceNull(covariates, values, predictions),
                                      dosage);
}

InMemoryScan MakeScan(size_t n) {
  InMemoryScan scan;
  scan.num_file_people = n;
  scan.cohort.base.resize(n);
  std::iota(scan.cohort.base.begin(), scan.cohort.base.end(), 0);
  scan.cohort.base_sex.assign(n, Sex::kFemale);
  scan.settings.has_probabilities = true;
  scan.settings.min_mac = 0;
  return scan;
}

void AddTrait(InMemoryScan& scan, std::string name, std::vector<double> values) {
  TraitColumn trait;
  trait.name = std::move(name);
  trait.values = std::move(values);
  scan.cohort.traits.push_back(std::move(trait));
}

}  // namespace tallele::property
