#ifndef TALLELE_BASE_RESULT_H_
#define TALLELE_BASE_RESULT_H_

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"

namespace tallele {

// A value or the `Error` that explains why there is none. Functions that can fail
// return it; exceptions never cross a library boundary.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    assert(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    assert(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    assert(ok());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& {
    assert(!ok());
    return std::get<1>(state_);
  }
  Error&& error() && {
    assert(!ok());
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

// Success without a value, or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace tallele

#define TALLELE_CONCAT_INNER(a, b) a##b
#define TALLELE_CONCAT(a, b) TALLELE_CONCAT_INNER(a, b)

// Leaves the enclosing function with the error of `expression` if it failed.
#define TALLELE_TRY(expression)                                      \
  do {                                                               \
    if (auto tallele_try_result = (expression); !tallele_try_result) \
      return std::move(tallele_try_result).error();                  \
  } while (false)

// `TALLELE_ASSIGN(auto x, F())`: the value of `F()`, or leave with its error.
#define TALLELE_ASSIGN(declaration, expression) \
  TALLELE_ASSIGN_INNER(TALLELE_CONCAT(tallele_result_, __LINE__), declaration, expression)
#define TALLELE_ASSIGN_INNER(result, declaration, expression) \
  auto result = (expression);                                 \
  if (!result) return std::move(result).error();              \
  declaration = std::move(result).value()

#endif  // TALLELE_BASE_RESULT_H_
