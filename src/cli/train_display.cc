#include "cli/train_display.h"

#include <fmt/format.h>

#include <limits>

namespace tallele {
namespace {

// Fields of an event by name.
class FieldTable {
 public:
  explicit FieldTable(std::span<const EventField> fields) : fields_(fields) {}

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  int64_t Integer(std::string_view name) const { return Get<int64_t>(name, 0); }
  double Real(std::string_view name) const {
    return Get<double>(name, std::numeric_limits<double>::quiet_NaN());
  }
  bool Flag(std::string_view name) const { return Get<bool>(name, false); }
  std::string_view Text(std::string_view name) const { return Get<std::string_view>(name, ""); }

 private:
  const EventField* Find(std::string_view name) const {
    for (const EventField& field : fields_) {
      if (field.name == name) return &field;
    }
    return nullptr;
  }
  template <typename T>
  T Get(std::string_view name, T otherwise) const {
    const EventField* field = Find(name);
    const T* value = field == nullptr ? nullptr : std::get_if<T>(&field->value);
    return value == nullptr ? otherwise : *value;
  }

  std::span<const EventField> fields_;
};

std::string ModelName(const FieldTable& f) {
  return fmt::format("seed {} fold {}", f.Integer("seed"), f.Integer("fold"));
}

// An accuracy, or in a regression the loss.
std::string ResultText(const FieldTable& f, const std::string& set) {
  if (f.Has(set + "_accuracy")) return fmt::format("{:.2f} %", f.Real(set + "_accuracy"));
  return fmt::format("loss {:.4f}", f.Real(set + "_loss"));
}

std::string EpochStatus(const FieldTable& f) {
  return fmt::format(
      "{}  epoch {} of {}  loss {:.4f}, valid {:.4f}  valid {}{}  {:.2f} s an epoch"
      ", {} left at most",
      ModelName(f), f.Integer("epoch"), f.Integer("most_epochs"), f.Real("train_loss"),
      f.Real("valid_loss"), ResultText(f, "valid"), f.Flag("saved_best") ? " best" : "",
      f.Real("seconds_an_epoch"), DurationText(f.Real("seconds_left_at_most")));
}

}  // namespace

void TrainDisplay::Event(std::string_view name, std::span<const EventField> fields) {
  const FieldTable f(fields);
  if (name == "epoch") {
    console_.Status(ModelName(f), EpochStatus(f));
  } else if (name == "model_finished") {
    console_.Status(ModelName(f), "");
    if (f.Text("status") != "completed") return;
    console_.Message(
        Severity::kInfo,
        fmt::format("{}: {} epochs, best {}, valid {}, test {}", ModelName(f), f.Integer("epochs"),
                    f.Integer("best_epoch"), ResultText(f, "valid"), ResultText(f, "test")));
  }
}

}  // namespace tallele
