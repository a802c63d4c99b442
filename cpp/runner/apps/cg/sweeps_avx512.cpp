// The sweeps for processors with AVX-512; see sweep_bodies.hpp.
#include "sweeps.hpp"
#include "instruction_sets.hpp"

#ifdef HOCKNEY_X86
#include <immintrin.h>
#pragma GCC target("avx512f")

namespace hockney::cg {
namespace {
constexpr int lanes = 8;
inline __attribute__((always_inline)) void stream(double* to, const __m512d& value) { _mm512_stream_pd(to, value); }
inline __attribute__((always_inline)) void fence() { _mm_sfence(); }
}  // namespace
}  // namespace hockney::cg

#include "sweep_bodies.hpp"

namespace hockney::cg {
const Sweeps sweeps_avx512 = table("avx512f");
}
#endif
