#include "sweeps.hpp"

#include <algorithm>

#include "instruction_sets.hpp"

namespace hockney::cg {
namespace {

constexpr long stagger_step = 5 * Layout::line;

}  // namespace

double Vector::bytes(const Space& space) {
    const double planes = static_cast<double>(space.nz + (space.dimensions == 3 ? 2 : 0));
    return sizeof(double) * planes * static_cast<double>(space.plane);
}

Vector::Vector(const Space& space, int stagger)
    : offset_(stagger * stagger_step), field_(space.size + offset_) {
    clear(space);
}

void Vector::clear(const Space& space) const {
    const long planes_outside = space.dimensions == 3 ? 0 : space.plane;
    std::fill(data() + planes_outside, data() + space.size - planes_outside, 0.0);
}

const Sweeps& sweeps() {
#ifdef HOCKNEY_X86
    if (__builtin_cpu_supports("avx512f")) return sweeps_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return sweeps_avx2;
#endif
    return sweeps_plain;
}

}  // namespace hockney::cg
