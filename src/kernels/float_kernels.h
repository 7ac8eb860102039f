#ifndef TALLELE_KERNELS_FLOAT_KERNELS_H_
#define TALLELE_KERNELS_FLOAT_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/float_products.h"

// The same functions for each instruction set; callers go through kernels/float_products.h.
namespace tallele::kernels {

struct FloatKernels {
  void (*multiply)(const FloatProduct& product, bool from_zero);
  void (*sparse)(const SparseProduct& product, bool from_zero);
  void (*transposed_sparse)(const SparseProduct& product);
  void (*tanh)(float* values, size_t count);
  void (*tanh_slope)(const float* tangents, float* gradients, size_t count);
  void (*unpack)(const uint8_t* row, size_t first, size_t count, const GenotypeValues& values,
                 float* out);
};

extern const FloatKernels kFloatScalar;
extern const FloatKernels kFloatAvx2;
extern const FloatKernels kFloatAvx512;

// tanh(x) ~ x P(x^2) / Q(x^2), constant terms first; beyond the limit it is 1.
constexpr float kTanhLimit = 9.0f;
constexpr float kTanhP[] = {1.0f, 0x1.121a9afa50db3p-3f, 0x1.ca9ed90fe7cf2p-9f,
                            0x1.5aa37e4019229p-16f, 0x1.cd1a21eea6416p-27f};
constexpr float kTanhQ[] = {1.0f, 0.4671730230618223f, 0.025890208869665227f,
                            0.0003291039442199487f, 7.804735459638475e-07f};

// 1 / q of a positive number begins at the float whose bits are this minus those of q, 12 % off,
// and takes three steps r += r (1 - q r), each of which squares the error. A division would take
// as long as everything else in tanh.
constexpr int32_t kReciprocalBits = 0x7EF311C7;
constexpr int kReciprocalSteps = 3;

}  // namespace tallele::kernels

#endif  // TALLELE_KERNELS_FLOAT_KERNELS_H_
