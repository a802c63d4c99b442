// The requests of a program that are under way, by their handles, of which several may be the same: libraries
// have one for all messages that are over at once.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "watch.hpp"

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
    // Of a send that is over with the receive.
    std::int64_t also = -1;
};

// One that is started again and again: what a start counts as, and its number in the trace, if it has one.
struct Persistent {
    Watched* watched;
    const char* operation;
    Bytes bytes;
    std::int64_t number = -1;
    std::uint8_t wild = 0;
};

inline std::uint64_t bits_of(MPI_Request handle) {
    std::uint64_t all = 0;
    std::memcpy(&all, &handle, sizeof handle);
    return all;
}

// Those of a process, whether there is a trace or not; several threads may come.
class Persistents {
  public:
    void add(MPI_Request handle, const Persistent& made) {
        const std::lock_guard<std::mutex> held(mutex_);
        all_.insert_or_assign(bits_of(handle), made);
    }
    // From now on the trace has it.
    void trace(MPI_Request handle, bool has_message, std::uint8_t wild) {
        const std::lock_guard<std::mutex> held(mutex_);
        Persistent& made = all_.at(bits_of(handle));
        made.number = has_message ? next_++ : -1;
        made.wild = wild;
    }
    std::optional<Persistent> find(MPI_Request handle) const {
        const std::lock_guard<std::mutex> held(mutex_);
        const auto found = all_.find(bits_of(handle));
        return found != all_.end() ? std::optional(found->second) : std::nullopt;
    }
    void remove(MPI_Request handle) {
        const std::lock_guard<std::mutex> held(mutex_);
        all_.erase(bits_of(handle));
    }

  private:
    mutable std::mutex mutex_;
    std::int64_t next_ = 0;
    std::unordered_map<std::uint64_t, Persistent> all_;
};

// Never destroyed: programs may call MPI until the very end.
inline Persistents& persistent_requests() {
    static auto& all = *new Persistents;
    return all;
}

class Requests {
  public:
    // The number of a new one.
    std::int64_t next() { return next_++; }
    std::int64_t latest() const { return next_ - 1; }

    void add(MPI_Request handle, const Request& request) {
        under_way_[bits_of(handle)].push_back(request);
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

  private:
    using Alike = std::deque<Request>;
    // Places that are compared: more have the same handle only where they are all over.
    static constexpr std::ptrdiff_t most_compared = 64;

    static bool needs_status(const Request& request) { return request.wild != 0 || request.is_cancelled; }
    Alike* find(MPI_Request handle) {
        const auto found = under_way_.find(bits_of(handle));
        return found != under_way_.end() && !found->second.empty() ? &found->second : nullptr;
    }

    std::int64_t next_ = 0;
    long needs_status_ = 0;
    // Never smaller: as many as were under way at a time.
    std::unordered_map<std::uint64_t, Alike> under_way_;
};

}  // namespace hockney::trace
