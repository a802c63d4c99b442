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

constexpr int exchanges = 40;
constexpr int tag = 1;
// A drift of 1e-6 shows beside an estimate's error of some 0.1 µs only after this long; a clock's rate
// wanders with temperature over minutes.
constexpr double least_span_s = 0.5, longest_span_s = 60;

std::int64_t fingerprint(const std::string& text) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
    return static_cast<std::int64_t>(hash);
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

void GlobalClock::serve(int leader) const {
    Reading best;
    double shortest_s = 1e9;
    for (int i = 0; i < exchanges; ++i) {
        double remote_s = 0;
        const double start_s = now_s();
        MPI_Send(nullptr, 0, MPI_BYTE, leader, tag, hosts_);
        MPI_Recv(&remote_s, 1, MPI_DOUBLE, leader, tag, hosts_, MPI_STATUS_IGNORE);
        const double end_s = now_s();
        if (end_s - start_s >= shortest_s) continue;
        shortest_s = end_s - start_s;
        best = {remote_s, remote_s - (start_s + end_s) / 2};
    }
    MPI_Send(&best, 2, MPI_DOUBLE, leader, tag, hosts_);
}

GlobalClock::Reading GlobalClock::read_against(int leader) const {
    for (int i = 0; i < exchanges; ++i) {
        MPI_Recv(nullptr, 0, MPI_BYTE, leader, tag, hosts_, MPI_STATUS_IGNORE);
        const double now = now_s();
        MPI_Send(&now, 1, MPI_DOUBLE, leader, tag, hosts_);
    }
    Reading reading;
    MPI_Recv(&reading, 2, MPI_DOUBLE, leader, tag, hosts_, MPI_STATUS_IGNORE);
    return reading;
}

GlobalClock::Reading GlobalClock::read() {
    Reading reading;
    if (host_count_ == 1) return reading;
    if (hosts_ != MPI_COMM_NULL) {
        int mine = 0;
        MPI_Comm_rank(hosts_, &mine);
        if (mine == 0) {
            for (int leader = 1; leader < host_count_; ++leader) serve(leader);
            reading.at_s = now_s();
        } else {
            reading = read_against(0);
        }
    }
    MPI_Bcast(&reading, 2, MPI_DOUBLE, 0, host_);
    return reading;
}

void GlobalClock::synchronise() {
    latest_ = read();
    const double span_s = latest_.at_s - anchor_.at_s;
    if (anchor_.at_s > 0 && span_s >= least_span_s) rate_ = (latest_.offset_s - anchor_.offset_s) / span_s;
    if (anchor_.at_s == 0 || span_s > longest_span_s) anchor_ = latest_;
}

double GlobalClock::residual_s() {
    if (host_count_ == 1) return 0;
    const Reading check = read();
    double difference_s = std::abs(check.offset_s - offset_at(check.at_s)), largest_s = 0;
    if (hosts_ != MPI_COMM_NULL) MPI_Allreduce(&difference_s, &largest_s, 1, MPI_DOUBLE, MPI_MAX, hosts_);
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
