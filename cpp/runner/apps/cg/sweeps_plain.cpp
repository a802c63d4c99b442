// The sweeps for any processor; see sweep_bodies.hpp.
#include "instruction_sets.hpp"
#include "sweeps.hpp"

namespace hockney::cg {
namespace {
constexpr int lanes = 2;
}  // namespace
}  // namespace hockney::cg

#include "sweep_bodies.hpp"

namespace hockney::cg {
const Sweeps sweeps_plain = table("plain", false);
}
