// How a collective is measured: every repetition starts at an agreed time on the global clock (a round-time
// window, Hunold and Carpen-Amarie, TPDS 2016), each rank notes its entry and exit, and the time of the
// repetition is the last exit minus the first entry. Agreeing on the start needs one allreduce, outside the
// timed part.
#include "measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "../clock.hpp"
#include "../placement.hpp"
#include "../point.hpp"
#include "../references.hpp"
#include "../stopping.hpp"
#include "group.hpp"
#include "ready.hpp"
#include "repetition.hpp"

namespace hockney {
namespace {

// A block of repetitions between two decisions of rank 0.
constexpr double block_s = 5e-3;
constexpr int most_per_block = 64;
constexpr long least_blocks = 16;              // of a point that has as many repetitions as it may
constexpr unsigned repetitions_a_message = 4;  // of the burst before a block
// Enough for a median within a fraction of a percent, unless the request asks for fewer; fast operations
// pause between blocks, so that even these see more than an instant of the machine. A simulation repeats
// itself exactly.
constexpr long enough_rounds = is_simulated ? least_samples : 1024;
// With more late repetitions than this share, windows open later.
constexpr double tolerated_late_share = 0.2;
// Roots that a rotation visits: all of them in small groups.
constexpr int most_roots = 64;
constexpr int least_warm_up = is_simulated ? 1 : 5;
constexpr double warm_up_share = is_simulated ? 0 : 0.1, most_warm_up_factor = 3;

// What rank 0 knows of a repetition.
struct Round {
    double completion_s;
    bool late, preempted;
};

// Gathers the times of all ranks from one repetition on; rounds on rank 0, empty elsewhere.
std::vector<Round> gather(const std::vector<EntryExit>& timed, std::size_t from, const Group& group) {
    const auto n = timed.size() - from;
    // First entry (negated), last exit and the two flags: each is a maximum over the ranks.
    std::vector<double> mine, all(4 * n);
    for (std::size_t i = from; i < timed.size(); ++i) {
        mine.push_back(-group.clock->to_global(timed[i].entry_s));
        mine.push_back(group.clock->to_global(timed[i].exit_s));
        mine.push_back(timed[i].late ? 1 : 0);
        mine.push_back(timed[i].preempted ? 1 : 0);
    }
    MPI_Reduce(mine.data(), all.data(), static_cast<int>(4 * n), MPI_DOUBLE, MPI_MAX, 0, group.control);
    std::vector<Round> rounds;
    for (std::size_t i = 0; group.rank == 0 && i < n; ++i)
        rounds.push_back({all[4 * i] + all[4 * i + 1], all[4 * i + 2] > 0, all[4 * i + 3] > 0});
    return rounds;
}

// The rounds that were in time, unless hardly any was.
std::vector<std::size_t> in_time(const std::vector<Round>& rounds) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < rounds.size(); ++i)
        if (!rounds[i].late) chosen.push_back(i);
    if (static_cast<long>(chosen.size()) >= least_samples) return chosen;
    chosen.clear();
    for (std::size_t i = 0; i < rounds.size(); ++i) chosen.push_back(i);
    return chosen;
}

std::vector<Sample> samples_of(const std::vector<Round>& rounds, const std::vector<std::size_t>& chosen) {
    std::vector<Sample> samples;
    for (const std::size_t i : chosen) samples.push_back({rounds[i].completion_s, rounds[i].preempted});
    return samples;
}

// Rank 0's decision after each block.
struct Order {
    double repetitions = 0;  // 0: stop; −n: a reference with n barriers a piece
    double slack_s = 0;
    double pause_s = 0;  // before the block
};

struct Measured {
    std::vector<EntryExit> timed;
    std::string stop;
    long same_cpu = 0;
    References references;  // on rank 0
};

Measured repeat(RepetitionLoop& loop, const Request& request, const Group& group) {
    const double budget_s = request.real("budget_s");
    const long most_rounds =
        request.has("most_samples") ? std::min(enough_rounds, request.whole("most_samples")) : enough_rounds;
    StoppingRule rule = stopping_rule(request, most_rounds);
    Measured measured;
    std::vector<Round> rounds;
    std::minstd_rand random;  // the same numbers on all ranks
    Order order{static_cast<double>(least_samples), loop.slack_s(), 0};
    const double pace_s = budget_s * least_budget_share / static_cast<double>(most_rounds);
    const double most_of_block = std::clamp<double>(most_rounds / least_blocks, 4, most_per_block);
    const double start_s = now_s();
    const CausesWatch watch;
    Bracket bracket([&](long count) {
        Order reference{-static_cast<double>(count)};
        MPI_Bcast(&reference, 3, MPI_DOUBLE, 0, group.control);
        return time_barriers(count, group.control);
    });
    if (group.rank == 0) bracket.open();
    for (;;) {
        if (group.rank == 0) {
            if (order.repetitions == 0)
                measured.references = bracket.close(static_cast<long>(measured.timed.size()));
            else
                bracket.before_sample(static_cast<long>(measured.timed.size()));
        }
        MPI_Bcast(&order, 3, MPI_DOUBLE, 0, group.control);
        if (order.repetitions == 0) {
            measured.references.causes = combined(watch.so_far(), group.control);
            return measured;
        }
        if (order.repetitions < 0) {
            time_barriers(std::lround(-order.repetitions), group.control);
            continue;
        }
        loop.set_slack(order.slack_s);
        if (order.pause_s > 0) {
            usleep(static_cast<useconds_t>(order.pause_s * 1e6));
            loop.once();  // wakes caches and clocks up
        }
        const std::size_t from = measured.timed.size();
        const double block_start_s = now_s();
        const bool shared = group.clock->shares_processor();
        const auto repetitions = static_cast<unsigned>(order.repetitions);
        if (!is_simulated)
            exchange_burst(group,
                           1 + random() % std::clamp(repetitions / repetitions_a_message, 1U, most_burst));
        for (unsigned i = 0; i < repetitions; ++i) measured.timed.push_back(loop.once());
        if (shared) measured.same_cpu += static_cast<long>(order.repetitions);
        const std::vector<Round> block = gather(measured.timed, from, group);
        if (group.rank != 0) continue;
        rounds.insert(rounds.end(), block.begin(), block.end());
        const auto late = std::count_if(block.begin(), block.end(), [](const Round& r) { return r.late; });
        if (static_cast<double>(late) > tolerated_late_share * order.repetitions) order.slack_s *= 2;
        const double took_s = now_s() - block_start_s, each_s = took_s / order.repetitions;
        order.pause_s = std::max(0.0, order.repetitions * pace_s - took_s);
        measured.stop = rule.reached(samples_of(rounds, in_time(rounds)), now_s() - start_s);
        // Where every window is missed, the number of attempts ends it.
        if (measured.stop.empty() && static_cast<long>(rounds.size()) >= 2 * most_rounds)
            measured.stop = "count";
        order.repetitions =
            measured.stop.empty() ? std::clamp(std::floor(block_s / each_s), 4.0, most_of_block) : 0;
    }
}

// Each rank's own mean time of a call, as OSU's programs take it; then mean, least and largest over the
// ranks.
struct OverRanks {
    double mean_s, min_s, max_s;
};

OverRanks over_ranks(const std::vector<EntryExit>& timed, std::vector<char> used, const Group& group) {
    used.resize(timed.size());
    MPI_Bcast(used.data(), static_cast<int>(used.size()), MPI_CHAR, 0, group.control);
    double sum_s = 0, count = 0;
    for (std::size_t i = 0; i < timed.size(); ++i) {
        if (used[i] == 0) continue;
        sum_s += timed[i].exit_s - timed[i].entry_s;
        count += 1;
    }
    const double own[3] = {sum_s / count, -sum_s / count, sum_s / count};
    double total_s = 0, extremes[2];
    MPI_Reduce(&own[0], &total_s, 1, MPI_DOUBLE, MPI_SUM, 0, group.control);
    MPI_Reduce(&own[1], extremes, 2, MPI_DOUBLE, MPI_MAX, 0, group.control);
    return {total_s / group.ranks, -extremes[0], extremes[1]};
}

std::vector<int> roots_of(const Request& request) {
    if (request.whole("rotate") == 0) return {static_cast<int>(request.whole("root"))};
    std::vector<int> roots;
    const int ranks = static_cast<int>(request.whole("ranks")), count = std::min(ranks, most_roots);
    for (int i = 0; i < count; ++i) roots.push_back(static_cast<int>(static_cast<long>(i) * ranks / count));
    return roots;
}

}  // namespace

std::string measure_collective(const Request& request, const Group& group) {
    const double begin_s = now_s();
    const std::vector<int> roots = roots_of(request);
    double cache_B = request.text("cache") == "off" ? 2 * last_level_cache_B() : 0, region_B = 0;
    MPI_Allreduce(&cache_B, &region_B, 1, MPI_DOUBLE, MPI_MAX, group.control);
    ReadyCall ready(request, roots, static_cast<std::size_t>(region_B), group, group.control);
    group.clock->synchronise();
    RepetitionLoop loop(ready, group, request.text("start") == "window");
    loop.gauge();
    const double warm_up_s = request.real("budget_s") * warm_up_share, warm_up_start_s = now_s();
    for (int round = 0;; ++round) {
        loop.once();
        const double spent_s = now_s() - warm_up_start_s;
        const bool enough = round + 1 >= least_warm_up && spent_s > warm_up_s;
        if (all_agree(enough || spent_s > most_warm_up_factor * warm_up_s, group.control)) break;
    }
    Measured measured = repeat(loop, request, group);
    // Only now is the drift during the point known: all times once more.
    group.clock->synchronise();
    const std::vector<Round> rounds = gather(measured.timed, 0, group);
    const std::vector<std::size_t> chosen = in_time(rounds);
    const std::vector<Sample> samples = samples_of(rounds, chosen);
    measured.references.renumber(chosen);
    Summary summary;
    std::vector<char> used(rounds.size(), 0);
    if (group.rank == 0) {
        summary = summarise(samples);
        for (const std::size_t i : chosen) used[i] = 1;
        for (const long i : summary.disturbed) used[chosen[static_cast<std::size_t>(i)]] = 0;
    }
    const OverRanks times = over_ranks(measured.timed, used, group);
    const double clock_error_s = group.clock->residual_s();
    const bool is_right = ready.verify();
    if (group.rank != 0) return "";
    const auto late = std::count_if(rounds.begin(), rounds.end(), [](const Round& r) { return r.late; });
    if (chosen.size() == rounds.size())
        summary.disturbed_but_counted = std::max(summary.disturbed_but_counted, static_cast<long>(late));
    JsonObject record;
    record.add("type", "measurement");
    add_summary(record, summary, samples);
    record.add("mean_over_ranks_s", times.mean_s).add("min_over_ranks_s", times.min_s);
    record.add("max_over_ranks_s", times.max_s).add("clock_error_s", clock_error_s);
    record.add("late", late);
    if (roots.size() > 1) {
        std::vector<long> sample_roots;
        for (const std::size_t i : chosen) sample_roots.push_back(measured.timed[i].root);
        record.add("sample_roots", sample_roots);
    }
    record.add("proved", ready.selection().proved());
    record.add("batch", 1).add("stop", measured.stop).add("verified", is_right);
    record.add("same_cpu", measured.same_cpu).add("elapsed_s", now_s() - begin_s);
    measured.references.add_to(record);
    return record.str();
}

}  // namespace hockney
