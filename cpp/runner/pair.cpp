// How a point is measured. The leader decides and times; before each batch it tells the follower how many
// repetitions follow, outside the timed part.
#include "pair.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "apps/app.hpp"
#include "causes.hpp"
#include "clock.hpp"
#include "json.hpp"
#include "kernels/kernel.hpp"
#include "placement.hpp"
#include "point.hpp"
#include "ranks.hpp"
#include "references.hpp"
#include "statistics.hpp"
#include "stopping.hpp"

namespace hockney {

void Pair::work(long times) const {
    spin(times * work_iterations);
    compute_simulated(static_cast<double>(times) * work_s);
}

namespace {

constexpr int control_tag = 3, answer_tag = 4, reference_tag = 5, burst_tag = 6;
constexpr long stop = 0;
// What references exchange. The time of the large message is its bytes' on most networks, and short enough to
// be timed again and again. A reference has so many round trips of it that find little in caches and are not
// timed, and at most so many that are.
constexpr int reference_B = 8, large_reference_B = 64 << 10;
constexpr long first_large_trips = 2, most_large_trips = 3;

// Long beside two readings of the clock and a late start, short beside a scheduler's time slice of some ms,
// so that on a busy machine most batches are whole or not touched at all.
constexpr double batch_s = 50e-6;
constexpr double batch_granules = 200;
// Enough rounds to double up to the batch of a fast message; a slow message may end earlier, at this multiple
// of the time given.
constexpr int least_warm_up_rounds = 12;
constexpr double most_warm_up_factor = 3;

// A library copies short messages by way of pieces of memory of its own, and takes the one that it gave back
// last: a ping-pong would use one piece throughout. How pieces lie in memory decides how fast they are copied
// (by up to 30 % with Open MPI on one host, between 2 and 4 KiB), and a program meets all of them. So each
// batch comes after a burst of at most so many messages each way, a random number of them, which leaves
// another piece on top. It has at most a quarter of the batch's repetitions: that takes little of the time.
constexpr long most_burst = 16, batch_a_message = 4;

// What the leader tells the follower before each batch.
struct Order {
    long repetitions;  // of the operation; −n: a reference with n exchanges a piece
    long pause_us;     // both sleep this long first
    long burst;  // messages each way before a batch; after a reference the round trips of the large message
};
constexpr int order_longs = sizeof(Order) / sizeof(long);

// The follower's answer when it is ready for a batch: its count of preemptions so far, and its processor.
struct Ready {
    long switches = involuntary_switches();
    long cpu = sched_getcpu();
};

// Leader: announce a batch (or `stop`).
Ready announce(const Pair& pair, const Order& order) {
    Ready ready;
    MPI_Send(&order, order_longs, MPI_LONG, pair.partner, control_tag, pair.comm);
    if (order.pause_us > 0) usleep(static_cast<useconds_t>(order.pause_us));
    MPI_Recv(&ready, 2, MPI_LONG, pair.partner, answer_tag, pair.comm, MPI_STATUS_IGNORE);
    return ready;
}

// Round trips of a reference. What is sent is never written, as in the kernels, and stays in the sender's
// cache.
void exchange(const Pair& pair, long count, int bytes) {
    static std::vector<char> sent(large_reference_B), received(large_reference_B);
    const auto send = [&] { MPI_Send(sent.data(), bytes, MPI_BYTE, pair.partner, reference_tag, pair.comm); };
    for (long i = 0; i < count; ++i) {
        if (pair.leader) send();
        MPI_Recv(received.data(), bytes, MPI_BYTE, pair.partner, reference_tag, pair.comm, MPI_STATUS_IGNORE);
        if (!pair.leader) send();
    }
}

// One-way times.
Reference pair_reference(const Pair& pair, long count, long large_trips) {
    const Reference trip = time_reference(count, [&](long trips) { exchange(pair, trips, reference_B); });
    if (large_trips == 0) return {trip.time_s / 2, trip.iqr_s / 2};
    exchange(pair, first_large_trips, large_reference_B);
    std::vector<double> trips_s;
    for (long i = 0; i < large_trips; ++i) {
        const double start_s = now_s();
        exchange(pair, 1, large_reference_B);
        trips_s.push_back(now_s() - start_s);
    }
    return {trip.time_s / 2, trip.iqr_s / 2, median(trips_s) / 2};
}

// Both ranks send so many messages before they receive any.
void exchange_burst(const Pair& pair, long count) {
    std::array<MPI_Request, most_burst> requests;
    for (long i = 0; i < count; ++i) {
        MPI_Isend(pair.send.next(), pair.payload.count(), pair.payload.type(), pair.partner, burst_tag,
                  pair.comm, &requests[static_cast<std::size_t>(i)]);
    }
    for (long i = 0; i < count; ++i) {
        MPI_Recv(pair.receive.next(), pair.payload.count(), pair.payload.type(), pair.partner, burst_tag,
                 pair.comm, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(static_cast<int>(count), requests.data(), MPI_STATUSES_IGNORE);
}

void follow(const Kernel& kernel, Pair& pair) {
    for (;;) {
        Order order{};
        MPI_Recv(&order, order_longs, MPI_LONG, pair.partner, control_tag, pair.comm, MPI_STATUS_IGNORE);
        if (order.pause_us > 0) usleep(static_cast<useconds_t>(order.pause_us));
        const Ready ready;
        MPI_Send(&ready, 2, MPI_LONG, pair.partner, answer_tag, pair.comm);
        if (order.repetitions == stop) return;
        if (order.repetitions < 0) {
            pair_reference(pair, -order.repetitions, order.burst);
            continue;
        }
        exchange_burst(pair, order.burst);
        kernel.run(pair, order.repetitions);
    }
}

// Runs batches on the leader and remembers how fast one can be.
class Batches {
  public:
    Batches(const Kernel& kernel, Pair& pair) : kernel_(kernel), pair_(pair) {}

    Ready announce_next(long repetitions) {
        const long most = is_simulated ? 0 : std::min(most_burst, repetitions / batch_a_message);
        burst_ = most > 0 ? std::uniform_int_distribution<long>(1, most)(random_) : 0;
        return announce_with(repetitions, burst_);
    }

    Ready announce_reference(long count, long large_trips) { return announce_with(-count, large_trips); }

    // The kernel's time of the batch that was announced, after its burst.
    double run(long repetitions) {
        exchange_burst(pair_, burst_);
        const double start = now_s();
        const double value_s = kernel_.run(pair_, repetitions);
        const double took_s = now_s() - start;
        const double fastest_s = fastest_repetition_s_ * static_cast<double>(repetitions);
        // Two ranks that share their processors with others can fall out of step: one runs while the other
        // waits its turn, batch after batch. Ranks that sleep and wake together start their next turn
        // together.
        if (took_s > preempted_batch_s && took_s > preempted_factor * fastest_s) pause_us_ = together_us;
        fastest_repetition_s_ = std::min(fastest_repetition_s_, took_s / static_cast<double>(repetitions));
        return value_s;
    }

    double fastest_repetition_s() const { return fastest_repetition_s_; }

  private:
    static constexpr double preempted_batch_s = 1e-3, preempted_factor = 4;
    static constexpr long together_us = 2000;

    Ready announce_with(long repetitions, long burst) {
        const Order order{repetitions, pause_us_, burst};
        pause_us_ = 0;
        return announce(pair_, order);
    }

    const Kernel& kernel_;
    Pair& pair_;
    long pause_us_ = 0, burst_ = 0;
    // The order says how long a burst is, so one side alone draws.
    std::minstd_rand random_{std::random_device{}()};
    double fastest_repetition_s_ = 1e9;
};

struct Measured {
    std::vector<Sample> samples;
    std::string stop;
    long batch;
    double elapsed_s;
    long same_cpu;  // samples at whose start both ranks were on processors of the same number
    References references;
};

// Work between messages that outlasts their delivery: three round trips, measured here.
void set_work(Pair& pair) {
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
    pair.work_s = 3 * median(trips);
    // A simulated host turns loops in no time.
    if (is_simulated) return;
    constexpr long probe = 10000;
    double cost_s = 1;
    for (int i = 0; i < 20; ++i) {
        const double start = now_s();
        spin(probe);
        cost_s = std::min(cost_s, now_s() - start);
    }
    pair.work_iterations = static_cast<long>(pair.work_s / (cost_s / probe)) + 1;
}

// Grows the batch until it is long enough, judged by the fastest repetition so far: a slow one may have been
// preempted. Returns the batch.
long warm_up(Batches& batches, double duration_s, long piece) {
    const double least_batch_s = std::max(batch_s, batch_granules * clock_granularity_s());
    long batch = 1;
    const double begin = now_s();
    for (int round = 0; round < least_warm_up_rounds || now_s() - begin < duration_s; ++round) {
        batches.announce_next(batch);
        batches.run(batch);
        const double wanted = least_batch_s / batches.fastest_repetition_s();
        // At most doubled, so that a clock read too early does no harm.
        batch = std::clamp(static_cast<long>(wanted) + 1, 1L, 2 * batch);
        if (now_s() - begin > most_warm_up_factor * duration_s && round > 0) break;
    }
    return (batch + piece - 1) / piece * piece;
}

// How many round trips of the large message a reference has room for; `take` times one with so many. Asked
// once for each partner: on a slow network this takes a while, and of one pair all visits have the same
// references.
long affordable_trips(const std::function<Reference(long, long)>& take) {
    double short_s = most_reference_s, trip_s = most_reference_s;
    // One of them may be preempted.
    for (int i = 0; i < 3; ++i) {
        const double start_s = now_s();
        trip_s = std::min(trip_s, 2 * take(1, 1).large_s);
        short_s = std::min(short_s, now_s() - start_s - (first_large_trips + 1) * trip_s);
    }
    const auto affordable = static_cast<long>((most_reference_s - short_s) / trip_s) - first_large_trips;
    return std::clamp(affordable, 0L, most_large_trips);
}

Measured lead(const Kernel& kernel, Pair& pair, const Request& request) {
    const double budget_s = request.real("budget_s");
    const double begin = now_s();
    Batches batches(kernel, pair);
    const long batch = warm_up(batches, budget_s / 10, kernel.piece);
    std::vector<Sample> samples;
    // What happens to the follower during a batch is known with its next answer.
    long partner_before = 0;
    bool is_after_batch = false;
    const auto settle = [&](const Ready& ready) {
        if (is_after_batch && ready.switches != partner_before) samples.back().preempted = true;
        partner_before = ready.switches;
    };
    const auto take = [&](long count, long large_trips) {
        settle(batches.announce_reference(count, large_trips));
        is_after_batch = false;
        return pair_reference(pair, count, large_trips);
    };
    static std::map<int, long> affordable;
    if (affordable.count(pair.partner) == 0)
        affordable[pair.partner] = is_simulated ? 0 : affordable_trips(take);
    const long large_trips = affordable[pair.partner];
    Bracket bracket([&](long count) { return take(count, large_trips); });
    StoppingRule rule = stopping_rule(request, most_samples);
    rule.disturbance = kernel.disturbance;
    std::string stopped;
    long same_cpu = 0;
    const double start = now_s();
    for (bracket.open(); stopped.empty();) {
        bracket.before_sample(static_cast<long>(samples.size()));
        const Ready ready = batches.announce_next(batch);
        settle(ready);
        same_cpu += ready.cpu == sched_getcpu() ? 1 : 0;
        const long own_before = involuntary_switches();
        const double value_s = batches.run(batch) / static_cast<double>(batch);
        samples.push_back({value_s, involuntary_switches() != own_before});
        is_after_batch = true;
        stopped = rule.reached(samples, now_s() - start);
    }
    const References references = bracket.close(static_cast<long>(samples.size()));
    settle(batches.announce_next(stop));
    return {samples, stopped, batch, now_s() - begin, same_cpu, references};
}

// Both ranks learn what the kernel told of either.
Causes pair_causes(const CausesWatch& watch, const Pair& pair) {
    const Causes own = watch.so_far();
    if (is_simulated) return own;
    Causes theirs = own;
    constexpr int numbers = sizeof(Causes) / sizeof(double);
    MPI_Sendrecv(&own, numbers, MPI_DOUBLE, pair.partner, answer_tag, &theirs, numbers, MPI_DOUBLE,
                 pair.partner, answer_tag, pair.comm, MPI_STATUS_IGNORE);
    return combined({own, theirs});
}

// Whether both ranks say so.
bool both_agree(bool mine, int partner, MPI_Comm comm) {
    int own = mine ? 1 : 0, theirs = 0;
    MPI_Sendrecv(&own, 1, MPI_INT, partner, answer_tag, &theirs, 1, MPI_INT, partner, answer_tag, comm,
                 MPI_STATUS_IGNORE);
    return own != 0 && theirs != 0;
}

// One repetition into poisoned buffers; the leader learns whether both sides hold what was sent.
bool verify(const Kernel& kernel, Pair& pair, int rank, int salt) {
    pair.send.fill(rank, salt);
    pair.receive.poison(pair.partner, salt);
    kernel.run(pair, 1);
    const bool receives = pair.leader ? kernel.leader_receives : kernel.follower_receives;
    return both_agree(!receives || pair.receive.holds(pair.partner, salt), pair.partner, pair.comm);
}

}  // namespace

std::string measure_pair(const Request& request, MPI_Comm comm) {
    const int rank = rank_of(comm);
    const int leader = static_cast<int>(request.whole("leader"));
    const int follower = static_cast<int>(request.whole("follower"));
    const int partner = rank == leader ? follower : leader;
    const Kernel& kernel = asked<Kernel>(request);
    const auto bytes = static_cast<std::size_t>(request.whole("bytes"));
    double cache_B = last_level_cache_B(), partner_cache_B = 0;
    MPI_Sendrecv(&cache_B, 1, MPI_DOUBLE, partner, answer_tag, &partner_cache_B, 1, MPI_DOUBLE, partner,
                 answer_tag, comm, MPI_STATUS_IGNORE);
    // Twice the larger cache, so that a slot has left both by the time it comes round again.
    const auto region_B =
        request.text("cache") == "off" ? static_cast<std::size_t>(2 * std::max(cache_B, partner_cache_B)) : 0;
    const double needed_B = 2.0 * static_cast<double>(Buffer::total_B(bytes, region_B));
    const double available_B = available_memory_B();
    // The two may share a host.
    if (!both_agree(available_B == 0 || 2 * needed_B < memory_share * available_B, partner, comm))
        throw Refusal(2 * needed_B, available_B);
    const Payload payload(bytes);
    Buffer send(bytes, region_B), receive(bytes, region_B);
    Pair pair{comm,    partner, rank == leader, static_cast<int>(request.whole("window")),
              payload, send,    receive};
    bool verified = verify(kernel, pair, rank, 1);
    if (kernel.works) set_work(pair);
    const CausesWatch watch;
    if (!pair.leader) {
        follow(kernel, pair);
        pair_causes(watch, pair);
        verify(kernel, pair, rank, 2);
        return "";
    }
    Measured measured = lead(kernel, pair, request);
    measured.references.causes = pair_causes(watch, pair);
    verified = verify(kernel, pair, rank, 2) && verified;
    const Summary summary = summarise(measured.samples, kernel.disturbance);
    JsonObject record;
    record.add("type", "measurement");
    add_summary(record, summary, measured.samples);
    record.add("batch", measured.batch).add("stop", measured.stop).add("verified", verified);
    record.add("elapsed_s", measured.elapsed_s).add("same_cpu", measured.same_cpu);
    measured.references.add_to(record);
    return record.str();
}

}  // namespace hockney
