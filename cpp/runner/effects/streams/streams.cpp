// Windowed one-way streams. The messages of a window share one buffer on either side, as in osu_bw: what is
// measured is the channel, not the memory behind it.
#include "streams.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <set>

#include "../../buffers.hpp"
#include "../../clock.hpp"
#include "../../point.hpp"
#include "../../statistics.hpp"
#include "../effect.hpp"

namespace hockney {
namespace {

constexpr int tag = 1, reply_tag = 2, salt = 5;
constexpr long most_window = 4096;
// Keeps a sample of messages that take no simulated time finite.
constexpr double most_windows = 1e5;

class Stream {
  public:
    Stream(MPI_Comm comm, const std::vector<int>& ends, std::size_t bytes, long window)
        : comm_(comm), payload_(bytes), requests_(static_cast<std::size_t>(window)) {
        const int rank = rank_of(comm);
        const auto found = std::find(ends.begin(), ends.end(), rank);
        if (found == ends.end()) return;
        const auto place = static_cast<std::size_t>(found - ends.begin());
        partner_ = ends[place ^ 1U];
        sends_ = place % 2 == 0;
        buffer_ = std::make_unique<Buffer>(bytes, 0);
        writer_ = sends_ ? rank : partner_;
        if (sends_)
            buffer_->fill(writer_, salt);
        else
            buffer_->poison(writer_, salt);
    }

    bool sends() const { return sends_; }
    bool receives() const { return buffer_ && !sends_; }

    // The sender's seconds until the last window was answered; 0 on the others. It starts when its receiver
    // is there: ranks leave a barrier one after another, and a late receiver is not the channel's fault.
    double run(long windows) {
        if (!buffer_) return 0;
        if (sends_)
            MPI_Recv(nullptr, 0, MPI_BYTE, partner_, reply_tag, comm_, MPI_STATUS_IGNORE);
        else
            MPI_Send(nullptr, 0, MPI_BYTE, partner_, reply_tag, comm_);
        const double start = now_s();
        for (long each = 0; each < windows; ++each) {
            std::byte* data = buffer_->next();
            for (MPI_Request& request : requests_) {
                if (sends_)
                    MPI_Isend(data, payload_.count(), payload_.type(), partner_, tag, comm_, &request);
                else
                    MPI_Irecv(data, payload_.count(), payload_.type(), partner_, tag, comm_, &request);
            }
            MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
            if (sends_)
                MPI_Recv(nullptr, 0, MPI_BYTE, partner_, reply_tag, comm_, MPI_STATUS_IGNORE);
            else
                MPI_Send(nullptr, 0, MPI_BYTE, partner_, reply_tag, comm_);
        }
        return sends_ ? now_s() - start : 0;
    }

    // Whether one more window brings what was sent; collective.
    bool verify() {
        if (receives()) buffer_->poison(writer_, salt);
        MPI_Barrier(comm_);
        run(1);
        return all_agree(!receives() || buffer_->holds(writer_, salt), comm_);
    }

  private:
    MPI_Comm comm_;
    Payload payload_;
    std::vector<MPI_Request> requests_;
    std::unique_ptr<Buffer> buffer_;
    int partner_ = -1, writer_ = -1;
    bool sends_ = false;
};

// How many windows last `sample_s`, by the slowest pair; the same on every rank.
long windows_of(Stream& stream, double sample_s, MPI_Comm comm) {
    if (sample_s <= 0) return 1;
    double slowest_s = 0;
    // The first makes connections and is not looked at.
    for (int round = 0; round < 2; ++round) {
        MPI_Barrier(comm);
        double mine_s = stream.run(1);
        MPI_Allreduce(&mine_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, comm);
    }
    return static_cast<long>(std::clamp(std::ceil(sample_s / slowest_s), 1.0, most_windows));
}

void check(const std::vector<int>& ends, MPI_Comm comm) {
    const int ranks = ranks_of(comm);
    const std::set<int> different(ends.begin(), ends.end());
    if (ends.empty() || ends.size() % 2 != 0 || different.size() < ends.size() ||
        *different.rbegin() >= ranks)
        throw BadRequest("pairs must name an even number of different ranks among the members");
}

}  // namespace

std::string stream(const Request& request, MPI_Comm comm, const std::vector<int>& ends) {
    const long bytes = request.whole("bytes", 0), window = request.whole("window", 1, most_window);
    const double sample_s = request.real("sample_s", 0);
    check(ends, comm);
    const StoppingRule rule = repetitions(request);
    require_memory(static_cast<double>(Buffer::total_B(static_cast<std::size_t>(bytes), 0)), comm);
    Stream mine(comm, ends, static_cast<std::size_t>(bytes), window);
    const long windows = windows_of(mine, sample_s, comm);
    std::vector<double> own_s;
    std::vector<int> preempted;
    Repeated repeated = repeat(rule, comm, [&] {
        const long switches = involuntary_switches();
        own_s.push_back(mine.run(windows) / static_cast<double>(windows));
        preempted.push_back(involuntary_switches() != switches ? 1 : 0);
        return own_s.back();
    });
    const Quiet quiet = keep_quiet(repeated, own_s, preempted, comm);
    const bool verified = mine.verify();
    JsonObject record;
    record.add("type", "record");
    add_times(record, repeated);
    std::vector<double> pair_s;
    if (!quiet.medians_s.empty())
        for (std::size_t each = 0; each < ends.size(); each += 2)
            pair_s.push_back(quiet.medians_s[static_cast<std::size_t>(ends[each])]);
    record.add("preempted", quiet.set_aside)
        .add("pair_s", pair_s)
        .add("windows", windows)
        .add("verified", verified);
    return record.str();
}

}  // namespace hockney
