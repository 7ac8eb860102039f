#include "kernels/intrinsics.h"

namespace tallele::kernels {
namespace {

typedef float Vector __attribute__((vector_size(64)));
typedef int Integers __attribute__((vector_size(64)));

constexpr unsigned kRowsInRegisters = 4;
constexpr unsigned kVectorsInRegisters = 7;

inline Vector Load(const float* from) { return _mm512_loadu_ps(from); }
inline void Store(float* to, Vector value) { _mm512_storeu_ps(to, value); }
inline Vector Broadcast(float value) { return _mm512_set1_ps(value); }
inline Vector FusedMultiplyAdd(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }

}  // namespace
}  // namespace tallele::kernels

#include "kernels/float_products-inl.h"

namespace tallele::kernels {

const FloatKernels kFloatAvx512 = {Multiply, Sparse, TransposedSparse, Tanh, TanhSlope, Unpack};

}  // namespace tallele::kernels
