#include "written.hpp"

#include <map>
#include <stdexcept>

namespace hockney {
namespace {

// One rank's steps from `first` on; returns where the next rank's begin.
std::size_t write_rank(const std::vector<StagedStep>& steps, std::size_t first, int ranks,
                       RankSchedule& schedule) {
    std::map<int, int> sent, received;
    Steps before, now;  // of the last stage and of this one
    std::int32_t stage = steps[first].stage;
    std::size_t i = first;
    for (; i < steps.size() && steps[i].rank == steps[first].rank; ++i) {
        const StagedStep& asked = steps[i];
        if (asked.stage < stage) throw std::invalid_argument("steps must be sorted by rank and stage");
        if (asked.stage > stage) {
            before = now;
            now = {};
            stage = asked.stage;
        }
        Step step;
        step.kind = asked.kind;
        step.after = before;
        const bool is_message = asked.kind == Kind::send || asked.kind == Kind::receive;
        if (is_message) {
            if (asked.peer < 0 || asked.peer >= ranks || asked.peer == asked.rank)
                throw std::invalid_argument("a message needs another rank");
            step.peer = asked.peer;
            step.tag = asked.kind == Kind::send ? sent[asked.peer]++ : received[asked.peer]++;
        }
        if (asked.length_B < 0) throw std::invalid_argument("a length must not be negative");
        (asked.kind == Kind::send ? step.from : step.into).length_B = asked.length_B;
        now.push_back(static_cast<int>(schedule.steps.size()));
        schedule.steps.push_back(step);
    }
    return i;
}

}  // namespace

Schedule write_schedule(int ranks, const std::vector<StagedStep>& steps) {
    Schedule schedule(static_cast<std::size_t>(ranks));
    for (std::size_t i = 0; i < steps.size();) {
        const std::int32_t rank = steps[i].rank;
        if (rank < 0 || rank >= ranks || !schedule[static_cast<std::size_t>(rank)].steps.empty())
            throw std::invalid_argument("steps must be sorted by rank and stage");
        i = write_rank(steps, i, ranks, schedule[static_cast<std::size_t>(rank)]);
    }
    return schedule;
}

}  // namespace hockney
