#include "ancestry/model/pickle.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

namespace tallele {
namespace {

using Kind = PickleValue::Kind;

const std::vector<const PickleValue*> kNoItems;

struct GlobalName {
  std::string_view module;
  std::string_view name;
  PickleGlobal global;
};

constexpr GlobalName kGlobals[] = {
    {"collections", "OrderedDict", PickleGlobal::kOrderedDict},
    {"torch._utils", "_rebuild_tensor_v2", PickleGlobal::kRebuildTensor},
    {"torch", "FloatStorage", PickleGlobal::kFloatStorage},
    {"torch", "DoubleStorage", PickleGlobal::kDoubleStorage},
    {"torch", "HalfStorage", PickleGlobal::kHalfStorage},
    {"torch", "LongStorage", PickleGlobal::kLongStorage},
    {"numpy.core.multiarray", "_reconstruct", PickleGlobal::kNumpyReconstruct},
    {"numpy._core.multiarray", "_reconstruct", PickleGlobal::kNumpyReconstruct},
    {"numpy.core.multiarray", "scalar", PickleGlobal::kNumpyScalar},
    {"numpy._core.multiarray", "scalar", PickleGlobal::kNumpyScalar},
    {"numpy", "ndarray", PickleGlobal::kNumpyArray},
    {"numpy", "dtype", PickleGlobal::kNumpyDtype},
    {"_codecs", "encode", PickleGlobal::kCodecsEncode},
};

bool MayBeCalled(PickleGlobal global) {
  switch (global) {
    case PickleGlobal::kOrderedDict:
    case PickleGlobal::kRebuildTensor:
    case PickleGlobal::kNumpyReconstruct:
    case PickleGlobal::kNumpyScalar:
    case PickleGlobal::kNumpyDtype:
    case PickleGlobal::kCodecsEncode:
      return true;
    default:
      return false;
  }
}

// Decodes UTF-8 to Latin-1 bytes; nothing when a character is above U+00FF or malformed.
std::optional<std::string> Latin1Bytes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      out.push_back(text[i]);
      continue;
    }
    if ((c != 0xc2 && c != 0xc3) || i + 1 == text.size()) return std::nullopt;
    const auto next = static_cast<unsigned char>(text[++i]);
    if ((next & 0xc0) != 0x80) return std::nullopt;
    out.push_back(static_cast<char>((c & 3) << 6 | (next & 0x3f)));
  }
  return out;
}

std::string Printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 80)) out += c >= ' ' && c < 0x7f ? c : '?';
  return out;
}

}  // namespace

const std::vector<const PickleValue*>& PickleValue::items() const {
  return compound == nullptr ? kNoItems : compound->items;
}

const PickleValue* PickleValue::state() const {
  return compound == nullptr ? nullptr : compound->state;
}

const PickleValue* PickleValue::Find(std::string_view key) const {
  if (kind != Kind::kDict) return nullptr;
  const auto& entries = items();
  for (size_t i = entries.size(); i >= 2; i -= 2) {  // a later entry replaces an earlier one
    if (entries[i - 2]->kind == Kind::kText && entries[i - 2]->text == key) return entries[i - 1];
  }
  return nullptr;
}

// The stack machine. Each opcode makes at most one value, so values are bounded by the bytes read;
// the one operation that copies, _codecs.encode, may make at most as many bytes as the file has.
class PickleMachine {
 public:
  PickleMachine(Pickle& pickle, const std::string& where)
      : pickle_(pickle), where_(where), bytes_(*pickle.bytes_) {}

  Result<void> Run() {
    TALLELE_TRY(ReadProtocol());
    for (;;) {
      opcode_at_ = position_;
      TALLELE_ASSIGN(const std::string_view code, Take(1));
      if (code[0] == '.') return Stop();
      TALLELE_TRY(Execute(static_cast<unsigned char>(code[0])));
    }
  }

 private:
  Error Fail(std::string what, std::string found = {}, std::string expected = {}) const {
    Error error =
        InputError(std::move(what), fmt::format("{}, pickle byte {}", where_, opcode_at_));
    error.found = std::move(found);
    error.expected = std::move(expected);
    return error;
  }

  Result<std::string_view> Take(uint64_t count) {
    if (count > bytes_.size() - position_) {
      return Fail("the pickle ends in the middle",
                  fmt::format("{} more bytes", bytes_.size() - position_),
                  fmt::format("{}", count));
    }
    const std::string_view taken = bytes_.substr(position_, count);
    position_ += count;
    return taken;
  }

  // A little-endian unsigned number of `size` bytes.
  Result<uint64_t> TakeNumber(size_t size) {
    TALLELE_ASSIGN(const std::string_view raw, Take(size));
    uint64_t number = 0;
    for (size_t i = size; i-- > 0;) number = number << 8 | static_cast<unsigned char>(raw[i]);
    return number;
  }

  Result<void> ReadProtocol() {
    TALLELE_ASSIGN(const std::string_view start, Take(2));
    const int protocol = static_cast<unsigned char>(start[1]);
    if (start[0] != '\x80' || protocol < 2 || protocol > 4) {
      return Fail("this is no pickle of protocol 2, 3 or 4",
                  start[0] == '\x80' ? fmt::format("protocol {}", protocol) : "other bytes",
                  "protocol 2 to 4");
    }
    return {};
  }

  PickleValue& New(Kind kind) {
    PickleValue& value = pickle_.values_.emplace_back();
    value.kind = kind;
    return value;
  }
  PickleValue& NewCompound(Kind kind, std::vector<const PickleValue*> items) {
    PickleValue& value = New(kind);
    value.compound = &pickle_.compounds_.emplace_back();
    value.compound->items = std::move(items);
    return value;
  }
  void Push(PickleValue& value) { stack_.push_back(&value); }
  void PushInteger(int64_t number, Kind kind = Kind::kInteger) {
    PickleValue& value = New(kind);
    value.integer = number;
    Push(value);
  }
  Result<void> PushText(Kind kind, size_t length_bytes) {
    TALLELE_ASSIGN(const uint64_t length, TakeNumber(length_bytes));
    TALLELE_ASSIGN(const std::string_view text, Take(length));
    PickleValue& value = New(kind);
    value.text = text;
    Push(value);
    return {};
  }

  size_t Floor() const { return marks_.empty() ? 0 : marks_.back(); }
  Result<PickleValue*> Pop() {
    if (stack_.size() <= Floor()) return Fail("the pickle takes a value from an empty stack");
    PickleValue* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  Result<PickleValue*> Top() {
    if (stack_.size() <= Floor()) return Fail("the pickle needs a value, but its stack is empty");
    return stack_.back();
  }
  Result<std::vector<const PickleValue*>> PopToMark() {
    if (marks_.empty()) return Fail("the pickle asks for a mark that was never set");
    std::vector<const PickleValue*> items(stack_.begin() + static_cast<ptrdiff_t>(marks_.back()),
                                          stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }

  Result<void> Execute(unsigned char code) {
    switch (code) {
      case '(':
        marks_.push_back(stack_.size());
        return {};
      case 'N':
        Push(New(Kind::kNone));
        return {};
      case 0x88:
        PushInteger(1, Kind::kBool);
        return {};
      case 0x89:
        PushInteger(0, Kind::kBool);
        return {};
      case 'J':
      case 'K':
      case 'M':
      case 0x8a:
      case 'G':
        return Number(code);
      case 'X':
        return PushText(Kind::kText, 4);
      case 0x8c:
        return PushText(Kind::kText, 1);
      case 'C':
        return PushText(Kind::kBytes, 1);
      case 'B':
        return PushText(Kind::kBytes, 4);
      case ')':
      case 0x85:
      case 0x86:
      case 0x87:
      case 't':
        return Tuple(code);
      case ']':
        Push(NewCompound(Kind::kList, {}));
        return {};
      case '}':
        Push(NewCompound(Kind::kDict, {}));
        return {};
      case 'a':
      case 'e':
        return Append(code == 'e');
      case 's':
      case 'u':
        return SetItems(code == 'u');
      case 'c':
      case 0x93:
        return Global(code == 0x93);
      case 'R':
        return Reduce();
      case 'b':
        return Build();
      case 'Q':
        return Persistent();
      case 'q':
      case 'r':
        return Put(code == 'q' ? 1 : 4);
      case 'h':
      case 'j':
        return Get(code == 'h' ? 1 : 4);
      case 0x94:
        return Memoize(memo_.size());
      case 0x95:
        return Frame();
      default:
        return Fail("the pickle uses an operation that no NumPy array or checkpoint needs",
                    fmt::format("opcode 0x{:02x}", code));
    }
  }

  Result<void> Number(unsigned char code) {
    if (code == 'J') {
      TALLELE_ASSIGN(const uint64_t raw, TakeNumber(4));
      PushInteger(static_cast<int32_t>(raw));
    } else if (code == 'K' || code == 'M') {
      TALLELE_ASSIGN(const uint64_t raw, TakeNumber(code == 'K' ? 1 : 2));
      PushInteger(static_cast<int64_t>(raw));
    } else if (code == 'G') {  // big-endian
      TALLELE_ASSIGN(const std::string_view raw, Take(8));
      uint64_t bits = 0;
      for (const char c : raw) bits = bits << 8 | static_cast<unsigned char>(c);
      PickleValue& value = New(Kind::kReal);
      std::memcpy(&value.real, &bits, 8);
      Push(value);
    } else {
      return LongInteger();
    }
    return {};
  }

  Result<void> LongInteger() {
    TALLELE_ASSIGN(const uint64_t size, TakeNumber(1));
    if (size > 8) return Fail("the pickle holds an integer of more than 64 bits");
    TALLELE_ASSIGN(uint64_t raw, TakeNumber(size));
    if (size > 0 && size < 8 && (raw >> (8 * size - 1) & 1) != 0) raw |= ~uint64_t{0} << (8 * size);
    PushInteger(static_cast<int64_t>(raw));
    return {};
  }

  Result<void> Tuple(unsigned char code) {
    std::vector<const PickleValue*> items;
    if (code == 't') {
      TALLELE_ASSIGN(items, PopToMark());
    } else if (code != ')') {
      items.resize(code - 0x84);
      for (size_t i = items.size(); i-- > 0;) {
        TALLELE_ASSIGN(items[i], Pop());
      }
    }
    Push(NewCompound(Kind::kTuple, std::move(items)));
    return {};
  }

  Result<void> Append(bool many) {
    std::vector<const PickleValue*> items(1);
    if (many) {
      TALLELE_ASSIGN(items, PopToMark());
    } else {
      TALLELE_ASSIGN(items[0], Pop());
    }
    TALLELE_ASSIGN(PickleValue* const list, Top());
    if (!list->Is(Kind::kList)) return Fail("the pickle appends to something that is no list");
    auto& to = list->compound->items;
    to.insert(to.end(), items.begin(), items.end());
    return {};
  }

  Result<void> SetItems(bool many) {
    std::vector<const PickleValue*> items(2);
    if (many) {
      TALLELE_ASSIGN(items, PopToMark());
    } else {
      TALLELE_ASSIGN(items[1], Pop());
      TALLELE_ASSIGN(items[0], Pop());
    }
    TALLELE_ASSIGN(PickleValue* const dict, Top());
    if (!dict->Is(Kind::kDict)) return Fail("the pickle sets items of something that is no dict");
    if (items.size() % 2 != 0) return Fail("the pickle sets a key without a value");
    auto& to = dict->compound->items;
    to.insert(to.end(), items.begin(), items.end());
    return {};
  }

  Result<std::string_view> TakeLine() {
    const size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) return Fail("the pickle ends within a name");
    const std::string_view line = bytes_.substr(position_, end - position_);
    position_ = end + 1;
    return line;
  }

  Result<void> Global(bool from_stack) {
    std::string_view module, name;
    if (from_stack) {
      TALLELE_ASSIGN(const PickleValue* const name_value, Pop());
      TALLELE_ASSIGN(const PickleValue* const module_value, Pop());
      if (!name_value->Is(Kind::kText) || !module_value->Is(Kind::kText)) {
        return Fail("the pickle names a function with something that is no text");
      }
      name = name_value->text;
      module = module_value->text;
    } else {
      TALLELE_ASSIGN(module, TakeLine());
      TALLELE_ASSIGN(name, TakeLine());
    }
    for (const GlobalName& known : kGlobals) {
      if (known.module != module || known.name != name) continue;
      PickleValue& value = New(Kind::kGlobal);
      value.global = known.global;
      Push(value);
      return {};
    }
    Error error = Fail("the pickle refers to a name that arrays and checkpoints do not need",
                       Printable(module) + "." + Printable(name));
    error.advice =
        "Nothing of it was executed. Write the file again as plain arrays or a plain state dict.";
    return error;
  }

  Result<void> Reduce() {
    TALLELE_ASSIGN(const PickleValue* const arguments, Pop());
    TALLELE_ASSIGN(const PickleValue* const callee, Pop());
    if (!callee->Is(Kind::kGlobal) || !MayBeCalled(callee->global) ||
        !arguments->Is(Kind::kTuple)) {
      return Fail("the pickle calls something that is no function with its arguments");
    }
    if (callee->global == PickleGlobal::kCodecsEncode) return Encode(arguments->items());
    if (callee->global == PickleGlobal::kOrderedDict) {
      if (!arguments->items().empty())
        return Fail("the pickle fills an OrderedDict while making it");
      Push(NewCompound(Kind::kDict, {}));
      return {};
    }
    // The arguments stay shared with the tuple: copying them for every call could cost more than
    // the file's size.
    PickleValue& object = New(Kind::kObject);
    object.global = callee->global;
    object.compound = &pickle_.compounds_.emplace_back();
    if (arguments->items().size() > 16) return Fail("the pickle calls with more than 16 arguments");
    object.compound->items = arguments->items();
    Push(object);
    return {};
  }

  Result<void> Encode(const std::vector<const PickleValue*>& arguments) {
    if (arguments.size() != 2 || !arguments[0]->Is(Kind::kText) || !arguments[1]->Is(Kind::kText) ||
        arguments[1]->text != "latin1") {
      return Fail("the pickle encodes something else than a text as latin1");
    }
    encoded_bytes_ += arguments[0]->text.size();
    if (encoded_bytes_ > bytes_.size()) {
      return Fail("the pickle encodes the same text again and again");
    }
    auto latin1 = Latin1Bytes(arguments[0]->text);
    if (!latin1) return Fail("the pickle encodes a text that is not Latin-1");
    PickleValue& value = New(Kind::kBytes);
    value.text = pickle_.made_.emplace_back(std::move(*latin1));
    Push(value);
    return {};
  }

  Result<void> Build() {
    TALLELE_ASSIGN(const PickleValue* const state, Pop());
    TALLELE_ASSIGN(PickleValue* const object, Top());
    // PyTorch hangs version notes on the OrderedDict of a state dict; they say nothing about
    // values.
    if (object->Is(Kind::kDict) && state->Is(Kind::kDict)) return {};
    if (!object->IsObject(PickleGlobal::kNumpyReconstruct) &&
        !object->IsObject(PickleGlobal::kNumpyDtype)) {
      return Fail("the pickle gives a state to something that takes none");
    }
    if (object->compound->state != nullptr) return Fail("the pickle gives an object two states");
    object->compound->state = state;
    return {};
  }

  Result<void> Persistent() {
    TALLELE_ASSIGN(const PickleValue* const id, Pop());
    if (!id->Is(Kind::kTuple)) return Fail("the pickle has a persistent id that is no tuple");
    if (id->items().size() > 16) return Fail("the pickle has a persistent id of unknown form");
    Push(NewCompound(Kind::kPersistent, id->items()));
    return {};
  }

  Result<void> Put(size_t index_bytes) {
    TALLELE_ASSIGN(const uint64_t index, TakeNumber(index_bytes));
    return Memoize(index);
  }
  Result<void> Memoize(uint64_t index) {
    TALLELE_ASSIGN(memo_[index], Top());
    return {};
  }
  Result<void> Get(size_t index_bytes) {
    TALLELE_ASSIGN(const uint64_t index, TakeNumber(index_bytes));
    const auto found = memo_.find(index);
    if (found == memo_.end()) return Fail("the pickle refers to a value that it never stored");
    stack_.push_back(found->second);
    return {};
  }
  Result<void> Frame() {
    TALLELE_ASSIGN(const uint64_t length, TakeNumber(8));
    if (length > bytes_.size() - position_) return Fail("a frame is longer than the pickle");
    return {};
  }

  Result<void> Stop() {
    TALLELE_ASSIGN(pickle_.root_, Pop());
    if (!stack_.empty() || !marks_.empty()) return Fail("the pickle leaves values behind");
    if (position_ != bytes_.size()) {
      return Fail("there is more after the end of the pickle",
                  fmt::format("{} bytes", bytes_.size() - position_), "none");
    }
    return {};
  }

  Pickle& pickle_;
  const std::string& where_;
  std::string_view bytes_;
  size_t position_ = 0;
  size_t opcode_at_ = 0;
  size_t encoded_bytes_ = 0;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleValue*> memo_;
};

Result<Pickle> Pickle::Read(std::string bytes, const std::string& where) {
  Pickle pickle;
  pickle.bytes_ = std::make_unique<std::string>(std::move(bytes));
  TALLELE_TRY(PickleMachine(pickle, where).Run());
  return pickle;
}

}  // namespace tallele
