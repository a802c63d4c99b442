// The requests of a program that are under way, by their handles, of which several may be the same: libraries
// have one for all messages that are over at once.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

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
        int at = free_;
        if (at != none)
            free_ = places_[at].next;
        else {
            at = static_cast<int>(places_.size());
            places_.emplace_back();
        }
        places_[at] = {request, none};
        Chain& chain = chains_[bits(handle)];
        (chain.first == none ? chain.first : places_[chain.last].next) = at;
        chain.last = at;
        needs_status_ += needs_status(request) ? 1 : 0;
    }

    // False where none is under way. Of several the one of that place, or the first.
    bool take(MPI_Request handle, const void* place, Request& request) {
        const auto found = chains_.find(bits(handle));
        if (found == chains_.end() || found->second.first == none) return false;
        Chain& chain = found->second;
        int before = none, at = before_place(chain, place, before);
        request = places_[at].request;
        (before == none ? chain.first : places_[before].next) = places_[at].next;
        if (chain.last == at) chain.last = before;
        places_[at].next = free_;
        free_ = at;
        needs_status_ -= needs_status(request) ? 1 : 0;
        return true;
    }

    void cancel(MPI_Request handle) {
        const auto found = chains_.find(bits(handle));
        if (found == chains_.end() || found->second.first == none) return;
        Request& request = places_[found->second.first].request;
        needs_status_ += needs_status(request) ? 0 : 1;
        request.is_cancelled = true;
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
    static constexpr int none = -1;
    // Places that are compared: more have the same handle only where they are all over.
    static constexpr int most_compared = 64;
    struct Place {
        Request request;
        int next;
    };
    struct Chain {
        int first = none, last = none;
    };

    static std::uint64_t bits(MPI_Request handle) {
        std::uint64_t all = 0;
        std::memcpy(&all, &handle, sizeof handle);
        return all;
    }
    static bool needs_status(const Request& request) { return request.wild != 0 || request.is_cancelled; }
    int before_place(const Chain& chain, const void* place, int& before) const {
        int last = none, compared = 0;
        for (int at = chain.first; at != none && compared++ < most_compared; at = places_[at].next) {
            if (places_[at].request.place == place) {
                before = last;
                return at;
            }
            last = at;
        }
        return chain.first;
    }

    std::int64_t next_ = 0, next_persistent_ = 0;
    long needs_status_ = 0;
    std::vector<Place> places_;
    int free_ = none;
    // Never smaller: as many as were under way at a time.
    std::unordered_map<std::uint64_t, Chain> chains_;
    std::unordered_map<std::uint64_t, Persistent> persistent_;
};

}  // namespace hockney::trace
