// A user's graph: its messages matched, its operations in the order of their starts.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "goal.hpp"

namespace hockney {

Bytes Graph::largest_B() const {
    Bytes largest = 0;
    for (const Operation& operation : all_)
        if (operation.kind != Kind::reduce) largest = std::max<Bytes>(largest, operation.amount);
    return largest;
}

// Sends with their receives: of equal ends and tags, in the order of the text.
void Graph::match() {
    struct End {
        std::int32_t from, tag;
        std::uint32_t at;
        bool operator<(const End& other) const {
            return std::tie(from, tag, at) < std::tie(other.from, other.tag, other.at);
        }
    };
    const auto count = static_cast<std::size_t>(ranks());
    // Sends by receiver, in the order of their senders.
    std::vector<std::uint32_t> to(count + 1), sent;
    for (const Operation& operation : all_)
        if (operation.kind == Kind::send) ++to[static_cast<std::size_t>(operation.peer) + 1];
    std::partial_sum(to.begin(), to.end(), to.begin());
    sent.resize(to.back());
    {
        std::vector<std::uint32_t> next(to.begin(), to.end() - 1);
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (all_[i].kind == Kind::send)
                sent[next[static_cast<std::size_t>(all_[i].peer)]++] = static_cast<std::uint32_t>(i);
    }
    partner_.assign(all_.size(), nobody);
    std::vector<End> sends, receives;
    const auto fail = [](std::int32_t rank, const std::string& what, const char* hint) {
        throw GoalFault("rank " + std::to_string(rank) + " " + what + "\n" + hint);
    };
    for (std::size_t rank = 0; rank < count; ++rank) {
        sends.clear();
        receives.clear();
        std::size_t from = 0;
        for (std::uint32_t i = to[rank]; i < to[rank + 1]; ++i) {
            while (begin_[from + 1] <= sent[i]) ++from;
            sends.push_back({static_cast<std::int32_t>(from), all_[sent[i]].tag, sent[i]});
        }
        for (std::size_t i = begin_[rank]; i < begin_[rank + 1]; ++i)
            if (all_[i].kind == Kind::receive)
                receives.push_back({all_[i].peer, all_[i].tag, static_cast<std::uint32_t>(i)});
        for (std::vector<End>* ends : {&sends, &receives})
            if (!std::is_sorted(ends->begin(), ends->end())) std::sort(ends->begin(), ends->end());
        auto receive = receives.begin();
        for (const End& send : sends) {
            const auto here = static_cast<std::int32_t>(rank);
            const auto key = std::tie(send.from, send.tag);
            if (receive != receives.end() && std::tie(receive->from, receive->tag) < key) break;
            const std::string what = "sends " + std::to_string(all_[send.at].amount) + " B to " +
                                     std::to_string(here) + " with tag " + std::to_string(send.tag);
            if (receive == receives.end() || std::tie(receive->from, receive->tag) != key)
                fail(send.from, what + ", and nobody receives it", "add a recv of that rank and tag");
            if (all_[send.at].amount != all_[receive->at].amount)
                fail(send.from, what + ", which receives " + std::to_string(all_[receive->at].amount) + " B",
                     "give both the same size");
            partner_[send.at] = receive->at;
            partner_[receive->at] = send.at;
            ++receive;
        }
        if (receive != receives.end())
            fail(static_cast<std::int32_t>(rank),
                 "receives a message of tag " + std::to_string(receive->tag) + " from " +
                     std::to_string(receive->from) + " that nobody sends",
                 "add a send of that rank and tag");
        messages_ += static_cast<std::int64_t>(sends.size());
    }
}

namespace {

// Dependencies of a rank, with those that follow from `irequires`.
constexpr std::size_t most_edges = std::size_t{1} << 22;

// What is known of a message beforehand: how long it takes if nothing is in its way, and whether it waits for
// its receive.
class OneWay {
  public:
    explicit OneWay(const std::vector<Curve>& costs) : costs_(costs) {}

    const std::pair<double, bool>& of(Bytes size_B) {
        if (size_B == latest_B_) return latest_;
        latest_B_ = size_B;
        const auto known = by_size_.find(size_B);
        if (known != by_size_.end()) return latest_ = known->second;
        const double time_s = at(Term::send, size_B) + at(Term::transfer, size_B) + at(Term::receive, size_B);
        return latest_ = by_size_[size_B] = {time_s, at(Term::handshake, size_B) >= 0};
    }

  private:
    double at(Term term, Bytes size_B) const { return costs_[static_cast<std::size_t>(term)].at(size_B); }

    const std::vector<Curve>& costs_;
    Bytes latest_B_ = -1;
    std::pair<double, bool> latest_;
    std::unordered_map<Bytes, std::pair<double, bool>> by_size_;
};

}  // namespace

Graph::Ordered::Ordered(const Graph& graph, const CostCurves& costs) : graph_(graph) {
    const std::size_t count = graph.all_.size();
    // Of each operation how many it waits for, then whether it has started; its earliest start; the longest
    // way to it in operations, so that of equal ones whoever is waited for comes first.
    constexpr std::int32_t started = -1;
    std::vector<std::int32_t> waits(count), level(count);
    std::vector<double> start_s(count);
    for (const std::uint32_t waiting : graph.waiting_) ++waits[waiting / 2];

    OneWay message(costs.message.back());
    std::vector<std::uint32_t> ready;
    const auto release = [&](std::size_t i, bool is_start, double at_s, std::int32_t depth) {
        for (std::uint32_t w = graph.waiting_begin_[i]; w < graph.waiting_begin_[i + 1]; ++w) {
            if ((graph.waiting_[w] % 2 == 1) != is_start) continue;
            const std::uint32_t next = graph.waiting_[w] / 2;
            start_s[next] = std::max(start_s[next], at_s);
            level[next] = std::max(level[next], depth + 1);
            if (--waits[next] == 0) ready.push_back(next);
        }
    };
    const auto start = [&](std::size_t i) {
        const Operation& operation = graph.all_[i];
        waits[i] = started;
        release(i, true, start_s[i], level[i]);
        if (operation.kind == Kind::reduce)
            return release(i, false, start_s[i] + costs.reduce.at(operation.amount), level[i] + 1);
        const std::size_t other = graph.partner_[i];
        const bool is_send = operation.kind == Kind::send;
        const auto [one_way_s, meets] = message.of(operation.amount);
        if (is_send && !meets) release(i, false, start_s[i], level[i] + 1);
        if (waits[other] != started) return;
        const std::size_t send = is_send ? i : other, receive = is_send ? other : i;
        const std::int32_t depth = std::max(level[i], level[other]) + 1;
        if (meets) release(send, false, std::max(start_s[i], start_s[other]), depth);
        release(receive, false, std::max(start_s[receive], start_s[send] + one_way_s), depth);
    };
    std::size_t done = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (waits[i] == 0) {
            start(i);
            ++done;
        }
        while (!ready.empty()) {
            const std::size_t next = ready.back();
            ready.pop_back();
            start(next);
            ++done;
        }
    }
    if (done < count) {
        const auto stuck = static_cast<std::size_t>(
            std::find_if(waits.begin(), waits.end(), [](std::int32_t n) { return n > 0; }) - waits.begin());
        const auto next = std::upper_bound(graph.begin_.begin(), graph.begin_.end(), stuck);
        throw GoalFault("the graph is a deadlock: operation " + std::to_string(stuck - *std::prev(next) + 1) +
                        " of rank " + std::to_string(next - graph.begin_.begin() - 1) +
                        " waits, by way of others, for itself\nremove one of the dependencies, or post the "
                        "receives earlier");
    }
    order_.resize(count);
    tag_.resize(count);
    Tally sent;
    for (std::size_t rank = 0; rank + 1 < graph.begin_.size(); ++rank) {
        const std::size_t first = graph.begin_[rank];
        const auto mine = order_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = order_.begin() + static_cast<std::ptrdiff_t>(graph.begin_[rank + 1]);
        std::iota(mine, end, 0U);
        const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
            return std::tie(start_s[first + a], level[first + a], a) <
                   std::tie(start_s[first + b], level[first + b], b);
        };
        if (!std::is_sorted(mine, end, is_before)) std::sort(mine, end, is_before);
        sent.clear();
        for (auto number = mine; number != end; ++number) {
            const std::size_t i = first + *number;
            if (graph.all_[i].kind == Kind::send)
                tag_[i] = tag_[graph.partner_[i]] = sent.next(graph.all_[i].peer);
        }
    }
}

void Graph::Ordered::write(int rank, Writer& writer) const {
    const std::size_t first = graph_.begin_[static_cast<std::size_t>(rank)];
    const std::size_t count = graph_.begin_[static_cast<std::size_t>(rank) + 1] - first;
    // Of each operation those it waits for: their number, doubled, and whether for the start only.
    std::vector<std::uint32_t> begin(count + 1), before;
    const std::uint32_t *waiting = graph_.waiting_.data() + graph_.waiting_begin_[first],
                        *end = graph_.waiting_.data() + graph_.waiting_begin_[first + count];
    bool has_starts = false;
    for (const std::uint32_t* w = waiting; w != end; ++w) {
        ++begin[*w / 2 - first + 1];
        has_starts = has_starts || *w % 2 == 1;
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    before.resize(begin.back());
    {
        std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
        for (std::size_t i = 0; i < count; ++i)
            for (std::uint32_t w = graph_.waiting_begin_[first + i]; w < graph_.waiting_begin_[first + i + 1];
                 ++w)
                before[next[graph_.waiting_[w] / 2 - first]++] =
                    2 * static_cast<std::uint32_t>(i) + graph_.waiting_[w] % 2;
    }
    std::vector<std::int32_t> at(count), after;
    // Whoever starts with another waits for what the other waits for, and stands behind it.
    std::vector<std::vector<std::int32_t>> needed(has_starts ? count : 0);
    std::size_t edges = 0;
    for (std::size_t place = 0; place < count; ++place) {
        const std::uint32_t number = order_[first + place];
        at[number] = static_cast<std::int32_t>(place);
        after.clear();
        for (std::uint32_t b = begin[number]; b < begin[number + 1]; ++b) {
            if (before[b] % 2 == 0)
                after.push_back(at[before[b] / 2]);
            else
                after.insert(after.end(), needed[before[b] / 2].begin(), needed[before[b] / 2].end());
        }
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        if (has_starts) {
            edges += after.size();
            if (edges > most_edges)
                throw GoalFault("rank " + std::to_string(rank) + " has more than " +
                                std::to_string(most_edges) +
                                " dependencies\nleave out those that follow from others");
            needed[number] = after;
        }
        const Operation& operation = graph_.all_[first + number];
        const Steps steps(after.begin(), after.end());
        if (operation.kind == Kind::reduce)
            writer.work(operation.amount, steps);
        else
            writer.take(operation.kind, operation.peer, tag_[first + number],
                        {Memory::input, 0, operation.amount}, steps);
    }
}

}  // namespace hockney
