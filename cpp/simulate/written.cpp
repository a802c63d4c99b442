#include "written.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

namespace hockney {
namespace {

// From, tag and length.
using Message = std::tuple<int, int, Bytes>;

// One rank's steps from `first` on; returns where the next rank's begin.
std::size_t write_rank(const std::vector<StagedStep>& steps, std::size_t first, int ranks,
                       RankSchedule& schedule, Bytes& held_B) {
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
            step.peer = asked.peer;
            step.tag = asked.kind == Kind::send ? sent[asked.peer]++ : received[asked.peer]++;
        }
        (asked.kind == Kind::send ? step.from : step.into).length_B = asked.length_B;
        if (const std::string wrong = fault(step, i, asked.rank, ranks); !wrong.empty())
            throw std::invalid_argument(wrong);
        held_B += step.held_B();
        expect_held(held_B);
        now.push_back(static_cast<int>(schedule.steps.size()));
        schedule.steps.push_back(step);
    }
    return i;
}

}  // namespace

Schedule write_schedule(int ranks, const std::vector<StagedStep>& steps) {
    Schedule schedule(static_cast<std::size_t>(ranks));
    Bytes held_B = 0;
    for (std::size_t i = 0; i < steps.size();) {
        const std::int32_t rank = steps[i].rank;
        if (rank < 0 || rank >= ranks || !schedule[static_cast<std::size_t>(rank)].steps.empty())
            throw std::invalid_argument("steps must be sorted by rank and stage");
        i = write_rank(steps, i, ranks, schedule[static_cast<std::size_t>(rank)], held_B);
    }
    return schedule;
}

void expect_matched(const Schedule& schedule) {
    // By receiver. Senders come in order, so the lists are all but sorted.
    std::vector<std::vector<Message>> sent(schedule.size());
    for (std::size_t rank = 0; rank < schedule.size(); ++rank)
        for (const Step& step : schedule[rank].steps)
            if (step.kind == Kind::send)
                sent[static_cast<std::size_t>(step.peer)].push_back(
                    {static_cast<int>(rank), step.tag, step.from.length_B});
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        std::vector<Message> received;
        for (const Step& step : schedule[rank].steps)
            if (step.kind == Kind::receive) received.push_back({step.peer, step.tag, step.into.length_B});
        std::sort(sent[rank].begin(), sent[rank].end());
        std::sort(received.begin(), received.end());
        const auto is_same = [](const Message& a, const Message& b) {
            return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
        };
        if (sent[rank] != received ||
            std::adjacent_find(received.begin(), received.end(), is_same) != received.end())
            throw std::invalid_argument("what rank " + std::to_string(rank) +
                                        " receives is not what is sent to it, message for message");
    }
}

}  // namespace hockney
