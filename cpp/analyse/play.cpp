#include "play.hpp"

#include <algorithm>
#include <unordered_map>

#include "../schedule/channel.hpp"

namespace hockney {
namespace {

struct Waiting {
    std::size_t step;
    bool is_send;
};

}  // namespace

std::vector<Stuck> Player::play() {
    const std::size_t ranks = schedule_.size();
    std::vector<std::size_t> next(ranks, 0);
    std::vector<std::vector<char>> complete(ranks);
    for (std::size_t r = 0; r < ranks; ++r) complete[r].assign(schedule_[r].steps.size(), 0);
    std::unordered_map<Channel, Waiting, ChannelHash> waiting;
    std::vector<int> ready;
    for (std::size_t r = ranks; r-- > 0;) ready.push_back(static_cast<int>(r));

    while (!ready.empty()) {
        const int rank = ready.back();
        const auto r = static_cast<std::size_t>(rank);
        ready.pop_back();
        for (; next[r] < schedule_[r].steps.size(); ++next[r]) {
            const std::size_t index = next[r];
            const Step& step = schedule_[r].steps[index];
            const bool can_start = std::all_of(step.after.begin(), step.after.end(), [&](int before) {
                return complete[r][static_cast<std::size_t>(before)] != 0;
            });
            if (!can_start) break;
            if (on_start) on_start(rank, index);
            if (step.kind == Kind::copy || step.kind == Kind::reduce) {
                complete[r][index] = 1;
                continue;
            }
            const bool is_send = step.kind == Kind::send;
            const Channel channel{is_send ? rank : step.peer, is_send ? step.peer : rank, 0, step.tag};
            const auto found = waiting.find(channel);
            if (found == waiting.end() || found->second.is_send == is_send) {
                waiting[channel] = {index, is_send};
                continue;
            }
            const std::size_t other = found->second.step;
            if (on_message)
                on_message(channel.from, is_send ? index : other, channel.to, is_send ? other : index);
            complete[r][index] = 1;
            complete[static_cast<std::size_t>(step.peer)][other] = 1;
            waiting.erase(found);
            ready.push_back(step.peer);
        }
    }
    std::vector<Stuck> stuck;
    for (std::size_t r = 0; r < ranks; ++r) {
        for (std::size_t i = 0; i < next[r]; ++i)
            if (complete[r][i] == 0) stuck.push_back({static_cast<int>(r), i, true});
        if (next[r] < schedule_[r].steps.size()) stuck.push_back({static_cast<int>(r), next[r], false});
    }
    return stuck;
}

}  // namespace hockney
