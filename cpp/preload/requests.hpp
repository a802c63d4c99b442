// The requests of a program that are under way, by their handles, of which several may be the same: libraries
// have one for all messages that are over at once.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <unordered_map>

namespace hockney::trace {

struct Request {
    // -1 for one without a message.
    std::int64_t number = -1;
    // Where the program had the handle first: that tells those with the same handle apart.
    const void* place = nullptr;
    std::uint8_t wild = 0;
    bool is_cancelled = false;
    // A communicator that is there when the request is over, and its number.
    const MPI_Comm* duplicate = nullptr;
    std::int64_t duplicate_number = 0;
};

struct Persistent {
    std::int64_t number = -1;
    std::uint8_t wild = 0;
};

class Requests {
  public:
    // The number of a new one.
    std::int64_t next() { return next_++; }
    std::int64_t latest() const { return next_ - 1; }

    void add(MPI_Request handle, const Request& request) {
        under_way_[bits(handle)].push_back(request);
        needs_status_ += needs_status(request) ? 1 : 0;
    }

    // False where none is under way. Of several the one of that place, or the first.
    bool take(MPI_Request handle, const void* place, Request& request) {
        Alike* const alike = find(handle);
        if (alike == nullptr) return false;
        const auto end = alike->begin() +
                         std::min<std::ptrdiff_t>(most_compared, static_cast<std::ptrdiff_t>(alike->size()));
        const auto found =
            std::find_if(alike->begin(), end, [&](const Request& one) { return one.place == place; });
        const auto taken = found != end ? found : alike->begin();
        request = *taken;
        alike->erase(taken);
        needs_status_ -= needs_status(request) ? 1 : 0;
        return true;
    }

    void cancel(MPI_Request handle) {
        Alike* const alike = find(handle);
        if (alike == nullptr) return;
        needs_status_ += needs_status(alike->front()) ? 0 : 1;
        alike->front().is_cancelled = true;
    }

    bool is_cancelled(MPI_Request handle) {
        Alike* const alike = find(handle);
        return alike != nullptr && alike->front().is_cancelled;
    }

    // Whether the status of one that is under way says what the trace needs.
    bool need_status() const { return needs_status_ != 0; }

    void add_persistent(MPI_Request handle, bool has_message, std::uint8_t wild) {
        persistent_[bits(handle)] = {has_message ? next_persistent_++ : -1, wild};
    }
    const Persistent* persistent(MPI_Request handle) const {
        const auto found = persistent_.find(bits(handle));
        return found != persistent_.end() ? &found->second : nullptr;
    }
    void remove_persistent(MPI_Request handle) { persistent_.erase(bits(handle)); }

  private:
    using Alike = std::deque<Request>;
    // Places that are compared: more have the same handle only where they are all over.
    static constexpr std::ptrdiff_t most_compared = 64;

    static std::uint64_t bits(MPI_Request handle) {
        std::uint64_t all = 0;
        std::memcpy(&all, &handle, sizeof handle);
        return all;
    }
    static bool needs_status(const Request& request) { return request.wild != 0 || request.is_cancelled; }
    Alike* find(MPI_Request handle) {
        const auto found = under_way_.find(bits(handle));
        return found != under_way_.end() && !found->second.empty() ? &found->second : nullptr;
    }

    std::int64_t next_ = 0, next_persistent_ = 0;
    long needs_status_ = 0;
    // Never smaller: as many as were under way at a time.
    std::unordered_map<std::uint64_t, Alike> under_way_;
    std::unordered_map<std::uint64_t, Persistent> persistent_;
};

}  // namespace hockney::trace
