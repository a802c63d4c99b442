// Which ranks of a phase do the same.
#pragma once

#include "simulate.hpp"

namespace hockney {

// Of an element of each rank: with it the vector is still one that can be counted.
constexpr Bytes most_uneven_B = Bytes{1} << 58;

// Whether blocks of a vector that cannot be divided evenly differ in size; and whether some blocks or their
// last segments are empty.
inline bool is_uneven(const Phase& phase) {
    const Problem& p = phase.problem;
    return phase.algorithm->is_divided && p.bytes / p.element_B % p.ranks != 0;
}
inline bool has_empty_parts(const Problem& p) {
    const Bytes least = p.bytes / p.element_B / p.ranks;
    return least == 0 || (p.segment_B > 0 && least % (p.segment_B / p.element_B) == 0);
}

// How all ranks of a phase do the same; none where they differ. `but_for_blocks`: blocks may differ by one
// element.
inline Likeness likeness(const Phase& phase, bool copies_cost, bool but_for_blocks = false) {
    if (phase.algorithm == nullptr) return Likeness::none;
    const Algorithm& algorithm = *phase.algorithm;
    const Problem& p = phase.problem;
    const bool is_power_of_two = (p.ranks & (p.ranks - 1)) == 0;
    if (copies_cost && !algorithm.has_like_copies) return Likeness::none;
    if (is_uneven(phase)) {
        if (!but_for_blocks || p.element_B > most_uneven_B / p.ranks) return Likeness::none;
        // Of rounds that double, who has nothing to send yet waits later, for more messages together.
        if (algorithm.likeness == Likeness::shift && algorithm.growth == Growth::per_doubling &&
            has_empty_parts(p))
            return Likeness::none;
    }
    return algorithm.likeness == Likeness::exclusive_or && !is_power_of_two ? Likeness::none
                                                                            : algorithm.likeness;
}

// About how many ranks stand for all: one, one for each halving of blocks that differ; 0: all differ.
inline int symmetric_classes(const Phase& phase, bool copies_cost) {
    if (likeness(phase, copies_cost) != Likeness::none) return 1;
    if (likeness(phase, copies_cost, true) != Likeness::exclusive_or) return 0;
    int classes = 1;
    for (int ranks = phase.problem.ranks; ranks > 1; ranks /= 2) ++classes;
    return classes;
}

}  // namespace hockney
