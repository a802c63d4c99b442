// The proof that a schedule is correct, by following every element symbolically.
#pragma once

#include <string>
#include <vector>

#include "../schedule/collective.hpp"
#include "../schedule/schedule.hpp"

namespace hockney {

// Empty where the schedule does what the collective asks; otherwise what is wrong, in words, the first few.
//
//  1. Every step is well-formed: peers exist, regions lie within their memories and hold whole elements, an
//  input is
//     never written.
//  2. Memory: two steps of a rank that touch the same element, one of them writing, depend on one another.
//  3. No deadlock: with sends that complete only when received, every step of every rank completes, and every
//  message
//     meets a receive of its length.
//  4. Every element of every output ends with its origin; a reduced one with each rank's contribution exactly
//  once,
//     in rank order if the operator is not commutative. No undefined memory is read.
//  5. After a barrier every rank has heard of every other.
//
// TooLarge for more elements, accesses to them, or pairs of ranks of a barrier, than are held at once.
std::vector<std::string> verify(const Collective& collective, const Problem& problem,
                                const Schedule& schedule);

}  // namespace hockney
