#include "count.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>

#include "../schedule/collective.hpp"
#include "../schedule/pieces.hpp"
#include "../schedule/trees.hpp"

namespace hockney {
namespace {

constexpr Bytes unknown = -1;

void add(Bytes& sum, Bytes value) {
    if (value > std::numeric_limits<Bytes>::max() - sum)
        throw TooLarge("the bytes of all messages together are more than can be counted (2^63)");
    sum += value;
}

// When each message of a one-ported schedule ends, if it takes `cost(length_B)`.
class OnePorted {
  public:
    explicit OnePorted(const Schedule& schedule) : schedule_(schedule) {}

    // Calls `moved(move)` for each message, its start as the round; returns the end of the last one,
    // `unknown` if it blocks.
    template <typename Cost, typename Moved>
    Bytes play(Cost cost, Moved moved) {
        const std::size_t ranks = schedule_.size();
        std::vector<Rank> state(ranks);
        std::vector<std::size_t> ready(ranks);
        for (std::size_t r = 0; r < ranks; ++r) {
            state[r].end.assign(schedule_[r].steps.size(), unknown);
            ready[r] = ranks - 1 - r;
        }
        Bytes last = 0;
        while (!ready.empty()) {
            const std::size_t r = ready.back();
            ready.pop_back();
            advance(state[r], schedule_[r]);
            for (bool going = true; going;) {
                going = false;
                for (const Kind kind : {Kind::send, Kind::receive}) {
                    const Bytes end = meet(state, r, kind, cost, moved);
                    if (end == unknown) continue;
                    last = std::max(last, end);
                    // Both ranks may now go on, and both of each port may have a new first in line.
                    ready.push_back(peer_);
                    advance(state[r], schedule_[r]);
                    going = true;
                }
            }
        }
        for (std::size_t r = 0; r < ranks; ++r)
            if (state[r].next < schedule_[r].steps.size() || !state[r].sends.empty() ||
                !state[r].receives.empty())
                return unknown;
        return last;
    }

  private:
    struct Queued {
        std::size_t step;
        Bytes issued;
    };
    struct Rank {
        std::size_t next = 0;
        Bytes issued = 0;  // when the latest step started
        std::vector<Bytes> end;
        std::deque<Queued> sends, receives;
        Bytes send_free = 0, receive_free = 0;

        std::deque<Queued>& line(Kind kind) { return kind == Kind::send ? sends : receives; }
        Bytes& free(Kind kind) { return kind == Kind::send ? send_free : receive_free; }
    };

    // Moves a rank's first message in line, if it is first in line at the other end too. Returns its end.
    template <typename Cost, typename Moved>
    Bytes meet(std::vector<Rank>& state, std::size_t r, Kind kind, Cost cost, Moved moved) {
        if (state[r].line(kind).empty()) return unknown;
        const Queued ours = state[r].line(kind).front();
        const Step& step = schedule_[r].steps[ours.step];
        peer_ = static_cast<std::size_t>(step.peer);
        const Kind other = kind == Kind::send ? Kind::receive : Kind::send;
        if (state[peer_].line(other).empty()) return unknown;
        const Queued theirs = state[peer_].line(other).front();
        const Step& matching = schedule_[peer_].steps[theirs.step];
        if (matching.peer != static_cast<int>(r) || matching.tag != step.tag) return unknown;
        const Bytes length_B = kind == Kind::send ? step.from.length_B : matching.from.length_B;
        const Bytes start =
            std::max({ours.issued, theirs.issued, state[r].free(kind), state[peer_].free(other)});
        const Bytes end = start + cost(length_B);
        const bool sends = kind == Kind::send;
        const int here = static_cast<int>(r);
        moved(Move{sends ? here : step.peer, sends ? step.peer : here, sends ? ours.step : theirs.step,
                   sends ? theirs.step : ours.step, start, length_B});
        state[r].free(kind) = state[peer_].free(other) = end;
        state[r].end[ours.step] = state[peer_].end[theirs.step] = end;
        state[r].line(kind).pop_front();
        state[peer_].line(other).pop_front();
        return end;
    }

    // Starts what can start.
    static void advance(Rank& rank, const RankSchedule& mine) {
        for (; rank.next < mine.steps.size(); ++rank.next) {
            const Step& step = mine.steps[rank.next];
            Bytes start = rank.issued;
            for (const int before : step.after) {
                const Bytes end = rank.end[static_cast<std::size_t>(before)];
                if (end == unknown) return;
                start = std::max(start, end);
            }
            rank.issued = start;
            if (step.kind == Kind::send || step.kind == Kind::receive)
                rank.line(step.kind).push_back({rank.next, start});
            else
                rank.end[rank.next] = start;
        }
    }

    const Schedule& schedule_;
    std::size_t peer_ = 0;  // of the message that moved last
};

void add_totals(const Schedule& schedule, Counts& counts) {
    for (std::size_t r = 0; r < schedule.size(); ++r) {
        std::set<int> peers;
        counts.sent_bytes.push_back(0);
        counts.received_bytes.push_back(0);
        for (const Step& step : schedule[r].steps) {
            if (step.kind == Kind::send) {
                ++counts.messages;
                add(counts.sent_bytes.back(), step.from.length_B);
                peers.insert(step.peer);
            }
            if (step.kind == Kind::receive) add(counts.received_bytes.back(), step.into.length_B);
            if (step.kind == Kind::reduce) add(counts.reduced_bytes, step.into.length_B);
            if (step.kind == Kind::copy) add(counts.copied_bytes, step.into.length_B);
        }
        add(counts.bytes, counts.sent_bytes.back());
        counts.max_degree = std::max(counts.max_degree, static_cast<int>(peers.size()));
    }
}

}  // namespace

Counts count(const Schedule& schedule) {
    Counts counts;
    add_totals(schedule, counts);
    OnePorted ports(schedule);
    std::map<Bytes, Bytes> largest;  // message of a round
    counts.rounds = ports.play([](Bytes) { return 1; },
                               [&](const Move& move) {
                                   Bytes& most = largest[move.round];
                                   most = std::max(most, move.length_B);
                               });
    for (const auto& round : largest) counts.round_bytes += round.second;
    counts.critical_messages = counts.rounds;
    counts.critical_bytes = ports.play([](Bytes length_B) { return length_B; }, [](const Move&) {});
    counts.blocks = counts.rounds == unknown;
    return counts;
}

std::vector<Move> moves(const Schedule& schedule) {
    std::vector<Move> all;
    OnePorted(schedule).play([](Bytes) { return 1; }, [&](const Move& move) { all.push_back(move); });
    return all;
}

std::vector<std::string> beaten_bounds(const Algorithm& algorithm, const Problem& p, const Counts& counts) {
    std::vector<std::string> beaten;
    const Collective& collective = *algorithm.operation;
    if (p.ranks < 2 || (p.bytes == 0 && collective.has_size)) return beaten;
    const auto require = [&](Bytes value, Bytes bound, const std::string& what) {
        if (value < bound)
            beaten.push_back(what + ": " + std::to_string(value) + ", no less than " + std::to_string(bound) +
                             " is possible");
    };
    const int log = ceil_log2(p.ranks);
    require(counts.rounds, log, "rounds");
    Bytes most_B = 0;
    for (int rank = 0; rank < p.ranks; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        const std::string who = " by rank " + std::to_string(rank);
        const Bytes lacks_B = collective.lacks_B(p, rank), owes_B = collective.owes_B(p, rank);
        most_B = std::max({most_B, lacks_B, owes_B});
        require(counts.received_bytes[r], lacks_B, "bytes received" + who);
        require(counts.sent_bytes[r], owes_B, "bytes sent" + who);
    }
    // One-ported, a rank sends and receives one message a round.
    require(counts.round_bytes, most_B, "bytes in all rounds");
    if (algorithm.is_one_block) {
        const int blocks = Pieces::segments(p.bytes, p.segment_B, p.element_B).count();
        require(counts.rounds, blocks - 1 + log, "rounds for that many blocks");
    }
    return beaten;
}

}  // namespace hockney
