// Collective calls as the schedules that do them.
#include <algorithm>
#include <tuple>

#include "../schedule/collective.hpp"
#include "replay.hpp"

namespace hockney {
namespace {

// Acts of templates that are held: 128 MiB.
constexpr std::size_t most_held = std::size_t{1} << 23U;

bool is_message(Op op) { return op == Op::send || op == Op::post || op == Op::receive || op == Op::sent; }

}  // namespace

void ReplayWriter::collective(int rank, Rank& mine, const TraceEvent& event, std::vector<Act>& acts) {
    const bool returns = event.kind == trace::collective && (event.flags & trace::non_blocking) != 0;
    const Communicator& place = mine.reader.communicator(event.communicator);
    const Template* how = place.remote == nullptr && place.ranks() > 1 ? known(mine, event) : nullptr;
    if (how == nullptr) return;
    numbers_.clear();
    for (const Template::Message& each : how->messages) {
        const std::int32_t peer = place.world(each.peer);
        const Channel channel{each.is_send ? rank : peer, each.is_send ? peer : rank, place.number,
                              collective_tag};
        numbers_.push_back(channels_.number(channel, each.is_send, mine.reader.number()));
    }
    std::vector<Act>* into = &acts;
    for (const Act& act : how->acts) {
        if (returns && into == &acts && (act.op == Op::receive || act.op == Op::sent)) {
            if (mine.free.empty()) {
                mine.rest.emplace_back();
                mine.free.push_back(static_cast<std::uint32_t>(mine.rest.size()));
            }
            const std::uint32_t rest = mine.free.back();
            mine.free.pop_back();
            mine.reader.request(mine.reader.latest_request()).rest = rest;
            into = &mine.rest[rest - 1];
        }
        into->push_back(act);
        Act& mapped = into->back();
        mapped.step = mine.label;
        overtake(mine, mapped);
        if (!is_message(act.op)) continue;
        mapped.peer = place.world(act.peer);
        mapped.tag = numbers_[static_cast<std::size_t>(act.tag)];
    }
}

const ReplayWriter::Template* ReplayWriter::known(Rank& mine, const TraceEvent& event) {
    const Communicator& place = mine.reader.communicator(event.communicator);
    CollectiveCall call{};
    if (!Recording::call_of(event, mine.reader.known(), call)) {
        once_ = {};
        if (event.kind == trace::collective) plain(mine, event, once_);
        return &once_;
    }
    const std::int32_t number = replay_.recording->number_of(call);
    const bool is_in_place = event.kind == trace::collective && (event.flags & trace::in_place) != 0;
    const std::int32_t root = event.kind == trace::made ? 0 : event.root;
    const std::uint64_t key = (static_cast<std::uint64_t>(2 * number + (is_in_place ? 1 : 0)) << 40U) |
                              (static_cast<std::uint64_t>(place.own) << 20U) |
                              static_cast<std::uint64_t>(root);
    const auto [at, is_new] = templates_.try_emplace(key);
    if (!is_new) return &at->second;
    if (held_ > most_held) {
        templates_.clear();
        held_ = 0;
        return known(mine, event);
    }
    for (const auto& [algorithm, asked] : replay_.done_by[static_cast<std::size_t>(number)]) {
        Problem problem = asked;
        problem.root = algorithm->operation->rooted() ? root : 0;
        problem.in_place = is_in_place && algorithm->operation->in_place != InPlace::nothing;
        if (const std::string reason = refusal(*algorithm, problem); !reason.empty())
            mine.reader.fail(
                algorithm->name + " of " + algorithm->collective + " does not do this: " + reason,
                "choose another one: --algorithm OPERATION=ALGORITHM");
        std::vector<Act> acts;
        writer_.begin(acts);
        generate(*algorithm, problem, place.own, builder_);
        writer_.end();
        if (!replay_.call_factor.empty()) {
            const Terms terms{replay_.call_factor[static_cast<std::size_t>(number)], false};
            for (Act& act : acts) act.size = sizes_.index(sizes_.all()[act.size], terms) & most_sizes;
        }
        close(std::move(acts), at->second);
    }
    held_ += at->second.acts.size() + at->second.messages.size();
    return &at->second;
}

// Numbers a schedule's messages in the order of their tags, which is that of both ends.
void ReplayWriter::close(std::vector<Act>&& acts, Template& into) const {
    const auto before = static_cast<std::ptrdiff_t>(into.messages.size());
    const auto of = [](const Act& act) {
        return Template::Message{act.tag, act.peer, act.op == Op::send || act.op == Op::sent};
    };
    const auto is_before = [](const Template::Message& a, const Template::Message& b) {
        return std::tie(a.tag, a.peer, a.is_send) < std::tie(b.tag, b.peer, b.is_send);
    };
    for (const Act& act : acts)
        if (is_message(act.op)) into.messages.push_back(of(act));
    const auto first = into.messages.begin() + before;
    std::sort(first, into.messages.end(), is_before);
    const auto is_same = [&](const auto& a, const auto& b) { return !is_before(a, b); };  // sorted
    into.messages.erase(std::unique(first, into.messages.end(), is_same), into.messages.end());
    for (Act& act : acts)
        if (is_message(act.op))
            act.tag = static_cast<std::int32_t>(
                std::lower_bound(into.messages.begin() + before, into.messages.end(), of(act), is_before) -
                into.messages.begin());
    into.acts.insert(into.acts.end(), acts.begin(), acts.end());
}

// Operations that no library's algorithm is known of: the usual ones, with the bytes that there were.
void ReplayWriter::plain(const Rank& mine, const TraceEvent& event, Template& into) {
    static const Algorithm usual = [] {
        Algorithm algorithm("barrier", "", nullptr);
        algorithm.operation = find_collective("barrier");
        return algorithm;
    }();
    const Communicator& place = mine.reader.communicator(event.communicator);
    const int ranks = place.ranks(), own = place.own;
    std::vector<Act> acts;
    writer_.begin(acts);
    Problem problem;
    problem.ranks = ranks;
    builder_.begin(*usual.operation, problem, own);
    static const std::vector<Bytes> nothing;
    const auto list = [&](std::size_t i) -> const std::vector<Bytes>& {
        return i < event.numbers.size() ? mine.reader.known().vector[event.numbers[i]] : nothing;
    };
    // Of a list that is too short the operation's own bytes.
    const auto bytes = [&](std::size_t i, int peer) {
        const std::vector<Bytes>& all = list(i);
        return static_cast<std::size_t>(peer) < all.size() ? all[static_cast<std::size_t>(peer)]
                                                           : (all.empty() ? event.bytes : 0);
    };
    const auto region = [](Bytes length_B) { return Region{Memory::scratch, 0, length_B}; };
    const auto neighbour = [&](int distance) { return (own + distance + ranks) % ranks; };
    switch (event.operation) {
        case trace::scan:
        case trace::exscan: {  // recursive doubling
            int partial = Builder::none;
            for (int distance = 1; distance < ranks; distance *= 2) {
                int sent = Builder::none, received = Builder::none;
                if (own + distance < ranks)
                    sent = builder_.send(own + distance, region(event.bytes), {partial});
                if (own >= distance) received = builder_.receive(own - distance, region(event.bytes));
                if (received != Builder::none)
                    partial = builder_.reduce(region(event.bytes), {Memory::output, 0, event.bytes},
                                              {received, sent, partial});
            }
            break;
        }
        case trace::allgatherv: {  // ring
            int last = Builder::none;
            for (int step = 0; step + 1 < ranks; ++step) {
                builder_.send(neighbour(1), region(bytes(0, neighbour(-step))), {last});
                last = builder_.receive(neighbour(-1), region(bytes(0, neighbour(-step - 1))));
            }
            break;
        }
        case trace::gatherv:
        case trace::scatterv: {
            const bool is_root = own == event.root;
            const int first = is_root ? 0 : event.root, end = is_root ? ranks : event.root + 1;
            for (int peer = first; peer < end; ++peer) {
                const Region block = region(is_root ? bytes(0, peer) : event.bytes);
                if (peer == own) continue;
                if ((event.operation == trace::gatherv) == is_root)
                    builder_.receive(peer, block);
                else
                    builder_.send(peer, block);
            }
            break;
        }
        case trace::alltoallv:
            for (int step = 1; step < ranks; ++step)
                builder_.receive(neighbour(-step), region(bytes(1, neighbour(-step))));
            for (int step = 1; step < ranks; ++step)
                builder_.send(neighbour(step), region(bytes(0, neighbour(step))));
            break;
        case trace::neighbor_allgather:
        case trace::neighbor_alltoall: {
            int number = 0;
            for (const std::int32_t source : place.sources)
                builder_.receive(source, region(bytes(1, number++)));
            number = 0;
            for (const std::int32_t to : place.destinations) builder_.send(to, region(bytes(0, number++)));
            break;
        }
        default:
            break;
    }
    writer_.end();
    close(std::move(acts), into);
}

}  // namespace hockney
