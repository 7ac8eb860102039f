#ifndef TALLELE_KERNELS_INTRINSICS_H_
#define TALLELE_KERNELS_INTRINSICS_H_

// The one door to the compiler's intrinsics. The conformance tests compile the kernels a second
// time with TALLELE_EMULATED_INTRINSICS naming a header that spells the same operations in plain
// code, so that a machine without an instruction set still checks that set's arithmetic.
#ifdef TALLELE_EMULATED_INTRINSICS
#include TALLELE_EMULATED_INTRINSICS
#else
#include <immintrin.h>
#endif

// g++ 12 keeps arrays of accumulators in registers only when the loops over them are unrolled.
#if defined(__GNUC__) && !defined(__clang__)
#define TALLELE_UNROLL _Pragma("GCC unroll 32")
#else
#define TALLELE_UNROLL _Pragma("unroll")
#endif

#endif  // TALLELE_KERNELS_INTRINSICS_H_
