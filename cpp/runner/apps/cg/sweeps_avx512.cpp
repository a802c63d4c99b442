// The sweeps for processors with AVX-512; see sweep_bodies.hpp.
#include "instruction_sets.hpp"
#include "sweeps.hpp"

#ifdef HOCKNEY_X86
#include <immintrin.h>
#pragma GCC target("avx512f")

namespace hockney::cg {
namespace {
constexpr int lanes = 8;
// The forms without a mask leave GCC 12 with a warning of its own.
constexpr __mmask8 every_lane = 0xff;
#define HOCKNEY_CG_WHOLE_LINES
inline __attribute__((always_inline)) void stream(double* to, const __m512d& value) {
    _mm512_stream_pd(to, value);
}
// From lanes that are known: reading them again would cross lines.
inline __attribute__((always_inline)) __m512d left_of(const double*, const __m512d& before,
                                                      const __m512d& here) {
    return (__m512d)_mm512_maskz_alignr_epi64(every_lane, (__m512i)here, (__m512i)before, 7);
}
inline __attribute__((always_inline)) __m512d right_of(const double*, const __m512d& here,
                                                       const __m512d& next) {
    return (__m512d)_mm512_maskz_alignr_epi64(every_lane, (__m512i)next, (__m512i)here, 1);
}
inline __attribute__((always_inline)) void fence() { _mm_sfence(); }
}  // namespace
}  // namespace hockney::cg

#include "sweep_bodies.hpp"

namespace hockney::cg {
const Sweeps sweeps_avx512 = table("avx512f", true);
}
#endif
