#include "global_clock.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "../clock.hpp"

namespace hockney {
namespace {

// Between hosts a few exchanges find a quick one. In a host many are cheap, and the median of their offsets
// is finer than the clock's tick.
// Where ranks are many each gets fewer.
constexpr int exchanges_between_hosts = 40, most_in_host = 300, in_host_together = 3000;
// One host asks so many others less one: up to so many all clocks are compared with the first host's itself.
constexpr int hosts_together = 16;
constexpr int tag = 1;
// In a host a median exchange that takes longer tells less of the clocks than that they are one.
constexpr double most_in_host_s = 10e-6;
// A drift of 1e-6 shows beside an estimate's error of some 0.1 µs only after this long; a clock's rate
// wanders with temperature over minutes.
constexpr double least_span_s = 0.5, longest_span_s = 60;

std::int64_t fingerprint(const std::string& text) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
    return static_cast<std::int64_t>(hash);
}

// One exchange: how long it took, when it was on the other's clock, and how far that is ahead.
struct Exchange {
    double took_s, at_s, offset_s;
};

Exchange quickest(std::vector<Exchange>& all) {
    return *std::min_element(all.begin(), all.end(),
                             [](const Exchange& a, const Exchange& b) { return a.took_s < b.took_s; });
}

// Of each the median, and the last time.
Exchange middle(std::vector<Exchange>& all) {
    const auto half = all.begin() + static_cast<long>(all.size() / 2);
    Exchange result{0, all.back().at_s, 0};
    std::nth_element(all.begin(), half, all.end(),
                     [](const Exchange& a, const Exchange& b) { return a.took_s < b.took_s; });
    result.took_s = half->took_s;
    std::nth_element(all.begin(), half, all.end(),
                     [](const Exchange& a, const Exchange& b) { return a.offset_s < b.offset_s; });
    result.offset_s = half->offset_s;
    return result;
}

using Choice = Exchange (*)(std::vector<Exchange>&);

// This rank asks `other` for its clock again and again, and tells it what that comes to; its own clock is
// `own_s` ahead of the first rank's.
void ask(int other, double own_s, int count, Choice choice, MPI_Comm comm) {
    std::vector<Exchange> all;
    for (int i = 0; i < count; ++i) {
        double remote_s = 0;
        const double start_s = now_s();
        MPI_Send(&remote_s, 1, MPI_DOUBLE, other, tag, comm);
        MPI_Recv(&remote_s, 1, MPI_DOUBLE, other, tag, comm, MPI_STATUS_IGNORE);
        const double end_s = now_s();
        all.push_back({end_s - start_s, remote_s, remote_s - (start_s + end_s) / 2});
    }
    Exchange chosen = choice(all);
    chosen.offset_s += own_s;
    MPI_Send(&chosen, 3, MPI_DOUBLE, other, tag, comm);
}

// The other side of `ask`.
Exchange asked(int by, int count, MPI_Comm comm) {
    for (int i = 0; i < count; ++i) {
        double now = 0;
        MPI_Recv(&now, 1, MPI_DOUBLE, by, tag, comm, MPI_STATUS_IGNORE);
        now = now_s();
        MPI_Send(&now, 1, MPI_DOUBLE, by, tag, comm);
    }
    Exchange chosen{};
    MPI_Recv(&chosen, 3, MPI_DOUBLE, by, tag, comm, MPI_STATUS_IGNORE);
    return chosen;
}

// Collective over `comm`: this rank's clock against that of the first. A rank asks `fan_out` - 1 others of
// each level of a tree: with ten thousand hosts the first would ask for seconds.
Exchange against_first(int fan_out, int count, Choice choice, MPI_Comm comm) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    long span = 1;
    while (span * fan_out < ranks) span *= fan_out;
    Exchange own{0, now_s(), 0};
    for (; span > 0; span /= fan_out) {
        if (rank % span != 0) continue;
        const long place = rank / span % fan_out;
        if (place != 0) own = asked(static_cast<int>(rank - place * span), count, comm);
        if (place == 0)
            for (long i = 1; i < fan_out && rank + i * span < ranks; ++i)
                ask(static_cast<int>(rank + i * span), own.offset_s, count, choice, comm);
    }
    return own;
}

}  // namespace

GlobalClock::GlobalClock(MPI_Comm comm) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const std::int64_t mine = fingerprint(clock_domain());
    std::vector<std::int64_t> all(static_cast<std::size_t>(ranks));
    MPI_Allgather(&mine, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, comm);
    host_count_ = static_cast<int>(std::set<std::int64_t>(all.begin(), all.end()).size());
    const int first = static_cast<int>(std::find(all.begin(), all.end(), mine) - all.begin());
    MPI_Comm_split(comm, first, rank, &host_);
    MPI_Comm_split(comm, first == rank ? 0 : MPI_UNDEFINED, rank, &hosts_);
}

GlobalClock::~GlobalClock() {
    MPI_Comm_free(&host_);
    if (hosts_ != MPI_COMM_NULL) MPI_Comm_free(&hosts_);
}

GlobalClock::Reading GlobalClock::read_between_hosts() const {
    Reading reading;
    if (host_count_ == 1) return reading;
    if (hosts_ != MPI_COMM_NULL) {
        const Exchange chosen = against_first(hosts_together, exchanges_between_hosts, quickest, hosts_);
        reading = {chosen.at_s, chosen.offset_s};
    }
    MPI_Bcast(&reading, 2, MPI_DOUBLE, 0, host_);
    return reading;
}

double GlobalClock::read_in_host() const {
    // Ranks that share a processor wait for it, and read one clock.
    if (is_simulated || shares_processor()) return 0;
    int ranks = 0;
    MPI_Comm_size(host_, &ranks);
    const int exchanges = std::clamp(in_host_together / ranks, exchanges_between_hosts, most_in_host);
    const Exchange chosen = against_first(std::max(2, ranks), exchanges, middle, host_);
    return chosen.took_s < most_in_host_s ? chosen.offset_s : 0;
}

void GlobalClock::synchronise() {
    in_host_s_ = read_in_host();
    latest_ = read_between_hosts();
    const double span_s = latest_.at_s - anchor_.at_s;
    if (anchor_.at_s > 0 && span_s >= least_span_s) rate_ = (latest_.offset_s - anchor_.offset_s) / span_s;
    if (anchor_.at_s == 0 || span_s > longest_span_s) anchor_ = latest_;
}

double GlobalClock::residual_s() {
    const double in_host_s = read_in_host();
    const Reading check = read_between_hosts();
    const double now_offset_s = in_host_s + check.offset_s,
                 difference_s = now_offset_s - offset_at(check.at_s);
    double mine_s = std::abs(difference_s), of_host_s = 0, largest_s = 0;
    MPI_Allreduce(&mine_s, &of_host_s, 1, MPI_DOUBLE, MPI_MAX, host_);
    if (hosts_ != MPI_COMM_NULL) MPI_Allreduce(&of_host_s, &largest_s, 1, MPI_DOUBLE, MPI_MAX, hosts_);
    MPI_Bcast(&largest_s, 1, MPI_DOUBLE, 0, host_);
    return largest_s;
}

bool GlobalClock::shares_processor() const {
    if (is_simulated) return false;
    int cpu = sched_getcpu(), ranks = 0;
    MPI_Comm_size(host_, &ranks);
    std::vector<int> all(static_cast<std::size_t>(ranks));
    MPI_Allgather(&cpu, 1, MPI_INT, all.data(), 1, MPI_INT, host_);
    return std::set<int>(all.begin(), all.end()).size() < all.size();
}

}  // namespace hockney
