// The instruction sets that the sweeps are compiled for. The runner is built with a site's plain flags and
// may run on other processors than the one it was built on: which it is, is asked when it runs.
#pragma once

#include <algorithm>
#include <type_traits>

#include "sweeps.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define HOCKNEY_X86
#endif

namespace hockney::cg {

#ifdef HOCKNEY_X86
extern const Sweeps sweeps_avx512, sweeps_avx2;
#endif
extern const Sweeps sweeps_plain;

}  // namespace hockney::cg
