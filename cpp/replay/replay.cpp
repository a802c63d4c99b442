#include "replay.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace hockney {

// Acts that are written at a time.
constexpr std::size_t chunk = 1024;

ReplayWriter::ReplayWriter(const Replay& replay, Sizes& sizes, bool rendezvous)
    : replay_(replay),
      sizes_(sizes),
      rendezvous_(rendezvous),
      tick_(sizes.index(tick_B)),
      writer_(rendezvous, sizes),
      builder_(writer_) {
    for (int rank = 0; rank < replay.recording->ranks(); ++rank) {
        ranks_.emplace_back(RankReader(*replay.recording, rank));
        if (!replay.rank_factor.empty())
            ranks_.back().factor = replay.rank_factor[static_cast<std::size_t>(rank)];
    }
}

void ReplayWriter::write(int rank, std::vector<Act>& acts) {
    Rank& mine = ranks_[static_cast<std::size_t>(rank)];
    acts.clear();
    while (acts.size() < chunk && mine.reader.next(event_)) take(rank, mine, event_, acts);
}

void ReplayWriter::compute(Rank& mine, const TraceEvent& event, std::vector<Act>& acts) {
    auto time_ns = static_cast<double>(replay_.uses_cpu ? event.cpu_ns : event.gap_ns);
    if (!replay_.site_factor.empty()) time_ns *= replay_.site_factor[event.site];
    time_ns *= mine.factor;
    if (event.kind == trace::other) time_ns += static_cast<double>(event.inside_ns);
    const Bytes ticks = std::llround(std::min(time_ns, 9e18));
    if (ticks > 0) acts.emplace_back(ticks, label(mine, event.site, -1), tick_);
}

std::uint32_t ReplayWriter::label(Rank& mine, std::uint32_t site, std::int32_t communicator) {
    if (mine.spot.site == site && mine.spot.communicator == communicator) return mine.label;
    mine.spot = {site, communicator, communicator < 0 ? 0 : mine.reader.communicator(communicator).ranks()};
    const std::uint64_t key = (std::uint64_t{site} << 32U) ^
                              static_cast<std::uint64_t>(communicator + 1) * 0x9E3779B97F4A7C15U ^
                              static_cast<std::uint64_t>(mine.spot.ranks) * 0xD6E8FEB86659FD93U;
    const auto known = labels_.try_emplace(key, static_cast<std::uint32_t>(spots_.size()));
    if (known.second) spots_.push_back(mine.spot);
    return mine.label = known.first->second;
}

// What a rank sends itself is copied when it is sent, and crosses nothing.
bool ReplayWriter::is_own(int rank, const Rank& mine, std::int32_t communicator, const End& end) {
    return mine.reader.communicator(communicator).world(end.peer) == rank;
}

Act ReplayWriter::message(int rank, const Rank& mine, std::int32_t communicator, const End& end,
                          bool is_send) {
    const Communicator& place = mine.reader.communicator(communicator);
    const std::int32_t peer = place.world(end.peer);
    const Channel channel{is_send ? rank : peer, is_send ? peer : rank, place.number, end.tag};
    return {peer, channels_.number(channel, is_send, mine.reader.number()), mine.label, 0, Op::finish};
}

Act ReplayWriter::send(int rank, Rank& mine, std::int32_t communicator, const End& end, std::uint8_t mode,
                       std::vector<Act>& acts) {
    if (is_own(rank, mine, communicator, end)) {
        acts.emplace_back(-1, 0, mine.label, sizes_.index(end.bytes), Op::copy);
        return {-1, 0, mine.label, 0, Op::finish};
    }
    Act act = message(rank, mine, communicator, end, true);
    act.size = sizes_.index(end.bytes, {1, mode == trace::synchronous}) & most_sizes;
    act.op = Op::send;
    acts.push_back(act);
    act.op = rendezvous_ ? Op::sent : Op::finish;
    return act;
}

// Its size is the sender's business.
Act ReplayWriter::post(int rank, Rank& mine, std::int32_t communicator, const End& end,
                       std::vector<Act>& acts) {
    if (was_probed(rank, mine, communicator, end) || is_own(rank, mine, communicator, end))
        return {-1, 0, mine.label, 0, Op::finish};
    Act act = message(rank, mine, communicator, end, false);
    act.op = Op::post;
    if (rendezvous_) acts.push_back(act);
    act.op = Op::receive;
    return act;
}

// What was probed has been waited for, and is the next to be received.
bool ReplayWriter::was_probed(int rank, Rank& mine, std::int32_t communicator, const End& end) {
    if (mine.probed.empty()) return false;
    const Communicator& place = mine.reader.communicator(communicator);
    const Channel channel{place.world(end.peer), rank, place.number, end.tag};
    const auto known = std::find(mine.probed.begin(), mine.probed.end(), channel);
    if (known == mine.probed.end()) return false;
    mine.probed.erase(known);
    return true;
}

void ReplayWriter::probe(int rank, Rank& mine, const TraceEvent& event, std::vector<Act>& acts) {
    const bool is_known = was_probed(rank, mine, event.communicator, event.in);
    if (!is_known) {
        Act act = post(rank, mine, event.communicator, event.in, acts);
        overtake(mine, act);
        if (act.op == Op::receive) acts.push_back(act);
    }
    if (event.kind == trace::mprobe) return;
    const Communicator& place = mine.reader.communicator(event.communicator);
    mine.probed.push_back({place.world(event.in.peer), rank, place.number, event.in.tag});
}

void ReplayWriter::begin(int rank, Rank& mine, std::uint64_t number, const RankReader::Persistent& of,
                         std::vector<Act>& acts) {
    Request& request = mine.reader.request(number);
    const RankTrace& known = mine.reader.known();
    while (mine.dropped < known.dropped.size() && known.dropped[mine.dropped] < number) ++mine.dropped;
    request.of = Request::Of::nothing;
    if (mine.dropped < known.dropped.size() && known.dropped[mine.dropped] == number) return;
    End who = of.end;
    if (request.is_wild) {
        while (mine.resolved < known.resolved.size() && known.resolved[mine.resolved].first < number)
            ++mine.resolved;
        // What got nothing, or was never waited for, is left out.
        if (mine.resolved == known.resolved.size() || known.resolved[mine.resolved].first != number) return;
        who = known.resolved[mine.resolved].second;
    }
    const Act act = of.is_send ? send(rank, mine, of.communicator, who, of.flags, acts)
                               : post(rank, mine, of.communicator, who, acts);
    if (act.op == Op::finish || (of.is_send && of.flags == trace::buffered)) return;
    request.of = of.is_send ? Request::Of::send : Request::Of::receive;
    request.peer = act.peer;
    request.message = act.tag;
    request.size = act.size;
}

void ReplayWriter::wait(Rank& mine, const TraceEvent& event, std::vector<Act>& acts) {
    receives_.clear();
    sends_.clear();
    under_way_.clear();
    std::uint64_t awaited = mine.awaited;
    for (const TraceEvent::Completed& done : event.completed) {
        const Request& request = mine.reader.request(done.number);
        const std::uint32_t number = label(mine, event.site, request.communicator);
        if (request.of == Request::Of::receive) {
            receives_.emplace_back(request.peer, request.message, number, request.size, Op::receive);
            receives_.back().is_overtaken = done.number < mine.awaited;
            awaited = std::max(awaited, done.number + 1);
        } else if (request.of == Request::Of::send) {
            sends_.emplace_back(request.peer, request.message, number, request.size, Op::sent);
        } else if (request.rest > 0) {
            under_way_.emplace_back(request.rest, number);
        }
    }
    std::uint64_t latest = 0;
    for (const TraceEvent::Completed& done : event.completed) latest = std::max(latest, done.number);
    mine.reader.forget_complete();
    const bool is_waited = event.kind == trace::wait;
    if (is_waited) mine.awaited = awaited;
    const bool overtakes = mine.reader.has_open_receive(latest);
    for (Act& act : receives_) {
        act.is_last = &act == &receives_.back();
        act.is_disordered = act.is_overtaken || overtakes;
        if (is_waited) acts.push_back(act);
    }
    if (is_waited) acts.insert(acts.end(), sends_.begin(), sends_.end());
    for (const auto& [rest, number] : under_way_) {
        std::vector<Act>& all = mine.rest[rest - 1];
        for (Act& act : all) act.step = number;
        if (is_waited) acts.insert(acts.end(), all.begin(), all.end());
        all.clear();
        mine.free.push_back(rest);
    }
}

// What is received at once comes before all that was posted and is not waited for yet.
void ReplayWriter::overtake(Rank& mine, Act& act) {
    if (act.op != Op::receive) return;
    const std::uint64_t next = mine.reader.latest_request() + 1;
    act.is_disordered = act.is_disordered || mine.reader.has_open_receive(next);
    mine.awaited = next;
}

void ReplayWriter::take(int rank, Rank& mine, const TraceEvent& event, std::vector<Act>& acts) {
    compute(mine, event, acts);
    const std::int32_t place = event.communicator;
    if (place >= 0) label(mine, event.site, place);
    switch (event.kind) {
        case trace::send: {
            const Act act = send(rank, mine, place, event.out, event.flags, acts);
            if (act.op == Op::sent && event.flags != trace::buffered) acts.push_back(act);
            return;
        }
        case trace::recv: {
            Act act = post(rank, mine, place, event.in, acts);
            overtake(mine, act);
            if (act.op == Op::receive) acts.push_back(act);
            return;
        }
        case trace::sendrecv: {
            Act in{-1, 0, 0, 0, Op::finish}, out = in;
            if (event.in.peer >= 0) in = post(rank, mine, place, event.in, acts);
            if (event.out.peer >= 0) out = send(rank, mine, place, event.out, trace::standard, acts);
            overtake(mine, in);
            for (const Act& act : {in, out})
                if (act.op != Op::finish) acts.push_back(act);
            return;
        }
        case trace::isend:
        case trace::irecv: {
            const bool is_send = event.kind == trace::isend;
            return begin(rank, mine, mine.reader.latest_request(),
                         {is_send, event.flags, place, is_send ? event.out : event.in}, acts);
        }
        case trace::start: {
            std::uint64_t number = mine.reader.latest_request() + 1 - event.numbers.size();
            for (const std::uint32_t persistent : event.numbers) {
                const RankReader::Persistent& of = mine.reader.persistent(persistent);
                label(mine, event.site, of.communicator);
                begin(rank, mine, number++, of, acts);
            }
            return;
        }
        case trace::probe:
        case trace::mprobe:
            return probe(rank, mine, event, acts);
        case trace::wait:
        case trace::dropped:
            return wait(mine, event, acts);
        case trace::collective:
        case trace::made:
            return place >= 0 ? collective(rank, mine, event, acts) : void();
        default:
            return;
    }
}

std::string ReplayWriter::alone() const {
    std::string first;
    std::tuple<bool, std::uint32_t, std::int32_t> least{true, UINT32_MAX, INT32_MAX};
    channels_.each([&](const Channel& channel, bool is_send, std::uint32_t event) {
        // A receive that nobody sends is why others wait.
        const std::tuple place{is_send, event, is_send ? channel.from : channel.to};
        if (least < place) return;
        least = place;
        first =
            "rank " + std::to_string(std::get<2>(place)) + ", event " + std::to_string(event) +
            ": a message " +
            (channel.tag == collective_tag ? "of a collective" : "of tag " + std::to_string(channel.tag)) +
            (is_send ? " to rank " + std::to_string(channel.to) + " that nobody receives"
                     : " from rank " + std::to_string(channel.from) + " that nobody sends");
    });
    return first;
}

void ReplayWriter::stop(int rank, std::uint32_t step) const {
    if (!replay_.recording->is_whole()) return;
    if (const std::string lone = alone(); !lone.empty())
        throw TraceFault(lone + "\nthe trace lacks a call: record the run again");
    throw TraceFault(
        "rank " + std::to_string(rank) + " waits for ever in " +
        replay_.recording->sites()[spots_[step].site] +
        ": its message waits for a receiver that waits, too\nthe program relies on buffers that messages of "
        "that size do not have on this machine: receive first, or with MPI_Irecv");
}

}  // namespace hockney
