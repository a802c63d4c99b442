// How a point is measured. The leader decides and times; before each batch it tells the follower how many
// repetitions follow, outside the timed part.
#include "pair.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "clock.hpp"
#include "json.hpp"
#include "kernels/kernel.hpp"
#include "placement.hpp"
#include "statistics.hpp"
#include "stopping/criterion.hpp"

namespace hockney {

std::map<std::string, Kernel>& kernels() {
    static std::map<std::string, Kernel> all;
    return all;
}

namespace {

constexpr int control_tag = 3, answer_tag = 4;
constexpr long stop = 0;

// Long beside two readings of the clock and a late start, short beside a scheduler's time slice of some ms,
// so that on a busy machine most batches are whole or not touched at all.
constexpr double batch_s = 50e-6;
constexpr double batch_granules = 200;
// A point that converges at once still spreads its samples over this share of its budget.
constexpr double least_budget_share = 0.2;
// Fewer samples than this have no 95 % interval inside their extremes (1 − 2^(1−n)).
constexpr long least_samples = 6;
constexpr long most_samples = 4000;
// Of the memory that is free, the share that buffers may take.
constexpr double memory_share = 0.8;

long involuntary_switches() {
    rusage usage{};
#ifdef RUSAGE_THREAD
    getrusage(RUSAGE_THREAD, &usage);
#else
    getrusage(RUSAGE_SELF, &usage);
#endif
    return usage.ru_nivcsw;
}

// Leader: announce a batch (or `stop`); the answer is the follower's count of preemptions so far, and says
// that it is ready.
long announce(const Pair& pair, long repetitions) {
    long switches = 0;
    MPI_Send(&repetitions, 1, MPI_LONG, pair.partner, control_tag, pair.comm);
    MPI_Recv(&switches, 1, MPI_LONG, pair.partner, answer_tag, pair.comm, MPI_STATUS_IGNORE);
    return switches;
}

void follow(const Kernel& kernel, Pair& pair) {
    for (;;) {
        long repetitions = stop;
        MPI_Recv(&repetitions, 1, MPI_LONG, pair.partner, control_tag, pair.comm, MPI_STATUS_IGNORE);
        const long switches = involuntary_switches();
        MPI_Send(&switches, 1, MPI_LONG, pair.partner, answer_tag, pair.comm);
        if (repetitions == stop) return;
        kernel.run(pair, repetitions);
    }
}

struct Measured {
    std::vector<Sample> samples;
    std::string stop;
    long batch;
    double elapsed_s;
};

// Work between messages that outlasts their delivery: three round trips, measured here.
void set_spin(Pair& pair) {
    constexpr int rounds = 200;
    if (!pair.leader) {
        for (int i = 0; i < rounds; ++i) {
            pair.receive_one();
            pair.send_one();
        }
        return;
    }
    std::vector<double> trips;
    for (int i = 0; i < rounds; ++i) {
        const double start = now_s();
        pair.send_one();
        pair.receive_one();
        trips.push_back(now_s() - start);
    }
    std::nth_element(trips.begin(), trips.begin() + rounds / 2, trips.end());
    constexpr long probe = 10000;
    double cost_s = 1;
    for (int i = 0; i < 20; ++i) {
        const double start = now_s();
        spin(probe);
        cost_s = std::min(cost_s, now_s() - start);
    }
    pair.spin_iterations = static_cast<long>(3 * trips[rounds / 2] / (cost_s / probe)) + 1;
}

// Doubles the batch until it is long enough, then goes on for a tenth of the budget. Returns the batch.
long warm_up(const Kernel& kernel, Pair& pair, double duration_s) {
    const double least_batch_s = std::max(batch_s, batch_granules * clock_granularity_s());
    long batch = 1;
    const double begin = now_s();
    do {
        announce(pair, batch);
        const double start = now_s();
        kernel.run(pair, batch);
        const double took_s = now_s() - start;
        if (took_s < least_batch_s) {
            // At most doubled: a short batch may be a fluke, and so may a long one.
            const double wanted = static_cast<double>(batch) * least_batch_s / std::max(took_s, 1e-9);
            batch = std::max(batch + 1, std::min(2 * batch, static_cast<long>(wanted) + 1));
        }
    } while (now_s() - begin < duration_s);
    return batch;
}

Measured lead(const Kernel& kernel, Pair& pair, const Request& request) {
    const double budget_s = request.real("budget_s");
    const double begin = now_s();
    Measured measured{{}, "", warm_up(kernel, pair, budget_s / 10), 0};
    std::vector<std::unique_ptr<Criterion>> criteria;
    criteria.push_back(interval_criterion(request.real("tolerance"), request.whole("least_samples"),
                                          budget_s * least_budget_share));
    criteria.push_back(budget_criterion(budget_s, least_samples));
    criteria.push_back(count_criterion(most_samples));
    std::vector<Sample>& samples = measured.samples;
    long partner_before = 0;
    // What happens to the follower during a batch is known with its next answer.
    const auto settle = [&](long partner_now) {
        if (!samples.empty() && partner_now != partner_before) samples.back().preempted = true;
        partner_before = partner_now;
    };
    const double start = now_s();
    while (measured.stop.empty()) {
        settle(announce(pair, measured.batch));
        const long own_before = involuntary_switches();
        const double value_s = kernel.run(pair, measured.batch) / static_cast<double>(measured.batch);
        samples.push_back({value_s, involuntary_switches() != own_before});
        measured.stop = finished(criteria, samples, now_s() - start);
    }
    settle(announce(pair, stop));
    measured.elapsed_s = now_s() - begin;
    return measured;
}

// One repetition into poisoned buffers; the leader learns whether both sides hold what was sent.
bool verify(const Kernel& kernel, Pair& pair, int rank, int partner_rank, int salt) {
    pair.send.fill(rank, salt);
    pair.receive.poison(partner_rank, salt);
    kernel.run(pair, 1);
    const bool receives = pair.leader ? kernel.leader_receives : kernel.follower_receives;
    int mine = !receives || pair.receive.holds(partner_rank, salt) ? 1 : 0, theirs = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, pair.partner, answer_tag, &theirs, 1, MPI_INT, pair.partner, answer_tag,
                 pair.comm, MPI_STATUS_IGNORE);
    return mine != 0 && theirs != 0;
}

// Both ranks must have room, or neither starts.
bool both_have_room(double needed_B, int partner, MPI_Comm comm) {
    const double available_B = available_memory_B();
    // The two may share a host.
    int mine = available_B == 0 || 2 * needed_B < memory_share * available_B ? 1 : 0, theirs = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, partner, answer_tag, &theirs, 1, MPI_INT, partner, answer_tag, comm,
                 MPI_STATUS_IGNORE);
    return mine != 0 && theirs != 0;
}

JsonObject quantiles_json(const Summary& summary) {
    JsonObject quantiles;
    for (std::size_t i = 0; i < quantile_levels.size(); ++i)
        quantiles.add(json_number(quantile_levels[i]), summary.quantiles_s[i]);
    return quantiles;
}

}  // namespace

std::string measure_pair(const Request& request, MPI_Comm comm, int rank) {
    const int leader = static_cast<int>(request.whole("leader"));
    const int follower = static_cast<int>(request.whole("follower"));
    const int partner = rank == leader ? follower : leader;
    const Kernel& kernel = kernels().at(request.text("operation"));
    const auto bytes = static_cast<std::size_t>(request.whole("bytes"));
    double cache_B = last_level_cache_B(), partner_cache_B = 0;
    MPI_Sendrecv(&cache_B, 1, MPI_DOUBLE, partner, answer_tag, &partner_cache_B, 1, MPI_DOUBLE, partner,
                 answer_tag, comm, MPI_STATUS_IGNORE);
    // Twice the larger cache, so that a slot has left both by the time it comes round again.
    const auto region_B =
        request.text("cache") == "off" ? static_cast<std::size_t>(2 * std::max(cache_B, partner_cache_B)) : 0;
    const double needed_B = 2.0 * static_cast<double>(Buffer::total_B(bytes, region_B));
    if (!both_have_room(needed_B, partner, comm)) {
        JsonObject refusal;
        refusal.add("type", "refused").add("reason", "memory").add("needed_B", 2 * needed_B);
        refusal.add("available_B", available_memory_B());
        return rank == leader ? refusal.str() : "";
    }
    const Payload payload(bytes);
    Buffer send(bytes, region_B), receive(bytes, region_B);
    Pair pair{comm,    partner, rank == leader, static_cast<int>(request.whole("window")),
              payload, send,    receive};
    bool verified = verify(kernel, pair, rank, partner, 1);
    if (kernel.spins) set_spin(pair);
    if (!pair.leader) {
        follow(kernel, pair);
        verify(kernel, pair, rank, partner, 2);
        return "";
    }
    const Measured measured = lead(kernel, pair, request);
    verified = verify(kernel, pair, rank, partner, 2) && verified;
    const Summary summary = summarise(measured.samples);
    std::vector<double> samples_s;
    for (const Sample& sample : measured.samples) samples_s.push_back(sample.value_s);
    JsonObject record;
    record.add("type", "measurement").add("median_s", summary.median_s);
    record.add("low_s", summary.low_s).add("high_s", summary.high_s);
    record.raw("quantiles_s", quantiles_json(summary).str());
    record.add("samples_s", samples_s).add("disturbed_at", summary.disturbed);
    record.add("batch", measured.batch).add("stop", measured.stop).add("verified", verified);
    record.add("elapsed_s", measured.elapsed_s);
    return record.str();
}

}  // namespace hockney
