// The sweeps for any processor; see sweep_bodies.hpp.
#include "sweeps.hpp"
#include "instruction_sets.hpp"

#ifdef HOCKNEY_X86
#include <emmintrin.h>
#endif

namespace hockney::cg {
namespace {
constexpr int lanes = 2;
#ifdef HOCKNEY_X86
inline __attribute__((always_inline)) void stream(double* to, const __m128d& value) { _mm_stream_pd(to, value); }
inline __attribute__((always_inline)) void fence() { _mm_sfence(); }
#else
typedef double Pair __attribute__((vector_size(16)));
inline __attribute__((always_inline)) void stream(double* to, const Pair& value) {
    __builtin_memcpy(to, &value, sizeof value);
}
inline __attribute__((always_inline)) void fence() {}
#endif
}  // namespace
}  // namespace hockney::cg

#include "sweep_bodies.hpp"

namespace hockney::cg {
const Sweeps sweeps_plain = table("plain");
}
