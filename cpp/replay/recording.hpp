// The recorded run of a program: a file of events for each rank, read as they come.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../preload/format.hpp"
#include "../schedule/schedule.hpp"

namespace hockney {

// What is wrong with a trace: which rank and event, and on a second line what to do.
struct TraceFault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr const char *record_anew = "record the run again: hockney profile -o FILE -- mpirun … ./app",
                            *threads =
                                "events of several threads have no order: record the program with one "
                                "thread in MPI";

// Characters that a terminal shows as they are, in UTF-8; of others `?`.
std::string shown(const std::uint8_t* first, const std::uint8_t* end);
inline std::string shown(const char* first, const char* end) {
    return shown(reinterpret_cast<const std::uint8_t*>(first), reinterpret_cast<const std::uint8_t*>(end));
}

// A communicator as one rank knows it.
struct Communicator {
    std::int32_t number = -1;                                              // alike on all ranks
    std::int32_t own = 0;                                                  // the rank's number in it
    const std::vector<std::int32_t>*members = nullptr, *remote = nullptr;  // ranks of MPI_COMM_WORLD
    std::vector<std::int32_t> sources, destinations;                       // its neighbours

    int ranks() const { return static_cast<int>(members->size()); }
    const std::vector<std::int32_t>& peers() const { return remote == nullptr ? *members : *remote; }
    std::int32_t world(std::int32_t peer) const { return peers()[static_cast<std::size_t>(peer)]; }
};

// A request of a rank, from its making until it is complete.
struct Request {
    enum class Of : std::uint8_t { nothing, send, receive, collective } of = Of::nothing;
    bool is_wild = false, is_done = false;
    std::int32_t peer = -1, message = 0, communicator = -1;  // local
    std::uint32_t size = 0, rest = 0;
};

struct End {
    std::int32_t peer = -1, tag = 0;
    Bytes bytes = 0;
};

struct TraceEvent {
    trace::Kind kind = trace::nothing;
    std::uint8_t flags = 0;  // mode, wildcards, of a collective
    trace::Operation operation{};
    std::uint64_t gap_ns = 0, cpu_ns = 0, inside_ns = 0;  // what the layer takes is off
    std::uint32_t site = 0;                               // of all ranks' sites
    std::int32_t communicator = -1;                       // local
    End out, in;
    std::int32_t root = 0, element_B = 1;
    Bytes bytes = 0;
    std::vector<std::uint32_t> numbers;  // of persistent requests, of vectors
    struct Completed {
        std::uint64_t number;
        End from;  // where it was wild
    };
    std::vector<Completed> completed;
    std::uint32_t name = 0;  // of another function
};

// What a rank has beside its events, once they have been looked through.
struct RankTrace {
    std::vector<std::uint32_t> site, name;  // by local number
    std::vector<Communicator> communicator;
    std::vector<std::vector<Bytes>> vector;
    // Of receives with wildcards: number of the request, whom and what it got; in order. And of receives that
    // got nothing.
    std::vector<std::pair<std::uint64_t, End>> resolved;
    std::vector<std::uint64_t> dropped;
    std::uint64_t events = 0, wall_ns = 0, computing_ns = 0;
    bool is_whole = false;
    std::string ends;  // why it is not
};

// A collective call as a library decides on it. Bytes as in Problem.
struct CollectiveCall {
    trace::Operation operation;
    int ranks;
    Bytes bytes;
    int element_B;
    bool is_commutative;

    bool operator<(const CollectiveCall& other) const;
};

class Recording;

// Takes one rank's events, one after another.
class RankReader {
  public:
    // With `survey` what is defined is written there; else it is known.
    RankReader(const Recording& recording, int rank, Recording* survey = nullptr);
    // False behind the last.
    bool next(TraceEvent& event);
    std::uint64_t number() const { return number_; }
    [[noreturn]] void fail(const std::string& what, const char* hint = nullptr) const;

    const RankTrace& known() const;
    const Communicator& communicator(std::int32_t local) const {
        return known().communicator[static_cast<std::size_t>(local)];
    }
    Request& request(std::uint64_t number) { return requests_[number - first_request_]; }
    std::uint64_t latest_request() const { return first_request_ + requests_.size() - 1; }
    // Requests that are complete are held until then.
    void forget_complete();
    // Whether a receive was posted before that request and is not complete; the oldest few are looked at.
    bool has_open_receive(std::uint64_t before) const;

    struct Persistent {
        bool is_send;
        std::uint8_t flags;
        std::int32_t communicator;
        End end;
    };
    const Persistent& persistent(std::uint32_t number) const { return persistent_[number]; }

  private:
    struct CutOff {};  // the file ends in the middle of a record
    bool read(TraceEvent& event);
    bool ends(const std::string& why);
    std::uint64_t varint();
    std::int64_t signed_varint();
    std::uint8_t byte();
    // At most `most`.
    std::uint64_t number_below(std::uint64_t end, const char* what);
    Bytes bytes();
    std::string text();
    void define(trace::Kind kind);
    void define_communicator();
    std::vector<std::int32_t> members();
    void head(TraceEvent& event);
    void communicator_of(TraceEvent& event);
    std::int32_t peer(const TraceEvent& event);
    std::int32_t peer_or_none(const TraceEvent& event);
    std::int32_t tag();
    void collective(TraceEvent& event);
    std::uint64_t open_request();
    void make(const TraceEvent& event, Request::Of of, bool is_wild);

    const Recording& recording_;
    int rank_;
    Recording* survey_;
    const std::uint8_t *at_, *end_;
    std::uint64_t number_ = 0;  // of the latest event, from 1
    bool has_cpu_ = false, is_through_ = false;
    std::uint64_t overhead_wall_ns_ = 0, overhead_cpu_ns_ = 0;
    std::deque<Request> requests_;
    std::uint64_t first_request_ = 0;
    std::vector<Persistent> persistent_;
};

// A file in memory, as it lies on the disk.
class MappedFile {
  public:
    explicit MappedFile(const std::string& path);
    MappedFile(MappedFile&& other) noexcept;
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    MappedFile& operator=(MappedFile&&) = delete;
    ~MappedFile();
    const std::uint8_t* begin() const { return at_; }
    const std::uint8_t* end() const { return at_ + size_B_; }

  private:
    const std::uint8_t* at_ = nullptr;
    std::size_t size_B_ = 0;
};

class Recording {
  public:
    // Reads the folder and looks through all events. TraceFault where it is no trace, or one that is damaged.
    explicit Recording(const std::string& folder);
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    int ranks() const { return static_cast<int>(files_.size()); }
    const RankTrace& rank(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
    const std::vector<std::string>& sites() const { return sites_; }
    const std::vector<std::string>& hosts() const { return hosts_; }
    const std::string& mpi() const { return mpi_; }
    bool has_cpu() const { return has_cpu_; }
    bool is_whole() const;
    // Each different one, in the order of their numbers.
    const std::vector<std::pair<CollectiveCall, std::uint64_t>>& calls() const { return calls_; }
    std::int32_t number_of(const CollectiveCall& call) const { return call_numbers_.at(call); }
    // Functions that are no messages, with how often and how long they were called.
    struct Other {
        std::uint64_t calls = 0;
        double time_s = 0;
    };
    const std::map<std::string, Other>& others() const { return others_; }
    // Collectives between groups, which are left out.
    std::uint64_t between_groups() const { return between_groups_; }
    // Sends that wait for their receiver whatever their size; of persistent ones how many were made.
    std::uint64_t synchronous() const { return synchronous_; }

    // What the event asks of a library; nothing where it is a schedule of ours, or where there is nothing to
    // do.
    static bool call_of(const TraceEvent& event, const RankTrace& rank, CollectiveCall& call);

  private:
    friend class RankReader;
    void survey(int rank);
    const std::vector<std::int32_t>* group(std::vector<std::int32_t>&& members);

    std::string mpi_;
    std::vector<MappedFile> files_;
    std::vector<trace::Header> headers_;
    std::vector<RankTrace> ranks_;
    std::vector<std::string> sites_, names_, hosts_;
    std::map<std::string, std::uint32_t> site_numbers_;
    std::map<std::vector<std::int32_t>, std::int32_t> groups_;
    std::deque<std::vector<std::int32_t>> members_;
    // By group, remote group and which of them it is.
    std::map<std::array<std::int64_t, 3>, std::int32_t> communicators_;
    std::vector<std::pair<CollectiveCall, std::uint64_t>> calls_;
    std::map<CollectiveCall, std::int32_t> call_numbers_;
    std::map<std::string, Other> others_;
    std::uint64_t between_groups_ = 0, synchronous_ = 0;
    bool has_cpu_ = false;
};

}  // namespace hockney
