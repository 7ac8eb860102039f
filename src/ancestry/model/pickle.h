#ifndef TALLELE_ANCESTRY_MODEL_PICKLE_H_
#define TALLELE_ANCESTRY_MODEL_PICKLE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tallele {

// The only names that a pickle may refer to. Everything else is an error that names it: nothing
// that a file says is ever executed.
enum class PickleGlobal {
  kNone,
  kOrderedDict,       // collections.OrderedDict
  kRebuildTensor,     // torch._utils._rebuild_tensor_v2
  kFloatStorage,      // torch.FloatStorage
  kDoubleStorage,     // torch.DoubleStorage
  kHalfStorage,       // torch.HalfStorage
  kLongStorage,       // torch.LongStorage
  kNumpyReconstruct,  // numpy.core.multiarray._reconstruct, or numpy._core from NumPy 2
  kNumpyScalar,       // numpy.core.multiarray.scalar, likewise
  kNumpyArray,        // numpy.ndarray
  kNumpyDtype,        // numpy.dtype
  kCodecsEncode,      // _codecs.encode
};

struct PickleCompound;

// One value of a pickle; lives as long as its `Pickle`. Lists and dictionaries may, in a damaged
// file, contain themselves, so readers must not walk them without a bound.
struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,        // `integer` is 0 or 1
    kInteger,     // `integer`
    kReal,        // `real`
    kBytes,       // `text`
    kText,        // `text`, UTF-8
    kTuple,       // `items()`
    kList,        // `items()`
    kDict,        // `items()`: key, value, key, value ...; also an OrderedDict
    kGlobal,      // `global` itself
    kObject,      // call of `global` with `items()` as arguments, then `state()` if it was given
    kPersistent,  // persistent id: `items()` of its tuple
  };

  Kind kind = Kind::kNone;
  PickleGlobal global = PickleGlobal::kNone;
  union {
    int64_t integer = 0;
    double real;
  };
  std::string_view text;
  PickleCompound* compound = nullptr;

  const std::vector<const PickleValue*>& items() const;
  const PickleValue* state() const;  // null when BUILD never came
  bool Is(Kind k) const { return kind == k; }
  bool IsObject(PickleGlobal g) const { return kind == Kind::kObject && global == g; }
  // The value of a text key of a dictionary; null when there is none.
  const PickleValue* Find(std::string_view key) const;
};

struct PickleCompound {
  std::vector<const PickleValue*> items;
  const PickleValue* state = nullptr;
};

// A read pickle with all its values.
class Pickle {
 public:
  // Interprets a pickle of protocol 2 to 4, using only the opcodes and names that files of NumPy
  // arrays and PyTorch checkpoints need. `where` names the file and member in errors, which also
  // give the byte. Memory stays within a constant times the size of `bytes`. Bytes after the end
  // of the pickle are an error.
  static Result<Pickle> Read(std::string bytes, const std::string& where);

  const PickleValue& root() const { return *root_; }

 private:
  friend class PickleMachine;

  std::unique_ptr<std::string> bytes_;  // texts point into it
  std::deque<PickleValue> values_;
  std::deque<PickleCompound> compounds_;
  std::deque<std::string> made_;  // results of _codecs.encode
  const PickleValue* root_ = nullptr;
};

// A NumPy array or scalar inside a pickle, checked: the bytes have the size that shape and type
// ask for, or the items their number.
struct PickledArray {
  char type = 0;      // NumPy's kind letter: 'i', 'u', 'f', 'b', 'S', 'U', 'O'
  int item_size = 0;  // bytes
  std::vector<int64_t> shape;
  bool column_major = false;
  std::string_view bytes;                 // little-endian elements, unless type is 'O'
  std::vector<const PickleValue*> items;  // of type 'O', row-major
  size_t num_elements() const;
};

// Takes numpy.ndarray or numpy scalar objects apart. `where` as for Pickle::Read.
Result<PickledArray> ReadPickledArray(const PickleValue& value, const std::string& where);

// A Python or NumPy whole number.
Result<int64_t> ReadPickledInteger(const PickleValue& value, const std::string& where);

// A list, or an array of any integer type, of whole numbers, or one NumPy integer scalar per item.
Result<std::vector<int64_t>> ReadPickledIntegers(const PickleValue& value,
                                                 const std::string& where);

// A Python or NumPy number as a double; nothing if it is none.
Result<double> ReadPickledReal(const PickleValue& value, const std::string& where);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_PICKLE_H_
