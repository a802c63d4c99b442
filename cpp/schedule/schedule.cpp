// Registry, refusals and the builder.
#include "schedule.hpp"

#include <limits>

#include "collective.hpp"
#include "trees.hpp"
#include "written.hpp"

namespace hockney {
namespace {

// Why no rank's memories can be numbered, "" where they can: a rank holds the vector, or a block of every
// rank, and at most one copy of it for each of ⌈log₂P⌉ rounds and four buffers beside.
std::string too_many_bytes(const Collective& collective, const Problem& p) {
    const Bytes shares = (collective.sizes_are_blocks ? Bytes{p.ranks} : 1) * (ceil_log2(p.ranks) + 5);
    if (p.bytes <= std::numeric_limits<Bytes>::max() / shares) return "";
    return std::to_string(p.bytes) + " bytes of " + collective.name + " on " + std::to_string(p.ranks) +
           " ranks are more than can be counted (2^63)";
}

}  // namespace

Algorithm::Algorithm(const char* collective_, const char* name_, Generator generate_)
    : collective(collective_), name(name_), operation(find_collective(collective_)), generate(generate_) {}

std::map<std::pair<std::string, std::string>, Algorithm>& algorithms() {
    static std::map<std::pair<std::string, std::string>, Algorithm> all;
    return all;
}

std::string refusal(const Collective& collective, const Problem& p) {
    if (p.ranks < 1) return "the number of ranks must be at least 1, not " + std::to_string(p.ranks);
    if (p.ranks > most_ranks)
        return "the number of ranks must be at most " + std::to_string(most_ranks) + " (2^30), not " +
               std::to_string(p.ranks);
    if (p.root < 0 || p.root >= p.ranks)
        return "root " + std::to_string(p.root) + " is none of the ranks 0 to " + std::to_string(p.ranks - 1);
    if (p.root != 0 && !collective.rooted()) return collective.name + std::string(" has no root");
    if (p.bytes < 0 || p.element_B < 1 || p.bytes % p.element_B != 0)
        return std::to_string(p.bytes) + " bytes are no whole number of elements of " +
               std::to_string(p.element_B) + " B";
    return too_many_bytes(collective, p);
}

std::string refusal(const Algorithm& algorithm, const Problem& p) {
    const Collective& collective = *algorithm.operation;
    if (const std::string reason = refusal(collective, p); !reason.empty()) return reason;
    if (p.segment_B != 0 && !algorithm.is_segmented)
        return algorithm.name + " does not cut its messages into segments";
    if (p.segment_B < 0 || (p.segment_B != 0 && p.segment_B < p.element_B))
        return "a segment must hold at least one element of " + std::to_string(p.element_B) + " B";
    if (p.segment_B != 0 && p.bytes / p.segment_B > most_steps)
        return std::to_string(p.bytes / p.segment_B) + " segments are more than a rank's schedule holds (" +
               std::to_string(most_steps) + ")";
    if (p.radix != 0 && algorithm.default_radix == 0) return algorithm.name + " takes no radix";
    if (p.radix != 0 && p.radix < algorithm.least_radix)
        return "the radix of " + algorithm.name + " must be at least " +
               std::to_string(algorithm.least_radix);
    if (!p.commutative && collective.reduces && !algorithm.is_ordered)
        return algorithm.name + " does not keep rank order, so its operator must be commutative";
    if (!p.commutative && p.root != 0 && algorithm.is_ordered_from_root)
        return algorithm.name + " keeps rank order for root 0 only";
    if (algorithm.written) {
        try {
            Builder unused;
            run_written(algorithm, p, 0, unused, true);
        } catch (const Unmet& unmet) {
            return unmet.what();
        }
    }
    return algorithm.constraint == nullptr ? "" : algorithm.constraint(p);
}

const RankSchedule& generate(const Algorithm& algorithm, const Problem& problem, int rank, Builder& builder) {
    Problem asked = problem;
    if (asked.radix == 0) asked.radix = algorithm.default_radix;
    builder.begin(*algorithm.operation, asked, rank);
    if (algorithm.written)
        run_written(algorithm, asked, rank, builder);
    else
        algorithm.generate(asked, rank, builder);
    return builder.schedule();
}

RankSchedule generate(const Algorithm& algorithm, const Problem& problem, int rank) {
    Builder builder;
    return generate(algorithm, problem, rank, builder);
}

Schedule generate(const Algorithm& algorithm, const Problem& problem) {
    if (problem.ranks > most_ranks_held)
        throw TooLarge("the schedules of " + std::to_string(problem.ranks) +
                       " ranks are more than are held at once (" + std::to_string(most_ranks_held) + ")");
    Schedule schedule;
    Builder builder;
    Bytes held_B = 0;
    for (int rank = 0; rank < problem.ranks; ++rank) {
        schedule.push_back(generate(algorithm, problem, rank, builder));
        held_B += builder.held_B();
        expect_held(held_B);
    }
    return schedule;
}

Bytes count_steps(const Algorithm& algorithm, const Problem& problem, Bytes enough) {
    Builder builder;
    Bytes steps = 0;
    for (int rank = 0; rank < problem.ranks && steps <= enough; ++rank)
        steps += static_cast<Bytes>(generate(algorithm, problem, rank, builder).steps.size());
    return steps;
}

void expect_held(Bytes held_B) {
    if (held_B > most_held_B)
        throw TooLarge("the schedule takes more than the " + std::to_string(most_held_B >> 30) +
                       " GiB that are held at once");
}

std::string fault(const Step& step, std::size_t index, int rank, int ranks) {
    if (step.kind == Kind::send || step.kind == Kind::receive) {
        if (step.peer < 0 || step.peer >= ranks || step.peer == rank)
            return "peer " + std::to_string(step.peer) + " is no other rank";
        if (step.tag < 0 || step.tag >= most_tags)
            return "tag " + std::to_string(step.tag) + " is none of 0 to " + std::to_string(most_tags - 1);
    } else if (step.peer != -1) {
        return "a copy or a reduction has no peer, " + std::to_string(step.peer);
    }
    for (const Region* region : {&step.from, &step.into})
        if (region->offset_B < 0 || region->length_B < 0 ||
            region->length_B > std::numeric_limits<Bytes>::max() - region->offset_B)
            return "a region lies outside its memory";
    for (const int before : step.after)
        if (before < 0 || static_cast<std::size_t>(before) >= index)
            return "depends on step " + std::to_string(before) + ", which is not before it";
    return "";
}

Tally::Entry& Tally::of(int peer) {
    std::size_t place = static_cast<std::uint32_t>(peer) * 0x9E3779B1U & (table_.size() - 1);
    while (table_[place].round == round_ && table_[place].peer != peer)
        place = (place + 1) & (table_.size() - 1);
    return table_[place];
}

int Tally::next(int peer) {
    if (2 * (count_ + 1) > table_.size()) {
        std::vector<Entry> old(table_.empty() ? 16 : 2 * table_.size(), Entry{0, 0, 0});
        old.swap(table_);
        for (const Entry& entry : old)
            if (entry.round == round_) of(entry.peer) = entry;
    }
    Entry& entry = of(peer);
    if (entry.round != round_) {
        entry = {peer, 0, round_};
        ++count_;
    }
    return entry.messages++;
}

void Builder::begin(const Collective& collective, const Problem& problem, int rank) {
    sent_.clear();
    received_.clear();
    schedule_.steps.clear();
    latest_ = none;
    schedule_.scratch_B = 0;
    held_B_ = 0;
    staged_ = none;
    input_ = {Memory::input, 0, 0};
    output_ = {Memory::output, 0, 0};
    if (!problem.in_place) return;
    Bytes offset_B = 0;
    if (input_in_output(collective, problem, rank, offset_B)) {
        input_ = {Memory::output, offset_B, 0};
        // Where results overwrite inputs that are still to be sent, the inputs move aside first.
        if (collective.in_place == InPlace::overwrites_input) {
            const Bytes length_B = collective.input_B(problem, rank);
            input_ = scratch(length_B);
            staged_ = copy(part(output_, 0, length_B), part(input_, 0, length_B));
        }
    }
    if (collective.in_place == InPlace::output_in_input && rank == problem.root)
        output_ = part(input_, rank * problem.bytes, 0);
}

Region Builder::input(Bytes offset_B, Bytes length_B) const { return part(input_, offset_B, length_B); }
Region Builder::output(Bytes offset_B, Bytes length_B) const { return part(output_, offset_B, length_B); }

Region Builder::scratch(Bytes length_B) {
    const Region region{Memory::scratch, schedule_.scratch_B, length_B};
    schedule_.scratch_B += length_B;
    return region;
}

int Builder::add(Kind kind, int peer, int tag, const Region& from, const Region& into, const Steps& after) {
    held_B_ += static_cast<Bytes>(sizeof(Step)) + (taker_ != nullptr ? 0 : after.held_B());
    expect_held(held_B_);
    ++latest_;
    if (taker_ != nullptr) {
        taker_->take(kind, peer, tag, kind == Kind::send ? from : into, after);
        return latest_;
    }
    schedule_.steps.emplace_back();
    Step& step = schedule_.steps.back();
    step.kind = kind;
    step.peer = peer;
    step.tag = tag;
    step.line = line_;
    step.from = from;
    step.into = into;
    for (const int before : after)
        if (before != none) step.after.push_back(before);
    if (staged_ != none) step.after.push_back(staged_);
    return latest_;
}

int Builder::send(int peer, const Region& from, const Steps& after) {
    if (from.length_B == 0) return none;
    return add(Kind::send, peer, sent_.next(peer), from, {}, after);
}

int Builder::receive(int peer, const Region& into, const Steps& after) {
    if (into.length_B == 0) return none;
    return add(Kind::receive, peer, received_.next(peer), {}, into, after);
}

int Builder::copy(const Region& from, const Region& into, const Steps& after) {
    if (from.length_B == 0 || from == into) return none;
    return add(Kind::copy, -1, 0, from, into, after);
}

int Builder::reduce(const Region& from, const Region& into, const Steps& after) {
    if (from.length_B == 0) return none;
    return add(Kind::reduce, -1, 0, from, into, after);
}

int Builder::signal(int peer, const Steps& after) {
    return add(Kind::send, peer, sent_.next(peer), {}, {}, after);
}

int Builder::await(int peer, const Steps& after) {
    return add(Kind::receive, peer, received_.next(peer), {}, {}, after);
}

}  // namespace hockney
