#include <algorithm>

#include <fmt/format.h>

#include "ancestry/match.h"
#include "ancestry/model/dataset_rows.h"
#include "ancestry/model/matched_store.h"
#include "ancestry/model/predict.h"
#include "base/format_number.h"
#include "base/parse_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

struct Words {
  std::string model;
  std::string seeds;
  std::string folds;
  std::string plink;
  std::string work_dir;
  std::string dataset;
  bool allow_duplicates = false;
  std::string label_by = "vote";
  std::string scale;
  PredictRequest request;
};

void Declare(CLI::App& app, Words& w) {
  PredictRequest& r = w.request;
  app.option_defaults()->always_capture_default();
  app.add_option("--model", w.model, "Folder of packages, or one package");
  app.add_option("--seeds", w.seeds, "Only these seeds, as 78,79");
  app.add_option("--folds", w.folds, "Only these folds, from 0");
  app.add_option("--work-dir", w.work_dir, "People to score: the work folder of match");
  app.add_option("--plink", w.plink,
                 "Instead: a PLINK fileset, lined up first with match's defaults in --work-dir "
                 "(unset: <out>.matched)");
  app.add_flag("--allow-duplicates", w.allow_duplicates,
               "With --plink: keep people who have the same FID and IID; else they are an error");
  app.add_option("--dataset", w.dataset, "Instead: a dataset (HDF5) with the model's SNPs");
  app.add_option("--out", r.out, "Table of predictions (TSV; gzip when it ends in .gz)");
  app.add_option("--parquet", r.parquet, "The same table as Parquet");
  app.add_option("--save-logits", r.save_logits, ".npz of every model's logits");
  app.add_option("--save-hidden", r.save_hidden, ".npz of every model's last hidden layer");
  app.add_option("--upstream-prefix", r.upstream_prefix,
                 "Also upstream's combined table and .npz of each model");
  app.add_flag("--per-model", r.per_model_columns, "A column with the label of each model");
  app.add_option("--label-by", w.label_by, "Label by vote (as upstream counts) or by mean");
  app.add_option("--min-agreement", r.limits.min_agreement,
                 "Unassigned below this share of models for the voted label");
  app.add_option("--min-probability", r.limits.min_probability,
                 "Unassigned below this mean probability of the label");
  app.add_option("--min-overlap", r.limits.min_overlap,
                 "Unassigned when fewer of the model's SNPs are there");
  app.add_option("--require-overlap", r.require_overlap,
                 "An error when fewer of the model's SNPs are there");
  app.add_option("--scale", w.scale, "Factor for absent SNPs; unset: model SNPs over matched SNPs");
  app.add_flag("--faithful", r.faithful, "Keep SNPs that did not vary in training, as upstream");
  app.add_option("--threads", r.num_threads, "Worker threads, 0 for all; never changes a byte");
}

Result<void> Translate(Words& w) {
  if (w.model.empty()) return UsageError("predict needs --model");
  if (!w.plink.empty() && w.work_dir.empty()) {
    if (w.request.out.empty()) return UsageError("--plink needs --work-dir or --out");
    w.work_dir = w.request.out + ".matched";
  }
  if (w.work_dir.empty() == w.dataset.empty()) {
    return UsageError("predict needs either --work-dir, --plink or --dataset",
                      "Line a cohort up with `tallele dietnet match` and give its work folder.");
  }
  if (w.allow_duplicates && w.plink.empty()) {
    return UsageError("--allow-duplicates needs --plink",
                      "For a matched cohort give it to `tallele dietnet match`.");
  }
  if (w.label_by != "vote" && w.label_by != "mean") {
    return UsageError("--label-by is " + w.label_by, "Give vote or mean.");
  }
  w.request.limits.label_by_mean = w.label_by == "mean";
  if (!w.scale.empty()) {
    double scale = 0;
    if (ParseDouble(w.scale, &scale) != NumberOutcome::kOk) {
      return UsageError("--scale is " + w.scale, "Give a number above 0.");
    }
    w.request.scale = scale;
  }
  TALLELE_ASSIGN(w.request.target, ChooseCpuTarget());
  return {};
}

// Lines the fileset of --plink up with the models, unless an earlier run did.
Result<void> Match(const Words& w, const std::vector<ModelPackage>& packages, Console& console,
                   const CancelToken& cancel) {
  MatchRequest request;
  request.calls.plink = w.plink;
  request.calls.allow_duplicate_people = w.allow_duplicates;
  request.work_dir = w.work_dir;
  request.rows.num_threads = static_cast<size_t>(std::max(0, w.request.num_threads));
  TALLELE_ASSIGN(const auto earlier, FindEarlierMatch(packages, request));
  MatchSummary summary;
  if (earlier) {
    summary = *earlier;
    console.Print("The fileset is unchanged since it was matched: taking " + w.work_dir + "/" +
                  kMatchedStoreName + ".");
    for (const std::string& finding : summary.findings) {
      console.Message(Severity::kWarning, finding);
    }
  } else {
    TALLELE_ASSIGN(summary, MatchCohort(packages, request, console, cancel));
  }
  console.Print(fmt::format("Matched {} of {} SNPs: {} swapped, {} on the other strand.",
                            FormatThousands(static_cast<int64_t>(summary.num_matched)),
                            FormatThousands(static_cast<int64_t>(summary.num_model_snps)),
                            FormatThousands(static_cast<int64_t>(summary.num_swapped)),
                            FormatThousands(static_cast<int64_t>(summary.num_flipped))));
  return {};
}

Result<std::unique_ptr<CohortRows>> OpenRows(const Words& w,
                                             const std::vector<ModelPackage>& packages,
                                             Console& console, const CancelToken& cancel) {
  if (!w.dataset.empty()) return OpenDatasetRows(w.dataset, packages.front().inputs->snps);
  if (!w.plink.empty()) TALLELE_TRY(Match(w, packages, console, cancel));
  return OpenMatchedStore(w.work_dir + "/" + kMatchedStoreName);
}

Result<PredictSummary> RunPredict(Words& w, Console& console, const CancelToken& cancel) {
  TALLELE_TRY(Translate(w));
  PackageFilter filter;
  TALLELE_ASSIGN(filter.seeds, ParseIntegerList(w.seeds, "--seeds"));
  TALLELE_ASSIGN(filter.folds, ParseIntegerList(w.folds, "--folds"));
  TALLELE_ASSIGN(const std::vector<ModelPackage> packages, ReadPackages(w.model, filter));
  TALLELE_ASSIGN(const auto rows, OpenRows(w, packages, console, cancel));
  return Predict(packages, *rows, w.request, console, cancel);
}

void PrintSummary(const PredictSummary& s, Console& console) {
  console.Print(
      fmt::format("Scored {} people with {} model(s) on {} of {} SNPs in {:.1f} s (scale {}).",
                  FormatThousands(static_cast<int64_t>(s.num_people)), s.num_models,
                  FormatThousands(static_cast<int64_t>(s.num_matched_snps)),
                  FormatThousands(static_cast<int64_t>(s.num_model_snps)), s.elapsed_seconds,
                  FormatSixDigits(s.scale)));
  if (s.num_left_out > 0) {
    console.Print(
        fmt::format("{} SNPs that did not vary in training were left out.", s.num_left_out));
  }
  for (size_t c = 0; c < s.class_names.size(); ++c) {
    if (s.class_counts[c] == 0) continue;
    console.Print(fmt::format("  {:<12} {}", s.class_names[c],
                              FormatThousands(static_cast<int64_t>(s.class_counts[c]))));
  }
  if (s.num_unassigned > 0) {
    console.Print(fmt::format("  {:<12} {}", "unassigned",
                              FormatThousands(static_cast<int64_t>(s.num_unassigned))));
  }
  console.Print(fmt::format("Vote and mean probability name different classes for {} people.",
                            FormatThousands(static_cast<int64_t>(s.num_disagreeing))));
  for (const std::string& file : s.files) console.Print("  " + file);
}

}  // namespace

int DietnetPredictCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  Words words;
  CLI::App app("Ancestry of everyone in a cohort with every model of a folder",
               "tallele dietnet predict");
  Declare(app, words);
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto summary = RunPredict(words, console, cancel);
  if (!summary) return Fail(summary.error(), cancel.signal_number());
  PrintSummary(*summary, console);
  return kExitSuccess;
}

}  // namespace tallele
