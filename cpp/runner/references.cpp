#include "references.hpp"

#include <algorithm>
#include <cmath>

#include "clock.hpp"
#include "ranks.hpp"
#include "statistics.hpp"

namespace hockney {
namespace {

// Enough for a median and quartiles that one preempted piece does not move.
constexpr int pieces = 9;
// A piece is long beside a reading of the clock, and all pieces together are as long as a batch.
constexpr double piece_s = 5e-6, margin = 1.25;
constexpr double most_growth = 16;
// A level holds for some tenths of a second: a group of at most 20 ms hardly ever meets two. Shorter groups
// tell more, as long as the references take a small share of the time.
constexpr double least_group_s = 2e-3, most_group_s = 20e-3;
constexpr double usual_share = 0.025, most_share = most_reference_s / most_group_s;

}  // namespace

Reference time_reference(long count, const std::function<void(long)>& exchanges) {
    std::vector<double> each_s;
    for (int piece = 0; piece < pieces; ++piece) {
        const double start_s = now_s();
        exchanges(count);
        each_s.push_back((now_s() - start_s) / static_cast<double>(count));
    }
    std::sort(each_s.begin(), each_s.end());
    return {quantile(each_s, 0.5), quantile(each_s, 0.75) - quantile(each_s, 0.25)};
}

Reference time_barriers(long count, MPI_Comm comm) {
    return time_reference(count, [&](long barriers) {
        for (long i = 0; i < barriers; ++i) MPI_Barrier(comm);
    });
}

void References::add_to(JsonObject& record) const {
    if (time_s.empty()) return;
    record.add("reference_s", time_s).add("reference_iqr_s", iqr_s).add("group_begins", group_begins);
    record.add("references_took_s", took_s);
    if (large_s.front() > 0) record.add("large_reference_s", large_s);
    causes.add_to(record);
}

void References::renumber(const std::vector<std::size_t>& kept) {
    for (long& begin : group_begins)
        begin = std::lower_bound(kept.begin(), kept.end(), static_cast<std::size_t>(begin)) - kept.begin();
}

Bracket::Bracket(std::function<Reference(long)> take) : take_(std::move(take)) {}

void Bracket::open() {
    if (is_simulated) return;
    take_next();
    // A reading of the clock is a part of a short piece, so pieces grow in steps of at most `most_growth`.
    // The last of these is the first reference.
    for (double piece = 0; (piece = references_.time_s.back() * static_cast<double>(count_)) < piece_s;) {
        count_ = static_cast<long>(
            std::ceil(static_cast<double>(count_) * std::min(piece_s / piece * margin, most_growth)));
        references_.time_s.clear();
        references_.iqr_s.clear();
        references_.large_s.clear();
        take_next();
    }
    references_.group_begins.push_back(0);
}

void Bracket::before_sample(long samples) {
    if (is_simulated || samples == references_.group_begins.back() || now_s() - group_start_s_ < group_s_)
        return;
    take_next();
    references_.group_begins.push_back(samples);
}

References Bracket::close(long samples) {
    if (!is_simulated && samples > references_.group_begins.back()) take_next();
    return references_;
}

void Bracket::take_next() {
    const double start_s = now_s();
    const Reference reference = take_(count_);
    group_start_s_ = now_s();
    references_.time_s.push_back(reference.time_s);
    references_.iqr_s.push_back(reference.iqr_s);
    references_.large_s.push_back(reference.large_s);
    const double took_s = group_start_s_ - start_s;
    references_.took_s += took_s;
    group_s_ = std::max(std::clamp(took_s / usual_share, least_group_s, most_group_s), took_s / most_share);
}

Rounds::Rounds(MPI_Comm comm)
    : comm_(comm), rank_(rank_of(comm)), bracket_([this](long count) {
          MPI_Bcast(&count, 1, MPI_LONG, 0, comm_);
          return time_barriers(count, comm_);
      }) {}

bool Rounds::next(bool goes_on) {
    // A number above 0 is a reference with so many barriers a piece.
    constexpr long sample = 0, stop = -1;
    if (rank_ == 0) {
        if (samples_ == 0) bracket_.open();
        if (goes_on)
            bracket_.before_sample(samples_);
        else
            references_ = bracket_.close(samples_);
    }
    long order = goes_on ? sample : stop;
    do {
        MPI_Bcast(&order, 1, MPI_LONG, 0, comm_);
        if (order > 0) time_barriers(order, comm_);
    } while (order > 0);
    ++samples_;
    if (order == stop) references_.causes = combined(watch_.so_far(), comm_);
    return order == sample;
}

}  // namespace hockney
