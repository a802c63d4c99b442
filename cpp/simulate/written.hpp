// Schedules that no generator makes: what an application does between two steps of its computation.
#pragma once

#include <cstdint>
#include <vector>

#include "../schedule/schedule.hpp"

namespace hockney {

// A step of a rank. Those of one stage are begun one after another, without waiting; a stage begins when all
// steps of the one before are complete.
struct StagedStep {
    std::int32_t rank = 0, stage = 0;
    Kind kind = Kind::copy;
    std::int32_t peer = -1;
    Bytes length_B = 0;
};

// `steps` are sorted by rank, then by stage. Messages from one rank to another are matched in the order in
// which both ends name them. Throws std::invalid_argument for what is no schedule, TooLarge for one that
// takes more than most_held_B.
Schedule write_schedule(int ranks, const std::vector<StagedStep>& steps);

// Throws std::invalid_argument unless every message has one sender and one receiver, of the same length: what
// the simulator takes for granted. Generators are proved to do so.
void expect_matched(const Schedule& schedule);

}  // namespace hockney
