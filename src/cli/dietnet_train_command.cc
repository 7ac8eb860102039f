#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "ancestry/train/train_models.h"
#include "base/format_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"
#include "cli/train_display.h"
#include "cli/version.h"
#include "results/run_folder.h"

namespace tallele {
namespace {

struct Words {
  std::string seeds;
  std::string folds;
  std::string engine = "dietnet";
  std::string inputs;
  std::string loader = "fast";
  std::string task = "classification";
  std::string model = "dietnet";
  std::string device = "cpu";
  std::string events;
  int gpus = 0;
  bool no_normalize = false;
  bool verbose = false;
  TrainRequest request;
};

void Declare(CLI::App& app, Words& w) {
  TrainRequest& r = w.request;
  app.option_defaults()->always_capture_default();
  app.add_option("--dataset", r.dataset, "Dataset (HDF5)");
  app.add_option("--partition", r.partition, "Folds (.npz)");
  app.add_option("--config", r.config, "Settings of the training (YAML)");
  app.add_option("--out", r.out, "Folder of packages, states and results");
  app.add_option("--input-stats,--input-features-means", r.input_stats,
                 "Means and deviations (.npz); unset: computed");
  app.add_option("--embedding", r.embedding, "Embedding (.npz); unset: computed");
  app.add_option("--bim", r.bim, "Alleles of the SNPs; unset: <dataset>.bim if it is there");
  app.add_option("--seeds", w.seeds, "Seeds, as 78,79,80; unset: the configuration's");
  app.add_option("--folds", w.folds, "Folds from 0, as 0,1 or 0-4; unset: all");
  app.add_option("--engine", w.engine,
                 "dietnet: fast, random streams of its own; upstream: PyTorch's draws and order to "
                 "the letter, which is the default of the Python program");
  app.add_option("--inputs", w.inputs,
                 "Where genotypes are read: memmap (the dataset), packed (its packed copy) or ram; "
                 "unset: the packed copy if there is one, else memory if it fits");
  app.add_option("--loader", w.loader,
                 "fast: the next batch is read while one is computed; plain: one after the other");
  app.add_option("--task", w.task, "classification, or regression on the dataset's values");
  app.add_option("--model", w.model, "dietnet, or mlp: the baseline without auxiliary network");
  app.add_flag("--no-normalize", w.no_normalize, "Inputs are copies, not (copies - mean) / sd");
  app.add_flag("--save-pt", r.save_pt, "Also upstream's best_model.pt and last_model.pt");
  app.add_flag("--resume", r.resume, "Go on with the trainings that --out holds");
  app.add_option("--checkpoint-seconds", r.checkpoint_seconds,
                 "States are written at the first end of an epoch after so many seconds");
  app.add_option("--threads", r.num_threads, "Worker threads, 0 for all; never changes a byte");
  app.add_option("--jobs", r.num_jobs,
                 "Models trained at once, 0 for as many as threads; never changes a byte");
  app.add_option("--device", w.device, "cpu");
  app.add_option("--gpus", w.gpus, "Refused: there is no GPU back end");
  app.add_option("--events", w.events,
                 "File of events (JSON lines), appended to; off for none; unset: "
                 "<out>/logs/events.jsonl");
  app.add_flag("--verbose", w.verbose, "A line for every epoch");
}

// One of some words, as an index.
Result<size_t> ChooseWord(const std::string& flag, const std::string& word,
                          const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  return UsageError(flag + " is " + word, fmt::format("Give {}.", fmt::join(words, " or ")));
}

// "0-4" becomes 0,1,2,3,4.
Result<std::vector<int64_t>> ParseFolds(const std::string& text) {
  const size_t dash = text.find('-');
  if (dash == std::string::npos || dash == 0) return ParseIntegerList(text, "--folds");
  TALLELE_ASSIGN(const auto first, ParseIntegerList(text.substr(0, dash), "--folds"));
  TALLELE_ASSIGN(const auto last, ParseIntegerList(text.substr(dash + 1), "--folds"));
  constexpr int64_t kMostFolds = 10'000;
  if (first.size() != 1 || last.size() != 1 || last[0] < first[0] || last[0] > kMostFolds) {
    return UsageError("--folds is " + text, "Give a list as 0,2 or a range as 0-4.");
  }
  std::vector<int64_t> folds;
  for (int64_t fold = first[0]; fold <= last[0]; ++fold) folds.push_back(fold);
  return folds;
}

Result<void> Translate(Words& w) {
  TrainRequest& r = w.request;
  if (w.gpus != 0 || w.device != "cpu") {
    Error error = UsageError("there is no GPU back end", "Leave out --gpus and --device.");
    error.kind = ErrorKind::kUnsupported;
    return error;
  }
  if (r.dataset.empty() || r.partition.empty() || r.config.empty() || r.out.empty()) {
    return UsageError("train needs --dataset, --partition, --config and --out");
  }
  if (!(r.checkpoint_seconds >= 0)) return UsageError("--checkpoint-seconds is negative");
  TALLELE_ASSIGN(r.seeds, ParseIntegerList(w.seeds, "--seeds"));
  TALLELE_ASSIGN(r.folds, ParseFolds(w.folds));
  TALLELE_ASSIGN(const size_t engine, ChooseWord("--engine", w.engine, {"dietnet", "upstream"}));
  r.engine = engine == 0 ? TrainEngine::kDietnet : TrainEngine::kUpstream;
  if (!w.inputs.empty()) {
    constexpr InputKind kKinds[] = {InputKind::kMemmap, InputKind::kPacked, InputKind::kRam};
    TALLELE_ASSIGN(const size_t kind,
                   ChooseWord("--inputs", w.inputs, {"memmap", "packed", "ram"}));
    r.inputs = kKinds[kind];
  }
  TALLELE_ASSIGN(const size_t loader, ChooseWord("--loader", w.loader, {"fast", "plain"}));
  r.prefetch = loader == 0;
  TALLELE_ASSIGN(const size_t task, ChooseWord("--task", w.task, {"classification", "regression"}));
  r.regression = task == 1;
  TALLELE_ASSIGN(const size_t model, ChooseWord("--model", w.model, {"dietnet", "mlp"}));
  r.plain = model == 1;
  r.normalise = !w.no_normalize;
  r.version = kVersion;
  r.events = w.events.empty() ? r.out + "/logs/" + kEventLogName : w.events;
  if (w.events == "off") r.events.clear();
  TALLELE_ASSIGN(r.target, ChooseCpuTarget());
  return {};
}

struct Spread {
  double mean = 0;
  double deviation = 0;
};

Spread SpreadOf(const std::vector<double>& values) {
  Spread s;
  for (const double x : values) s.mean += x / static_cast<double>(values.size());
  for (const double x : values) s.deviation += (x - s.mean) * (x - s.mean);
  s.deviation =
      values.size() > 1 ? std::sqrt(s.deviation / static_cast<double>(values.size() - 1)) : 0;
  return s;
}

void PrintModels(const TrainSummary& s, Console& console) {
  const char* measure = s.regression ? "loss" : "accuracy";
  console.Print(fmt::format("{:>6} {:>5} {:>7} {:>6} {:>14} {:>14}", "seed", "fold", "epochs",
                            "best", fmt::format("valid {}", measure),
                            fmt::format("test {}", measure)));
  std::vector<double> tests;
  for (const ModelOutcome& m : s.models) {
    if (m.error) {
      console.Print(fmt::format("{:>6} {:>5} failed: {}", m.seed, m.fold, m.error->Message()));
      continue;
    }
    const double valid = s.regression ? m.valid.loss : m.valid.accuracy;
    tests.push_back(s.regression ? m.test.loss : m.test.accuracy);
    console.Print(fmt::format("{:>6} {:>5} {:>7} {:>6} {:>14.4f} {:>14.4f}{}", m.seed, m.fold,
                              m.epochs, m.best_epoch, valid, tests.back(),
                              m.was_finished ? "  (finished before)" : ""));
  }
  if (tests.size() > 1) {
    const Spread spread = SpreadOf(tests);
    console.Print(fmt::format("Test {}: mean {:.4f}, sd {:.4f} over {} models.", measure,
                              spread.mean, spread.deviation, tests.size()));
  }
}

void PrintClasses(const TrainSummary& s, Console& console) {
  if (s.regression) return;
  console.Print("Test people of each class that get it, over all models:");
  for (size_t c = 0; c < s.class_names.size(); ++c) {
    int64_t right = 0, people = 0;
    for (const ModelOutcome& m : s.models) {
      if (m.error) continue;
      right += m.right[c];
      people += m.people[c];
    }
    if (people == 0) continue;
    console.Print(fmt::format("  {:<12} {} of {} ({:.1f} %)", s.class_names[c],
                              FormatThousands(right), FormatThousands(people),
                              100.0 * static_cast<double>(right) / static_cast<double>(people)));
  }
}

void PrintSummary(const Words& w, const TrainSummary& s, Console& console) {
  PrintModels(s, console);
  if (s.NumFailed() < s.models.size()) PrintClasses(s, console);
  console.Print(fmt::format("Genotypes came from {}.", s.rows));
  console.Print("  " + w.request.out);
  if (!w.request.plain && !w.request.regression) {
    console.Print("Check it: tallele dietnet check --packages " + w.request.out);
  }
}

Result<TrainSummary> RunTrain(Words& w, Console& console, const CancelToken& cancel) {
  TALLELE_TRY(Translate(w));
  TrainDisplay display(console);
  return TrainModels(w.request, display, cancel);
}

}  // namespace

int DietnetTrainCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  Words words;
  CLI::App app("Trains a model for every seed and fold", "tallele dietnet train");
  Declare(app, words);
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({.quiet = false, .verbose = words.verbose});
  const auto summary = RunTrain(words, console, cancel);
  if (!summary) return Fail(summary.error(), cancel.signal_number());
  PrintSummary(words, *summary, console);
  if (summary->NumFailed() == summary->models.size()) return 1;
  return summary->NumFailed() > 0 ? kExitPartial : kExitSuccess;
}

}  // namespace tallele
