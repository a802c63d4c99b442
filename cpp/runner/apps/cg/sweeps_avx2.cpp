// The sweeps for processors with AVX2; see sweep_bodies.hpp.
#include "sweeps.hpp"
#include "instruction_sets.hpp"

#ifdef HOCKNEY_X86
#include <immintrin.h>
#pragma GCC target("avx2,fma")

namespace hockney::cg {
namespace {
constexpr int lanes = 4;
inline __attribute__((always_inline)) void stream(double* to, const __m256d& value) { _mm256_stream_pd(to, value); }
inline __attribute__((always_inline)) void fence() { _mm_sfence(); }
}  // namespace
}  // namespace hockney::cg

#include "sweep_bodies.hpp"

namespace hockney::cg {
const Sweeps sweeps_avx2 = table("avx2");
}
#endif
