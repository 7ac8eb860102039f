// Takes the bytes as a pickle, and its root as every kind of value that callers ask for.
#include <string>

#include "ancestry/model/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto pickle =
      tallele::Pickle::Read(std::string(reinterpret_cast<const char*>(data), size), "input");
  if (!pickle.ok()) return 0;
  (void)pickle->root().Find("model_state_dict");
  (void)tallele::ReadPickledReal(pickle->root(), "input").ok();
  (void)tallele::ReadPickledIntegers(pickle->root(), "input").ok();
  const auto array = tallele::ReadPickledArray(pickle->root(), "input");
  if (!array.ok()) return 0;
  for (const tallele::PickleValue* item : array->items) {
    (void)tallele::ReadPickledIntegers(*item, "input").ok();
    (void)tallele::ReadPickledArray(*item, "input").ok();
  }
  return 0;
}
