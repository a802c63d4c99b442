#include "watch.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "../runner/clock.hpp"
#include "../runner/sync/global_clock.hpp"
#include "begun.hpp"
#include "layer.hpp"
#include "library.hpp"
#include "trace.hpp"

namespace hockney {
namespace {

// Sizes of one communicator; further ones count as the next power of two.
constexpr std::size_t most_records = 4096;
constexpr Bytes most_rounded_B = Bytes{1} << 62;
// Notes that all ranks keep together, of kinds of calls and of comings and goings each, and between which
// bounds one rank keeps its share.
constexpr std::size_t most_notes = std::size_t{1} << 20, most_of_rank = std::size_t{1} << 16,
                      least_of_rank = 512;
// Comings and goings that one rank keeps of one communicator.
constexpr std::size_t most_kept = 8192;

struct Place {
    std::string name;
    int rank, ranks;  // of this process there
    std::uint64_t members;
    int number = 0;  // among those that are alike and live
    bool operator<(const Place& o) const {
        return std::tie(members, name, rank, ranks, number) <
               std::tie(o.members, o.name, o.rank, o.ranks, o.number);
    }
};

// Never destroyed: programs may call MPI until the very end.
auto& watched_mutex = *new std::mutex;
auto& watched_places = *new std::map<Place, Watched*>;
GlobalClock* global_clock = nullptr;
MPI_Comm clock_comm = MPI_COMM_NULL;
double begin_s = 0;
std::size_t notes_of_rank = most_of_rank;
// From which on one communicator's sizes are rounded: others need notes, too.
std::size_t exact_records = most_records;
// Kinds of calls and communicators, and comings and goings, of all communicators.
std::atomic<std::size_t> noted{0}, sampled{0};
// How many of the latter one communicator keeps: less when they are too many.
std::atomic<std::size_t> kept_of_one{most_kept};
std::atomic<long> left_out{0};
std::atomic<long> left_out_ns{0};
Watched* beyond = nullptr;

// The same on all ranks of a communicator, and hardly ever on those of another.
std::uint64_t members_of(MPI_Comm comm) {
    MPI_Group group = MPI_GROUP_NULL;
    std::vector<int> ranks;
    PMPI_Comm_group(comm, &group);
    trace::world_ranks(group, ranks);
    PMPI_Group_free(&group);
    return trace::hash_of({ranks.begin(), ranks.end()});
}

// The next power of two.
Bytes rounded_B(Bytes bytes) {
    if (bytes == 0) return 0;
    Bytes rounded = 1;
    while (rounded < bytes && rounded < most_rounded_B) rounded *= 2;
    return rounded;
}

// Whether there is room for one more kind of call or communicator, which then counts.
bool notes_one() {
    if (noted++ < notes_of_rank) return true;
    --noted;
    return false;
}

long nanoseconds(double time_s) { return static_cast<long>(time_s * 1e9); }

std::string without_tabs(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return text;
}

}  // namespace

std::string described(const void* site) {
    Dl_info found{};
    std::ostringstream text;
    if (site == nullptr || dladdr(const_cast<void*>(site), &found) == 0 || found.dli_fname == nullptr)
        return "";
    // A program at addresses of its own (-no-pie) is where its file says; everything else was moved.
    const auto offset = reinterpret_cast<std::uintptr_t>(site) - library::moved_by(site);
    text << found.dli_fname << "+0x" << std::hex << offset;
    if (found.dli_sname != nullptr) text << " (" << found.dli_sname << ")";
    return without_tabs(text.str());
}

struct Watched::Notes {
    using Key = std::tuple<const char*, const void*, Bytes>;
    struct Hash {
        std::size_t operator()(const Key& key) const {
            const auto& [operation, site, bytes] = key;
            std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(operation) * 0x9E3779B97F4A7C15ULL;
            mixed = (mixed ^ reinterpret_cast<std::uintptr_t>(site)) * 0xBF58476D1CE4E5B9ULL;
            return (mixed ^ (mixed >> 29) ^ static_cast<std::uint64_t>(bytes)) * 0x94D049BB133111EBULL;
        }
    };
    struct Record {
        std::size_t number;
        long calls = 0;
        double time_s = 0;
    };
    struct Sample {
        long sequence;
        std::size_t record;
        int root;
        double start_s, end_s;
    };

    std::mutex mutex;  // messages of several threads may be on one communicator
    std::unordered_map<Key, Record, Hash> records;
    long sequence = 0;  // of blocking collectives: the same on all ranks
    long stride = 1;    // which of them are kept
    std::vector<Sample> samples;

    // Keeps every second one until they are no more than a communicator may have, or the last. As strides are
    // powers of two, ranks that keep less keep a part of what the others do.
    void thin() {
        while (samples.size() > kept_of_one) {
            stride *= 2;
            const auto end = std::remove_if(samples.begin(), samples.end(),
                                            [&](const Sample& one) { return one.sequence % stride != 0; });
            sampled -= static_cast<std::size_t>(samples.end() - end);
            samples.erase(end, samples.end());
        }
    }
};

Watched::Watched() : notes_(new Notes) {}
// Only what notes what is no call.
Watched::~Watched() { noted -= notes_->records.size(); }

namespace {

Place place_of(MPI_Comm comm) {
    Place place{"", 0, 0, 0};
    if (comm != MPI_COMM_NULL) {
        char name[MPI_MAX_OBJECT_NAME] = "";
        int length = 0, inter = 0;
        PMPI_Comm_get_name(comm, name, &length);
        PMPI_Comm_rank(comm, &place.rank);
        PMPI_Comm_size(comm, &place.ranks);
        PMPI_Comm_test_inter(comm, &inter);
        place.name = without_tabs(std::string(name, static_cast<std::size_t>(length)));
        // Open MPI numbers those that the program gave no name.
        if (place.name.rfind("MPI COMMUNICATOR ", 0) == 0) place.name.clear();
        if (inter != 0)
            place.name += " (between groups)";
        else
            place.members = members_of(comm);
    }
    return place;
}

// Under the lock.
Watched& noted_at(const Place& place) {
    const auto found = watched_places.find(place);
    if (found != watched_places.end()) return *found->second;
    if (!notes_one()) return *beyond;
    return *(watched_places[place] = new Watched);
}

}  // namespace

Watched& Watched::taken(MPI_Comm comm) {
    Place place = place_of(comm);
    const std::lock_guard<std::mutex> held(watched_mutex);
    for (;; ++place.number) {
        Watched& found = noted_at(place);
        if (&found != beyond && found.is_taken_) continue;
        found.is_taken_ = true;
        return found;
    }
}

void Watched::leave() {
    const std::lock_guard<std::mutex> held(watched_mutex);
    is_taken_ = false;
}

Watched& Watched::of(MPI_Comm comm) {
    const Place place = place_of(comm);
    const std::lock_guard<std::mutex> held(watched_mutex);
    return noted_at(place);
}

void Watched::add(const char* operation, const void* site, Bytes bytes, int root, bool is_blocking,
                  double start_s, double end_s) {
    Notes& notes = *notes_;
    std::unique_lock<std::mutex> held(notes.mutex);
    auto found = notes.records.find({operation, site, bytes});
    const bool is_exact = notes.records.size() < exact_records;
    if (found == notes.records.end() && !is_exact)
        found = notes.records.find({operation, site, rounded_B(bytes)});
    if (found == notes.records.end() && this != beyond && notes_one()) {
        const trace::Once once;
        const Notes::Record fresh{notes.records.size()};
        const Notes::Key key{operation, site, is_exact ? bytes : rounded_B(bytes)};
        found = notes.records.emplace(key, fresh).first;
    }
    // Where there is no room for it, one that is there already may stand for it.
    if (found == notes.records.end()) found = notes.records.find({operation, site, rounded_B(bytes)});
    if (found == notes.records.end()) {
        ++left_out;
        left_out_ns += nanoseconds(end_s - start_s);
        // The others number it, too.
        if (is_blocking) ++notes.sequence;
        return;
    }
    ++found->second.calls;
    found->second.time_s += end_s - start_s;
    if (!is_blocking) return;
    const long sequence = notes.sequence++;
    if (sequence % notes.stride != 0) return;
    notes.samples.push_back({sequence, found->second.number, root, start_s, end_s});
    ++sampled;
    notes.thin();
    held.unlock();
    if (sampled > notes_of_rank) share();
}

void Watched::share() {
    const std::lock_guard<std::mutex> held(watched_mutex);
    // Those that have most give first. In the end each has one, of which there are no more than
    // communicators.
    while (sampled > notes_of_rank && kept_of_one > 1) {
        kept_of_one = kept_of_one / 2;
        for (const auto& [place, watched] : watched_places) {
            const std::lock_guard<std::mutex> theirs(watched->notes_->mutex);
            watched->notes_->thin();
        }
    }
}

void Watched::begin() {
    PMPI_Comm_split(MPI_COMM_WORLD, 0, 0, &clock_comm);
    global_clock = new GlobalClock(clock_comm);
    global_clock->synchronise();
    int ranks = 1;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    notes_of_rank = std::clamp(most_notes / static_cast<std::size_t>(ranks), least_of_rank, most_of_rank);
    exact_records = std::min(most_records, notes_of_rank / 2);
    kept_of_one = std::min(most_kept, notes_of_rank);
    beyond = new Watched;
    begin_s = now_s();
}

double Watched::global_s() { return global_clock->to_global(now_s()); }

std::string Watched::end() {
    const double end_s = now_s();
    global_clock->synchronise();
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::ostringstream lines;
    lines << "rank\t" << rank << '\t' << nanoseconds(end_s - begin_s) << '\n';
    if (const std::string unseen = library::unseen(); rank == 0 && !unseen.empty())
        lines << "unseen\t" << without_tabs(unseen) << '\n';
    lines << begun();
    if (left_out != 0) lines << "left\t" << left_out << '\t' << left_out_ns << '\n';
    for (const auto& [place, watched] : watched_places) {
        const Notes& notes = *watched->notes_;
        lines << "on\t" << place.members << '\t' << place.rank << '\t' << place.ranks << '\t' << place.name
              << '\t' << place.number << '\n';
        for (const auto& [key, record] : notes.records)
            lines << "call\t" << record.number << '\t' << std::get<0>(key) << '\t'
                  << described(std::get<1>(key)) << '\t' << std::get<2>(key) << '\t' << record.calls << '\t'
                  << nanoseconds(record.time_s) << '\n';
        for (const Notes::Sample& one : notes.samples)
            lines << "at\t" << one.sequence << '\t' << one.record << '\t' << one.root << '\t'
                  << nanoseconds(global_clock->to_global(one.start_s)) << '\t'
                  << nanoseconds(global_clock->to_global(one.end_s)) << '\n';
    }
    delete global_clock;
    PMPI_Comm_free(&clock_comm);
    std::string all = gathered(lines.str());
    const auto count = std::count(all.begin(), all.end(), '\n');
    return all + "end\t" + std::to_string(count) + '\n';
}

}  // namespace hockney
