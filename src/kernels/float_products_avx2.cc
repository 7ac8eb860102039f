#include "kernels/intrinsics.h"

namespace tallele::kernels {
namespace {

typedef float Vector __attribute__((vector_size(32)));
typedef int Integers __attribute__((vector_size(32)));

constexpr unsigned kRowsInRegisters = 6;
constexpr unsigned kVectorsInRegisters = 2;

inline Vector Load(const float* from) { return _mm256_loadu_ps(from); }
inline void Store(float* to, Vector value) { _mm256_storeu_ps(to, value); }
inline Vector Broadcast(float value) { return _mm256_set1_ps(value); }
inline Vector FusedMultiplyAdd(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }

}  // namespace
}  // namespace tallele::kernels

#include "kernels/float_products-inl.h"

namespace tallele::kernels {

const FloatKernels kFloatAvx2 = {Multiply, Sparse, TransposedSparse, Tanh, TanhSlope, Unpack};

}  // namespace tallele::kernels
