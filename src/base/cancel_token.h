#ifndef TALLELE_BASE_CANCEL_TOKEN_H_
#define TALLELE_BASE_CANCEL_TOKEN_H_

#include <atomic>

namespace tallele {

// Asks a long job to stop at its next safe point. `Cancel` is async-signal-safe.
class CancelToken {
 public:
  void Cancel(int signal_number = 2) { signal_.store(signal_number, std::memory_order_relaxed); }
  bool cancelled() const { return signal_.load(std::memory_order_relaxed) != 0; }
  // The signal that asked for the stop, 0 when none did.
  int signal_number() const { return signal_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> signal_{0};
};

}  // namespace tallele

#endif  // TALLELE_BASE_CANCEL_TOKEN_H_
