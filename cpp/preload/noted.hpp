// What is noted of a call, by the arguments that it has: its communicator and bytes for a profile, and its
// events for a trace. Each is made before the library's part of the call, and writes when that is over.
#pragma once

#include <mpi.h>

#include <tuple>
#include <type_traits>
#include <vector>

#include "channel.hpp"
#include "trace.hpp"
#include "types.hpp"

// Not in every MPI's header.
extern "C" int PMPI_Isendrecv(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int,
                              MPI_Comm, MPI_Request*);
extern "C" int PMPI_Isendrecv_replace(void*, int, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Request*);

namespace hockney {

struct Noted {
    explicit Noted(MPI_Comm of = MPI_COMM_NULL)
        : comm(of), channel(of != MPI_COMM_NULL ? &Channel::of(of) : nullptr) {}

    MPI_Comm comm;
    Channel* channel;
    Bytes bytes = 0;

    // Adds the call, which had this result, to a profile.
    void count(Watched& watched, const char* operation, const trace::Visit& visit, int) const {
        watched.add(operation, visit.site(), bytes, -1, false, visit.start_s(), visit.end_s());
    }
    // A persistent request that it made: each start of it counts.
    void keep(const MPI_Request* made, Watched& watched, const char* operation, int code) const {
        if (code == MPI_SUCCESS) trace::persistent_requests().add(*made, {&watched, operation, bytes});
    }
    // Its number in the trace. Below 0 where it has none, and the call counts as one that is no message; or
    // where the call is from and to nobody, and is left out.
    std::int64_t number(const trace::Visit& visit, bool has_message = true) const {
        if (!has_message) return visit.skip(), -1;
        const std::int64_t found = channel != nullptr ? trace::comm_number(comm, *channel) : -1;
        if (found < 0) write_other(visit);
        return found;
    }
    // Of a call with this result: one that failed is no message, but for errors of messages that came.
    template <class Shape>
    static void write(const Shape& noted, const trace::Visit& visit, int code) {
        int error = MPI_SUCCESS;
        if (code != MPI_SUCCESS) PMPI_Error_class(code, &error);
        if (error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS || error == MPI_ERR_TRUNCATE)
            noted.write(visit);
        else
            write_other(visit);
    }
    static void write_other(const trace::Visit& visit) {
        const std::uint64_t name = trace::name_number(visit.name());
        trace::Event(trace::other, visit).add(name);
    }
};

// A status of the trace's own where the program wants none.
class OwnStatus {
  public:
    OwnStatus(const trace::Visit& visit, MPI_Status*& status) : status_(status) {
        if (visit.is_traced() && status == MPI_STATUS_IGNORE) status = &own_;
    }
    const MPI_Status& operator*() const { return *status_; }
    const MPI_Status* operator->() const { return status_; }
    MPI_Count bytes() const {
        MPI_Count count = 0;
        PMPI_Get_elements_x(status_, MPI_BYTE, &count);
        return std::max<MPI_Count>(0, count);
    }

  private:
    MPI_Status own_{};
    MPI_Status*& status_;
};

inline std::uint8_t wild_of(int source, int tag) {
    return static_cast<std::uint8_t>((source == MPI_ANY_SOURCE ? trace::any_source : 0) |
                                     (tag == MPI_ANY_TAG ? trace::any_tag : 0));
}

inline void write_post(trace::Kind kind, const trace::Visit& visit, std::int64_t on, int from, int tag,
                       Bytes bytes) {
    const std::uint8_t wild = wild_of(from, tag);
    trace::Event event(kind, visit);
    event.add(on, wild);
    if ((wild & trace::any_source) == 0) event.add(from);
    if ((wild & trace::any_tag) == 0) event.add(trace::Signed{tag});
    event.add(bytes);
}

// A request that is under way from now on; without a message it has no number.
inline void begin_request(const MPI_Request* request, int messages, std::uint8_t wild = 0) {
    trace::Request made{-1, request, wild};
    if (messages > 0) made.number = trace::requests().next();
    if (messages > 1) made.also = trace::requests().next();
    trace::requests().add(*request, made);
}

// MPI_Send and its kind, with a request or without.
template <trace::Mode mode, bool is_persistent = false>
struct Sends : Noted {
    template <class Number, class... Request>
    Sends(const trace::Visit&, const void*, Number count, MPI_Datatype type, int to_rank, int with_tag,
          MPI_Comm on, Request... made)
        : Noted(on), to(to_rank), tag(with_tag), request{made...} {
        bytes = bytes_of(count, type);
    }
    void count(Watched& watched, const char* operation, const trace::Visit& visit, int code) const {
        if (is_persistent) return keep(request, watched, operation, code);
        Noted::count(watched, operation, visit, code);
    }
    void write(const trace::Visit& visit) const {
        const std::int64_t on = number(visit, to != MPI_PROC_NULL);
        if (request != nullptr && is_persistent)
            trace::persistent_requests().trace(*request, on >= 0, 0);
        else if (request != nullptr)
            begin_request(request, on >= 0);
        const trace::Kind later = is_persistent ? trace::send_init : trace::isend;
        if (on < 0) return;
        trace::Event(request != nullptr ? later : trace::send, visit)
            .add(on, to, trace::Signed{tag}, bytes, mode);
    }

    int to, tag;
    MPI_Request* request;
};
template <trace::Mode mode>
using SendsLater = Sends<mode, true>;

struct Receives : Noted {
    template <class Number>
    Receives(const trace::Visit& visit, void*, Number count, MPI_Datatype type, int from_rank, int,
             MPI_Comm on, MPI_Status*& status)
        : Noted(on), from(from_rank), got(visit, status) {
        bytes = bytes_of(count, type);
    }
    void write(const trace::Visit& visit) const {
        const std::int64_t on = number(visit, from != MPI_PROC_NULL);
        if (on < 0) return;
        trace::Event(trace::recv, visit).add(on, got->MPI_SOURCE, trace::Signed{got->MPI_TAG}, got.bytes());
    }

    int from;
    OwnStatus got;
};

// MPI_Irecv and MPI_Recv_init.
template <bool is_persistent>
struct Posts : Noted {
    template <class Number>
    Posts(const trace::Visit&, void*, Number count, MPI_Datatype type, int from_rank, int with_tag,
          MPI_Comm on, MPI_Request* made)
        : Noted(on), from(from_rank), tag(with_tag), request(made) {
        bytes = bytes_of(count, type);
    }
    void count(Watched& watched, const char* operation, const trace::Visit& visit, int code) const {
        if (is_persistent) return keep(request, watched, operation, code);
        Noted::count(watched, operation, visit, code);
    }
    void write(const trace::Visit& visit) const {
        const std::uint8_t wild = wild_of(from, tag);
        const std::int64_t on = number(visit, from != MPI_PROC_NULL);
        if (is_persistent)
            trace::persistent_requests().trace(*request, on >= 0, wild);
        else
            begin_request(request, on >= 0, wild);
        if (on >= 0) write_post(is_persistent ? trace::recv_init : trace::irecv, visit, on, from, tag, bytes);
    }

    int from, tag;
    MPI_Request* request;
};

// The argument so many before the end.
template <std::size_t back, class... Arguments>
auto& from_end(Arguments&... arguments) {
    return std::get<sizeof...(Arguments) - back>(std::tie(arguments...));
}

// MPI_Sendrecv, and the same in one buffer.
struct Exchange : Noted {
    template <class Number, class... More>
    Exchange(const void*, Number count, MPI_Datatype type, int to_rank, int with_tag, More&... more)
        : Noted(from_end<2>(more...)),
          to(to_rank),
          tag(with_tag),
          from(from_end<4>(more...)),
          from_tag(from_end<3>(more...)) {
        bytes = bytes_of(count, type);
    }

    int to, tag, from, from_tag;
    bool sends = to != MPI_PROC_NULL, receives = from != MPI_PROC_NULL;
};
struct Exchanges : Exchange {
    template <class... All>
    explicit Exchanges(const trace::Visit& visit, All&... all)
        : Exchange(all...), got(visit, from_end<1>(all...)) {}
    void write(const trace::Visit& visit) const {
        const std::int64_t on = number(visit, sends || receives);
        if (on < 0) return;
        trace::Event(trace::sendrecv, visit)
            .add(on, trace::Signed{sends ? to : trace::proc_null}, trace::Signed{sends ? tag : 0},
                 sends ? bytes : 0, trace::Signed{receives ? got->MPI_SOURCE : trace::proc_null},
                 trace::Signed{receives ? got->MPI_TAG : 0}, receives ? got.bytes() : 0);
    }

    OwnStatus got;
};

// MPI_Isendrecv, and the same in one buffer: a request for both.
struct ExchangesLater : Exchange {
    template <class... All>
    explicit ExchangesLater(const trace::Visit&, All&... all)
        : Exchange(all...), request(from_end<1>(all...)) {
        // Only of two buffers is there a second count.
        if constexpr (sizeof...(All) == 12) into_B = bytes_of(from_end<6>(all...), from_end<5>(all...));
    }
    void write(const trace::Visit& visit) const {
        const std::uint8_t wild = receives ? wild_of(from, from_tag) : std::uint8_t{0};
        bool posts = receives;
#ifdef MPICH_VERSION  // whose status is not that of the receive (5.0.2)
        posts = posts && wild == 0;
#endif
        const std::int64_t on = number(visit, sends || receives);
        begin_request(request, on >= 0 ? sends + posts : 0, posts ? wild : std::uint8_t{0});
        if (on >= 0 && receives && !posts) write_other(visit);
        if (on >= 0 && posts) write_post(trace::irecv, visit, on, from, from_tag, into_B);
        if (on >= 0 && sends)
            trace::Event(trace::isend, visit).add(on, to, trace::Signed{tag}, bytes, trace::standard);
    }

    MPI_Request* request;
    Bytes into_B = bytes;
};

// A message that a probe took.
struct TakesMessage : Noted {
    template <class Number, class Last>
    TakesMessage(const trace::Visit&, void*, Number count, MPI_Datatype type, MPI_Message*, Last* last) {
        bytes = bytes_of(count, type);
        if constexpr (std::is_same_v<Last, MPI_Request>) request = last;
    }
    void write(const trace::Visit& visit) const {
        if (request != nullptr) begin_request(request, true);
        trace::Event(request != nullptr ? trace::imrecv : trace::mrecv, visit);
    }

    MPI_Request* request = nullptr;
};

// A probe that waits, and one that may find nothing.
template <trace::Kind kind>
struct Probes : Noted {
    template <class... More>
    Probes(const trace::Visit& visit, int from_rank, int, MPI_Comm on, More&... more)
        : Noted(on), from(from_rank), got(visit, from_end<1>(more...)) {
        if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<More...>>, int*>)
            has_found = from_end<sizeof...(More)>(more...);
    }
    void write(const trace::Visit& visit) const {
        if (has_found != nullptr && *has_found == 0) return visit.test();
        const std::int64_t on = number(visit, from != MPI_PROC_NULL);
        if (on >= 0) trace::Event(kind, visit).add(on, got->MPI_SOURCE, trace::Signed{got->MPI_TAG});
    }

    int from;
    const int* has_found = nullptr;
    OwnStatus got;
};

// Waits and tests: what completed.
class Completes : public Noted {
  public:
    // MPI_Wait, MPI_Test
    template <class... More>
    Completes(const trace::Visit& visit, MPI_Request* request, More&... more)
        : Completes(visit, 1, request, more...) {}
    // MPI_Waitall, MPI_Testall
    template <class... More>
    Completes(const trace::Visit& visit, int count, MPI_Request* requests, More&... more) {
        keep(visit, count, requests, &from_end<1>(more...), count);
        if constexpr (sizeof...(More) == 2) flag_ = from_end<2>(more...);
    }
    void write(const trace::Visit& visit) const {
        if (flag_ != nullptr && *flag_ == 0) return visit.test();
        write_completed(visit, static_cast<int>(handles().size()), nullptr);
    }

  protected:
    Completes() = default;
    // The handles as they are before the call, and statuses where the trace needs them.
    void keep(const trace::Visit& visit, int count, MPI_Request* requests, MPI_Status** statuses,
              int of_them);
    // `indices` of them, or all.
    void write_completed(const trace::Visit& visit, int count, const int* indices) const;
    static std::vector<MPI_Request>& handles();

    const int* flag_ = nullptr;

  private:
    const MPI_Request* requests_ = nullptr;
    const MPI_Status* statuses_ = nullptr;
};

// MPI_Waitany, MPI_Testany
struct CompletesOne : Completes {
    template <class... More>
    CompletesOne(const trace::Visit& visit, int count, MPI_Request* requests, int* at, More&... more)
        : index(at) {
        keep(visit, count, requests, &from_end<1>(more...), 1);
        if constexpr (sizeof...(More) == 2) flag_ = from_end<2>(more...);
    }
    void write(const trace::Visit& visit) const {
        if (flag_ != nullptr && *flag_ == 0) return visit.test();
        write_completed(visit, *index == MPI_UNDEFINED ? 0 : 1, index);
    }

    const int* index;
};

// MPI_Waitsome, MPI_Testsome
template <bool is_waiting>
struct CompletesSome : Completes {
    CompletesSome(const trace::Visit& visit, int count, MPI_Request* requests, int* found, int* at,
                  MPI_Status*& statuses)
        : completed(found), indices(at) {
        keep(visit, count, requests, &statuses, count);
    }
    void write(const trace::Visit& visit) const {
        const bool is_nothing = *completed == MPI_UNDEFINED;
        if (!is_waiting && is_nothing) return visit.skip();
        if (!is_waiting && *completed == 0) return visit.test();
        write_completed(visit, is_nothing ? 0 : *completed, indices);
    }

    const int *completed, *indices;
};

// MPI_Start, MPI_Startall
struct Starts : Noted {
    Starts(const trace::Visit&, MPI_Request* request) : requests(request) {}
    Starts(const trace::Visit&, int number, MPI_Request* several) : starts(number), requests(several) {}
    void count(Watched& watched, const char* operation, const trace::Visit& visit, int code) const;
    void write(const trace::Visit& visit) const;

    int starts = 1;
    MPI_Request* requests;
};

// MPI_Request_free, MPI_Cancel
struct FreesRequest : Noted {
    FreesRequest(const trace::Visit& visit, MPI_Request* request);
    void write(const trace::Visit& visit) const;

    const MPI_Request* place;
    MPI_Request handle;
    int is_cancelled = 0;
};
// MPI_Request_get_status, which completes nothing: what is asked is waited for, or tested, later.
struct Looks : Noted {
    Looks(const trace::Visit&, MPI_Request, const int* flag, MPI_Status*) : is_complete(flag) {}
    void write(const trace::Visit& visit) const {
        visit.test();
        if (*is_complete != 0) visit.settle();
    }

    const int* is_complete;
};
struct Cancels : Noted {
    Cancels(const trace::Visit&, MPI_Request* request) : handle(*request) {}
    void write(const trace::Visit& visit) const {
        trace::requests().cancel(handle);
        visit.skip();
    }

    MPI_Request handle;
};

}  // namespace hockney
