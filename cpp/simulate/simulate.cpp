#include "simulate.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>

#include "../schedule/collective.hpp"
#include "alike.hpp"
#include "phases.hpp"
#include "programs.hpp"
#include "rounds.hpp"

namespace hockney {
namespace {

bool flows_inward(const Phase& phase) {
    if (phase.algorithm == nullptr) return false;
    return phase.algorithm->operation->direction == Direction::inward;
}

// Of messages of ranks that are alike but for uneven blocks.
void add_sizes(const Phase& phase, std::set<Bytes>& sizes_B) {
    const std::vector<Phase> alone{phase};
    Sizes sizes;
    Programs programs(alone, {}, sizes, false);
    std::vector<Act> acts;
    std::optional<Uneven> uneven;
    if (is_uneven(phase)) uneven.emplace(phase.problem, phase.algorithm->likeness == Likeness::shift);
    programs.write(0, 0, acts, uneven ? &*uneven : nullptr);
    add_sizes(acts, uneven, sizes, sizes_B);
}

template <class Time>
Simulated run(const Workload& work, const CostCurves& curves, const Options& options, const Sizes& sizes,
              const ReplayWriter* replayed, bool by_class) {
    Room room(options.most_B);
    Costs costs(work.domains.localities());
    Stream<Time> stream(curves, costs, sizes, static_cast<std::size_t>(by_class ? 1 : work.ranks),
                        static_cast<std::size_t>(work.phases()), work.rendezvous, room);
    if (!options.network.node_of_rank.empty()) stream.share(options.network);
    stream.disturb(options.noise);
    Waits waits;
    waits.window = options.window;
    if (replayed != nullptr && options.trace) stream.account(waits);

    Simulated result;
    if (by_class) {
        Classes classes(work.ranks);
        Rounds<Stream<Time>> rounds(work, stream, 0, room);
        if (!rounds.run(classes)) {
            result = run<Time>(work, curves, options, sizes, replayed, false);
            result.work += stream.events() + room.looked();
            return result;
        }
        result.messages = rounds.sends();
        for (int i = 0; i < classes.count(); ++i) result.ranks_of_class.push_back(classes.ranks(i));
    } else {
        has_sharing(curves, options.network) ? take_all<true>(work, stream, room)
                                             : take_all<false>(work, stream, room);
        result.messages = stream.sends();
    }
    result.size_B = sizes.all();
    result.work = stream.events() + room.looked();
    room.take(stream.finish().size(), sizeof(double));
    result.finish_s.reserve(stream.finish().size());
    for (const Time& time : stream.finish()) result.finish_s.push_back(time.s);
    if constexpr (std::is_same_v<Time, Traced>) {
        const auto last_phase = stream.finish().end() - static_cast<std::ptrdiff_t>(stream.finish().size()) /
                                                            static_cast<std::ptrdiff_t>(work.phases());
        const auto last = std::max_element(last_phase, stream.finish().end(),
                                           [](const Traced& a, const Traced& b) { return a.s < b.s; });
        room.take(stream.trace().size(), sizeof(double));
        std::vector<double> weight(stream.trace().size());
        if (last->node >= 0) weight[static_cast<std::size_t>(last->node)] = 1;
        result.critical.resize(costs.time_s.size());
        trace_back(stream.trace(), weight, result.critical);
        if (sizes.has_unusual()) as_usual(sizes, costs, curves, result.critical);
        if (replayed != nullptr) {
            const std::size_t spots = replayed->spots().size(), row = costs.row();
            result.of_spots_s.resize(4 * spots);
            const std::vector<std::int32_t>& owners = stream.owners();
            for (std::size_t i = 0; i < owners.size(); ++i) {
                const TraceNode& node = stream.trace()[i];
                if (weight[i] == 0 || node.cost < 0) continue;
                const auto cost = static_cast<std::size_t>(node.cost);
                const bool computes = cost / row == replayed->tick();
                result.of_spots_s[4 * static_cast<std::size_t>(owners[i]) + (computes ? 0 : 1)] +=
                    weight[i] * node.times * costs.time_s[cost];
            }
            for (std::size_t i = 0; i < waits.idle_s.size(); ++i) {
                result.of_spots_s[4 * i + 2] = waits.idle_s[i];
                result.of_spots_s[4 * i + 3] = waits.late_s[i];
            }
        }
    }
    if (replayed != nullptr) {
        result.worked_s = waits.worked_s;
        result.moments = std::move(waits.moments);
        result.idle_of_pair_s = std::move(waits.of_pair_s);
        result.spots = replayed->spots();
        result.alone = replayed->alone();
    }
    return result;
}

}  // namespace

bool has_rendezvous(const CostCurves& costs) {
    for (const std::vector<Curve>& of_locality : costs.message)
        for (const double time_s : of_locality[static_cast<std::size_t>(Term::handshake)].time_s)
            if (time_s != buffered) return true;
    return false;
}

Workload workload(const std::vector<Phase>& phases, Programs& programs, const CostCurves& costs, Sizes& sizes,
                  bool rendezvous, bool copies_count, bool noise) {
    Workload work;
    work.ranks = phases.front().problem.ranks;
    work.rendezvous = rendezvous;
    work.meets = [&costs](Bytes size_B, std::size_t locality) {
        return costs.message[locality][static_cast<std::size_t>(Term::handshake)].at(size_B) >= 0;
    };
    work.sizes = &sizes;
    work.program = [&](int phase, int rank, std::vector<Act>& acts, Uneven* uneven) {
        programs.write(phase, rank, acts, uneven);
    };
    for (const Phase& phase : phases) {
        work.courses.push_back(
            {phase.problem.root, flows_inward(phase), likeness(phase, copies_count, true)});
        Course& course = work.courses.back();
        if (phase.replay) {
            course.is_streamed = work.buffers = true;
            work.stop = [&](int rank, std::uint32_t step) { programs.replayed()->stop(rank, step); };
        }
        if (course.alike == Likeness::none || !is_uneven(phase)) continue;
        course.uneven = &phase.problem;
        // Noise goes by the numbers of a rank's steps, which leave out what is empty; where a segment is, the
        // next receive is posted earlier.
        if ((noise || (work.rendezvous && phase.problem.segment_B > 0)) && has_empty_parts(phase.problem))
            course.alike = Likeness::none;
    }
    return work;
}

bool has_sharing(const CostCurves& costs, const Network& network) {
    return !network.node_of_rank.empty() || cost_anything(costs, Term::insert);
}

// The same of the messages that there are, where one rank's steps tell of all.
bool has_rendezvous(const std::vector<Phase>& phases, const CostCurves& costs, bool copies_count) {
    if (phases.front().replay != nullptr && phases.front().replay->recording->synchronous() > 0) return true;
    if (!has_rendezvous(costs)) return false;
    for (const Phase& phase : phases)
        if (likeness(phase, copies_count, true) == Likeness::none) return true;
    std::set<Bytes> sizes_B;
    for (const Phase& phase : phases) add_sizes(phase, sizes_B);
    for (const Bytes size_B : sizes_B)
        for (const std::vector<Curve>& terms : costs.message)
            if (terms[static_cast<std::size_t>(Term::handshake)].at(size_B) != buffered) return true;
    return false;
}

Simulated simulate(const std::vector<Phase>& phases, const CostCurves& costs, const Options& options) {
    const auto begin = std::chrono::steady_clock::now();
    Sizes sizes;
    if (has_sharing(costs, options.network) || phases.front().replay != nullptr) sizes.index(0);
    const bool noise = !options.noise.mean_s.empty();
    const bool copies_count = cost_anything(costs.copy) || (options.trace && !options.by_class) || noise;
    const bool rendezvous = has_rendezvous(phases, costs, copies_count);
    Programs programs(phases, costs, sizes, rendezvous);
    Workload work = workload(phases, programs, costs, sizes, rendezvous, copies_count, noise);
    work.domains = options.domains;
    // Classes come to something shared in no order of time.
    const Course& course = work.course(0);
    const bool by_class =
        options.by_class && course.alike != Likeness::none &&
        (course.uneven == nullptr || (course.alike == Likeness::exclusive_or && !has_sharing(costs, {})));
    const auto& run_it = options.trace ? run<Traced> : run<Plain>;
    Simulated result = run_it(work, costs, options, sizes, programs.replayed(), by_class);
    result.work += programs.looked();
    result.engine_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

Timeline timeline(const Schedule& schedule, const CostCurves& curves) {
    Timeline result;
    for (const RankSchedule& mine : schedule) {
        result.start_s.emplace_back(mine.steps.size());
        result.end_s.emplace_back(mine.steps.size());
        result.arrival_s.emplace_back(mine.steps.size());
    }
    Workload work;
    work.ranks = static_cast<int>(schedule.size());
    work.rendezvous = has_rendezvous(curves);
    work.courses.resize(1);
    Sizes sizes;
    Writer writer(work.rendezvous, sizes);
    work.program = [&](int, int rank, std::vector<Act>& acts, Uneven*) {
        writer.begin(acts);
        writer.take(schedule[static_cast<std::size_t>(rank)]);
        writer.end();
    };
    Costs costs(1);
    Room room(most_held_B);
    Stream<Plain> stream(curves, costs, sizes, schedule.size(), 1, work.rendezvous, room);
    stream.record(result);
    take_all<false>(work, stream, room);
    for (const Plain& time : stream.finish()) result.finish_s.push_back(time.s);
    return result;
}

}  // namespace hockney
