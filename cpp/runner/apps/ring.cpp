// Messages that travel once around a ring of processes, in both directions at once.
//
//   app operation=ring ranks=4 exchange=sendrecv topology=world iterations=0 repetitions=0 least_samples=6
//       budget_s=1 tolerance=0.01
//
// Each process sends its message to the left and to the right; what arrives goes on, after the process has
// added its rank to the message that came from its left and subtracted it from the one that came from its
// right, until its own messages are back. Their tag is ten times the rank of the process that sent them
// first, and they keep it. That is one cycle; a sample is the mean of `iterations` cycles (0: as many as take
// `batch_s`), one after another without a barrier, after one that is not timed.
#include <algorithm>
#include <cmath>

#include "../clock.hpp"
#include "app.hpp"
#include "ring/exchange.hpp"

namespace hockney::app_ring {
namespace {

constexpr double batch_s = 2e-3;
constexpr long most_iterations = 100000000;
constexpr int most_ranks = 65536;  // beyond, P(P-1)/2 does not fit the message
constexpr int pilot_cycles = 3;

// Count, mean and variance of a stream (Welford 1962).
struct Moments {
    long count = 0;
    double mean = 0, squares = 0;

    void add(double value) {
        const double from_mean = value - mean;
        mean += from_mean / static_cast<double>(++count);
        squares += from_mean * (value - mean);
    }
    double variance() const { return count > 0 ? squares / static_cast<double>(count) : 0; }
};

OwnComm ring_of(MPI_Comm comm, const std::string& topology) {
    MPI_Comm ring = MPI_COMM_NULL;
    const int ranks = ranks_of(comm), periodic = 1, reorder = topology == "cartesian-reorder" ? 1 : 0;
    if (topology == "world")
        MPI_Comm_dup(comm, &ring);
    else
        MPI_Cart_create(comm, 1, &ranks, &periodic, reorder, &ring);
    return OwnComm(ring);
}

struct Cycles {
    const Neighbours& ring;
    RingExchange& exchange;
    Moments moments;
    Message rightward, leftward;  // the last ones that came back
    long received = 0;            // in a cycle
    bool verified = true;         // of all cycles

    double once() {
        rightward = {ring.rank, tag_factor * ring.rank};
        leftward = {-ring.rank, tag_factor * ring.rank};
        received = 0;
        const double start_s = now_s();
        for (int hop = 1;; ++hop) {
            received += exchange.hop(rightward, leftward);
            if (hop == ring.ranks) break;
            rightward.value += ring.rank;
            leftward.value -= ring.rank;
        }
        const double took_s = now_s() - start_s;
        const auto sum = static_cast<int>(static_cast<long>(ring.ranks) * (ring.ranks - 1) / 2);
        const bool is_mine = rightward.tag == tag_factor * ring.rank && leftward.tag == rightward.tag;
        verified = verified && is_mine && rightward.value == sum && leftward.value == -sum;
        return took_s;
    }

    // The mean of a cycle. What is left of a barrier's skew goes into the cycle that is not timed.
    double batch(long iterations) {
        once();
        double total_s = 0;
        for (long done = 0; done < iterations; ++done) {
            const double took_s = once();
            moments.add(took_s);
            total_s += took_s;
        }
        return total_s / static_cast<double>(iterations);
    }
};

// The same on every rank.
long chosen_iterations(Cycles& cycles, MPI_Comm comm) {
    if (is_simulated) return 1;
    double quickest_s = cycles.once();
    for (int done = 0; done < pilot_cycles; ++done) quickest_s = std::min(quickest_s, cycles.once());
    MPI_Allreduce(MPI_IN_PLACE, &quickest_s, 1, MPI_DOUBLE, MPI_MAX, comm);
    const double fitting = batch_s / std::max(quickest_s, clock_granularity_s());
    long iterations = std::clamp(std::lround(fitting), 1L, most_iterations);
    MPI_Bcast(&iterations, 1, MPI_LONG, 0, comm);
    return iterations;
}

void require_tags(int ranks, MPI_Comm comm) {
    int* largest = nullptr;
    int known = 0;
    MPI_Comm_get_attr(comm, MPI_TAG_UB, &largest, &known);
    if (ranks > most_ranks || (known && static_cast<long>(tag_factor) * (ranks - 1) > *largest))
        throw Refusal("constraint",
                      "a ring of " + std::to_string(ranks) +
                          " processes needs values of up to P(P-1)/2 and tags of up to 10(P-1): "
                          "more than an int or this MPI's tags hold");
}

std::string run(const Request& request, MPI_Comm comm) {
    const std::string& topology = request.text("topology");
    request.choice("topology", {"world", "cartesian", "cartesian-reorder"});
    const std::string& way = request.text("exchange");
    request.choice("exchange", {"sendrecv", "nonblocking", "persistent"});
    long iterations = request.whole("iterations", 0, most_iterations);
    const StoppingRule rule = repetitions(request);

    const int ranks = ranks_of(comm);
    require_tags(ranks, comm);
    require_memory(way == "persistent" ? persistent_B(ranks) : 0, comm);
    const OwnComm made = ring_of(comm, topology);
    const Neighbours ring(made.comm());
    const auto exchange = exchange_of(way, ring);
    Cycles cycles{ring, *exchange, {}, {}, {}};
    if (iterations == 0) iterations = chosen_iterations(cycles, comm);
    bool is_warm = false;
    const Repeated repeated = repeat(rule, comm, [&] {
        const double mean_s = cycles.batch(iterations);
        if (!is_warm) cycles.moments = {};
        is_warm = true;
        return mean_s;
    });
    const bool is_right = all_agree(cycles.verified, comm);

    // By rank of the launch; `positions` says which process of the ring each is.
    const std::vector<long> positions = gather(static_cast<long>(ring.rank), comm);
    const std::vector<long> received = gather(cycles.received, comm);
    const std::vector<long> left_tags = gather(static_cast<long>(cycles.leftward.tag), comm);
    const std::vector<long> right_tags = gather(static_cast<long>(cycles.rightward.tag), comm);
    const std::vector<long> left_values = gather(static_cast<long>(cycles.leftward.value), comm);
    const std::vector<long> right_values = gather(static_cast<long>(cycles.rightward.value), comm);
    const std::vector<double> means_s = gather(cycles.moments.mean, comm);
    const std::vector<double> variances_s2 = gather(cycles.moments.variance(), comm);
    JsonObject record;
    record.add("type", "record");
    add_times(record, repeated);
    record.add("verified", is_right).add("iterations", iterations).add("cycles", cycles.moments.count);
    record.add("positions", positions).add("received", received);
    record.add("left_tags", left_tags).add("right_tags", right_tags);
    record.add("left_values", left_values).add("right_values", right_values);
    return record.add("means_s", means_s).add("variances_s2", variances_s2).str();
}

const RegisterApp registered("ring", {run});

}  // namespace
}  // namespace hockney::app_ring
