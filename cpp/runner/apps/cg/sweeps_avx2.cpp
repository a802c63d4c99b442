// The sweeps for processors with AVX2; see sweep_bodies.hpp.
#include "instruction_sets.hpp"
#include "sweeps.hpp"

#ifdef HOCKNEY_X86
#pragma GCC target("avx2,fma")

namespace hockney::cg {
namespace {
constexpr int lanes = 4;
}  // namespace
}  // namespace hockney::cg

#include "sweep_bodies.hpp"

namespace hockney::cg {
const Sweeps sweeps_avx2 = table("avx2", false);
}
#endif
