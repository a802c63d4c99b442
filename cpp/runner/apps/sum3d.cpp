// C = A + B of three-dimensional matrices that rank 0 holds: scattered, added, gathered, by collectives
// alone.
//
//   app operation=sum3d ranks=4 nx=40 ny=30 nz=20 px=2 py=2 pz=1 split=balanced seed=1 cycles=1
//       memory_bandwidth_B_per_s=1e10 repetitions=0 least_samples=6 budget_s=1 tolerance=0.01
//
// One repetition is `cycles` times both scatters, the sum and the gather; its time is that of one cycle. The
// bandwidth is that of a simulated host; a real one measures its own.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include "../clock.hpp"
#include "../placement.hpp"
#include "../statistics.hpp"
#include "app.hpp"
#include "sum3d/layout.hpp"
#include "sum3d/transfer.hpp"

namespace hockney::app_sum3d {
namespace {

using sum3d::Box;
using sum3d::Layout;
using sum3d::Transfer;

// Bytes that the sum moves for each element, as STREAM counts them: two read, one written.
constexpr double summed_B = 3 * sizeof(double);
constexpr long most_cycles = 1000000;
constexpr int triads = 15;
// A triad is repeated until it has moved so many elements, or the clock would be too coarse for it.
constexpr long least_moved = 1 << 20;

enum Part { scatter_part, compute_part, gather_part, parts };
constexpr const char* part_names[parts] = {"scatter_s", "compute_s", "gather_s"};

// Element `index` of matrix `which`, uniform in [−1, 1): any rank can tell what it should have got.
double element(long seed, int which, long index) {
    std::uint64_t mixed = (static_cast<std::uint64_t>(seed) * 2 + static_cast<std::uint64_t>(which) + 1) *
                              0xD1B54A32D192ED03ULL +
                          (static_cast<std::uint64_t>(index) + 1) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    mixed ^= mixed >> 31;
    return static_cast<double>(mixed >> 11) * 0x1p-52 - 1;
}

bool is_same(double one, double other) { return std::memcmp(&one, &other, sizeof one) == 0; }

__attribute__((noinline)) void add(const double* a, const double* b, double* c, long elements) {
    for (long i = 0; i < elements; ++i) c[i] = a[i] + b[i];
}

// STREAM's triad, which moves what the sum moves.
__attribute__((noinline)) void triad(const double* a, const double* b, double factor, double* c,
                                     long elements) {
    for (long i = 0; i < elements; ++i) c[i] = a[i] + factor * b[i];
}

struct Unmap {
    std::size_t length_B = 0;
    void operator()(double* begin) const { munmap(begin, length_B); }
};
using Memory = std::unique_ptr<double[], Unmap>;

// Memory that nobody has written to; null where there is none.
Memory reserved(long elements) {
    const std::size_t length_B = sizeof(double) * static_cast<std::size_t>(std::max(elements, 1L));
    void* begin = mmap(nullptr, length_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return begin == MAP_FAILED ? Memory() : Memory(static_cast<double*>(begin), Unmap{length_B});
}

class Sum3d {
  public:
    Sum3d(const Request& request, MPI_Comm comm)
        : layout_(request),
          comm_(comm),
          seed_(request.whole("seed")),
          cycles_(request.whole("cycles", 1, most_cycles)),
          bandwidth_B_per_s_(request.positive("memory_bandwidth_B_per_s")) {
        rank_ = rank_of(comm);
        mine_ = layout_.elements(rank_);
        allocate();
        transfer_ =
            layout_.is_blocks() ? sum3d::by_datatypes(layout_, comm) : sum3d::by_pieces(layout_, comm);
        generate();
    }

    // Seconds of one cycle, the mean of `cycles`.
    double once() {
        double seconds[parts] = {};
        const double start_s = now_s();
        for (long cycle = 0; cycle < cycles_; ++cycle) this->cycle(seconds);
        const double mean_s = (now_s() - start_s) / static_cast<double>(cycles_);
        for (int part = 0; part < parts; ++part)
            seconds_[part].push_back({seconds[part] / static_cast<double>(cycles_), false});
        return mean_s;
    }

    // Of each part on each rank, the median of the repetitions; without the first, which warms up.
    void add_parts(JsonObject& record) {
        for (int part = 0; part < parts; ++part) {
            seconds_[part].erase(seconds_[part].begin());
            record.add(part_names[part], gather(summarise(seconds_[part]).median_s, comm_));
        }
    }

    // How many elements one more cycle, into memory that held something else, puts wrong: parts that did not
    // arrive where they should, and sums.
    long wrong() {
        const double poison = std::numeric_limits<double>::quiet_NaN();
        for (double* part : {a_part_.get(), b_part_.get(), c_part_.get()}) std::fill_n(part, mine_, poison);
        if (rank_ == 0) std::fill_n(c_.get(), layout_.elements(), poison);
        double seconds[parts] = {};
        cycle(seconds);
        long wrong = wrong_parts(), of_all = 0;
        for (long i = 0; rank_ == 0 && i < layout_.elements(); ++i)
            wrong += !is_same(c_[i], element(seed_, 0, i) + element(seed_, 1, i));
        MPI_Allreduce(&wrong, &of_all, 1, MPI_LONG, MPI_SUM, comm_);
        return of_all;
    }

    // Of the triad over this rank's parts, while all ranks do the same: median of some. `in_cycle`: in the
    // place of the sum, once, where the parts have just been received and rank 0 has read the last result.
    // Its processor must first take that back, which costs more than memory does.
    double bandwidth_B_per_s(bool in_cycle) {
        if (is_simulated) return bandwidth_B_per_s_;
        const long passes = in_cycle ? 1 : (least_moved + mine_ - 1) / mine_;
        std::vector<Sample> samples;
        for (int i = 0; i <= triads; ++i) {
            MPI_Barrier(comm_);
            if (in_cycle) {
                transfer_->scatter(a_.get(), a_part_.get());
                transfer_->scatter(b_.get(), b_part_.get());
            }
            const double start_s = now_s();
            for (long pass = 0; pass < passes; ++pass)
                triad(a_part_.get(), b_part_.get(), static_cast<double>(pass), c_part_.get(), mine_);
            const double pass_s = (now_s() - start_s) / static_cast<double>(passes);
            if (in_cycle) transfer_->gather(c_part_.get(), c_.get());
            if (i > 0) samples.push_back({pass_s, false});
        }
        return summed_B * static_cast<double>(mine_) / summarise(samples).median_s;
    }

    std::vector<long> loads() const {
        std::vector<long> loads;
        for (int rank = 0; rank < layout_.ranks(); ++rank) loads.push_back(layout_.elements(rank));
        return loads;
    }

  private:
    void generate() {
        for (long i = 0; rank_ == 0 && i < layout_.elements(); ++i) {
            a_[i] = element(seed_, 0, i);
            b_[i] = element(seed_, 1, i);
        }
    }

    void allocate() {
        const long whole = rank_ == 0 ? layout_.elements() : 0;
        require_memory(3.0 * static_cast<double>(mine_ + whole) * sizeof(double), comm_);
        a_ = reserved(whole);
        b_ = reserved(whole);
        c_ = reserved(whole);
        a_part_ = reserved(mine_);
        b_part_ = reserved(mine_);
        c_part_ = reserved(mine_);
        const bool is_fine = a_ && b_ && c_ && a_part_ && b_part_ && c_part_;
        require_all(is_fine, "constraint", "rank " + std::to_string(rank_) + " got no memory for its parts",
                    comm_);
    }

    void cycle(double* seconds) {
        const double start_s = now_s();
        transfer_->scatter(a_.get(), a_part_.get());
        transfer_->scatter(b_.get(), b_part_.get());
        const double scattered_s = now_s();
        add(a_part_.get(), b_part_.get(), c_part_.get(), mine_);
        compute_simulated(summed_B * static_cast<double>(mine_) / bandwidth_B_per_s_);
        const double computed_s = now_s();
        transfer_->gather(c_part_.get(), c_.get());
        seconds[scatter_part] += scattered_s - start_s;
        seconds[compute_part] += computed_s - scattered_s;
        seconds[gather_part] += now_s() - computed_s;
    }

    long wrong_parts() const {
        long wrong = 0, next = 0;
        const auto check = [&](long index) {
            wrong += !is_same(a_part_[next], element(seed_, 0, index));
            wrong += !is_same(b_part_[next], element(seed_, 1, index));
            ++next;
        };
        if (!layout_.is_blocks()) {
            const long offset = layout_.offset(rank_);
            while (next < mine_) check(offset + next);
            return wrong;
        }
        const Box box = layout_.box(rank_);
        for (long x = 0; x < box.cells[0]; ++x)
            for (long y = 0; y < box.cells[1]; ++y)
                for (long z = 0; z < box.cells[2]; ++z)
                    check(((box.start[0] + x) * layout_.sizes()[1] + box.start[1] + y) * layout_.sizes()[2] +
                          box.start[2] + z);
        return wrong;
    }

    Layout layout_;
    MPI_Comm comm_;
    long seed_, cycles_;
    double bandwidth_B_per_s_;
    int rank_ = 0;
    long mine_ = 0;
    Memory a_, b_, c_, a_part_, b_part_, c_part_;
    std::unique_ptr<Transfer> transfer_;
    std::vector<Sample> seconds_[parts];
};

std::string run(const Request& request, MPI_Comm comm) {
    const StoppingRule rule = repetitions(request);
    Sum3d sum(request, comm);
    const Repeated repeated = repeat(rule, comm, [&sum] { return sum.once(); });
    JsonObject record;
    record.add("type", "record");
    add_times(record, repeated);
    sum.add_parts(record);
    const long wrong = sum.wrong();
    const std::vector<double> bandwidths = gather(sum.bandwidth_B_per_s(false), comm);
    const std::vector<double> in_cycle = gather(sum.bandwidth_B_per_s(true), comm);
    record.add("elements", sum.loads()).add("wrong_elements", wrong).add("verified", wrong == 0);
    record.add("memory_bandwidth_B_per_s", bandwidths).add("sum_bandwidth_B_per_s", in_cycle);
    record.add("last_level_cache_B", last_level_cache_B());
    return record.str();
}

const RegisterApp registered("sum3d", {run});

}  // namespace
}  // namespace hockney::app_sum3d
