#include "trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "channel.hpp"
#include "library.hpp"
#include "loop.hpp"
#include "settings.hpp"
#include "thread_clock.hpp"
#include "trace_file.hpp"
#include "watch.hpp"

namespace hockney::trace {
namespace {

// A loop that waits takes less between two tests, more is computing; a test that finds nothing takes less,
// more moves messages.
constexpr std::int64_t poll_ns = 2000;
// Vectors that are looked up: of more, the same one is written again.
constexpr std::size_t most_vectors_B = std::size_t{16} << 20;
constexpr int calibrating_calls = 2000;

struct Hash {
    std::size_t operator()(const std::vector<Bytes>& bytes) const { return hash_of(bytes); }
};

struct Recorder {
    Recorder(const std::string& path, const Header& header)
        : file(path, header.ranks != 0 ? settings().trace_limit_B / header.ranks : 0, header),
          has_cpu((header.flags & has_cpu_times) != 0) {}

    File file;
    Requests requests;
    bool has_cpu, is_stopped = false;
    // Of the call that is being written: its time goes with its first event.
    bool is_fresh = true;
    std::int64_t last_end_ns = 0;
    std::int64_t carried_ns = 0, carried_cpu_ns = 0;
    // In calls that wrote nothing, and between tests of a loop that waits: it goes into the next call.
    std::int64_t polled_ns = 0;
    Loop loop;
    // What was done once since the latest call.
    bool is_in_once = false;
    std::int64_t once_ns = 0, once_cpu_ns = 0;
    std::unordered_map<const void*, std::uint64_t> sites, names;
    std::unordered_map<std::vector<Bytes>, std::uint64_t, Hash> vectors;
    std::uint64_t next_vector = 0;
    std::size_t vectors_B = 0;
};

// Never destroyed at the end of the process: programs may call MPI until then.
Recorder* recorder = nullptr;
bool is_threaded = false;
// What the clock adds to the time in a call.
std::int64_t reading_ns = 0;
// The function that a thread is in, and the two that met.
std::atomic<const char*> busy{nullptr}, late{nullptr}, early{nullptr};
thread_local int depth = 0;
thread_local ThreadClock thread_clock;
// When the thread left MPI.
thread_local std::int64_t left_cpu_ns = 0;

// False where another thread is in MPI.
bool claim(const char* name) {
    if (!is_threaded) return true;
    const char* other = nullptr;
    if (busy.compare_exchange_strong(other, name, std::memory_order_acquire)) return true;
    const char* none = nullptr;
    if (late.compare_exchange_strong(none, name)) early = other;
    return false;
}

// What was written last ends the trace, the rest is left as it is.
void stop(State state) {
    recorder->is_stopped = true;
    recorder->file.header().state = state;
    is_on = false;
}

// In the room that is always left.
void stop_for_want_of_room() {
    unsigned char* const at = recorder->file.last_room();
    // No time, and no site.
    const std::size_t head_B = recorder->has_cpu ? 5 : 4;
    recorder->file.commit(limit, at + head_B);
    stop(limited);
}

// What the layer takes is off.
std::int64_t without(std::int64_t time_ns, std::uint64_t overhead_ns) {
    return std::max<std::int64_t>(0, time_ns - static_cast<std::int64_t>(overhead_ns));
}

}  // namespace

Requests& requests() { return recorder->requests; }

std::int64_t Visit::own_ns() const { return without(gap_ns_, recorder->file.header().overhead_wall_ns); }
std::int64_t Visit::own_cpu_ns() const {
    return without(gap_cpu_ns_, recorder->file.header().overhead_cpu_ns);
}

Visit::Visit(const char* name, const void* site) : name_(name), site_(site) {
    if (is_on.load(std::memory_order_relaxed)) {
        is_entered_ = true;
        is_traced_ = depth++ == 0 && claim(name);
        if (is_traced_) recorder->is_fresh = true;
    }
}

void Visit::enter() {
    start_ns_ = wall_ns();
    if (!is_traced_) return;
    Recorder& to = *recorder;
    gap_ns_ = std::max<std::int64_t>(0, start_ns_ - to.last_end_ns - to.once_ns);
    if (to.has_cpu) {
        const std::int64_t now_ns = thread_clock.at(start_ns_, start_ns_);
        // A thread that comes after another one has a clock of its own.
        gap_cpu_ns_ = std::clamp<std::int64_t>(now_ns - left_cpu_ns - to.once_cpu_ns, 0, gap_ns_);
    }
    to.once_ns = to.once_cpu_ns = 0;
}

void Visit::leave() {
    goes_on_ns_ = end_ns_ = wall_ns();
    if (!is_traced_) return;
    if (recorder->has_cpu) {
        thread_clock.at(end_ns_, goes_on_ns_);
        left_cpu_ns = thread_clock.latest();
    }
    if (const char* const second = late.load(std::memory_order_acquire)) {
        const char* const first = early.load();
        const std::string text =
            std::string(second) + " while another thread was in " + (first != nullptr ? first : "MPI");
        Event(refused, *this, 4 + text.size()).add_text(text);
        is_traced_ = false;
        if (recorder->is_stopped) return;
        recorder->file.header().text_B = static_cast<std::uint32_t>(text.size());
        stop(refusing);
    }
}

Visit::~Visit() {
    if (!is_entered_) return;
    --depth;
    if (!is_traced_) return;
    recorder->last_end_ns = goes_on_ns_;
    if (is_threaded) busy.store(nullptr, std::memory_order_release);
}

void Visit::carry(std::int64_t more_ns) const {
    recorder->carried_ns += own_ns() + more_ns;
    recorder->carried_cpu_ns += own_cpu_ns() + more_ns;
}

void Visit::skip() const {
    carry(0);
    recorder->polled_ns += end_ns_ - start_ns_;
}

void Visit::test() const {
    Recorder& to = *recorder;
    const std::int64_t inside_ns = std::max<std::int64_t>(0, end_ns_ - start_ns_ - reading_ns),
                       moving_ns = inside_ns < poll_ns ? 0 : inside_ns;
    to.polled_ns += moving_ns;
    if (own_ns() >= poll_ns) return carry(inside_ns - moving_ns);
    to.loop.add(site_, {own_ns() + inside_ns - moving_ns, own_cpu_ns() + inside_ns - moving_ns,
                        gap_ns_ + goes_on_ns_ - start_ns_ - moving_ns});
}

void Visit::settle() const {
    const Loop::Time all = recorder->loop.all(), computing = recorder->loop.end(site_);
    recorder->carried_ns += computing.ns;
    recorder->carried_cpu_ns += computing.cpu_ns;
    recorder->polled_ns += all.passed_ns - computing.passed_ns;
}

Once::Once() : is_outermost_(is_on && depth > 0 && !recorder->is_in_once) {
    if (!is_outermost_) return;
    recorder->is_in_once = true;
    start_ns_ = wall_ns();
    std::int64_t goes_on_ns = 0;
    if (recorder->has_cpu) start_cpu_ns_ = thread_clock.at(start_ns_, goes_on_ns);
}

Once::~Once() {
    if (!is_outermost_) return;
    recorder->is_in_once = false;
    std::int64_t end_ns = wall_ns();
    if (recorder->has_cpu) {
        thread_clock.at(end_ns, end_ns);
        recorder->once_cpu_ns += thread_clock.latest() - start_cpu_ns_;
    }
    recorder->once_ns += end_ns - start_ns_;
}

Event::Event(Kind kind, std::size_t most_B) : kind_(kind), at_(nullptr) {
    if (recorder->is_stopped) return;
    at_ = recorder->file.room(most_B + 1);
    if (at_ == nullptr) {
        stop_for_want_of_room();
        return;
    }
    ++at_;
}

Event::Event(Kind kind, const Visit& visit, std::size_t most_numbers) : kind_(kind), at_(nullptr) {
    // First, as it may be new.
    const std::uint64_t site = site_number(visit.site_);
    if (recorder->is_stopped) return;
    Recorder& to = *recorder;
    at_ = to.file.room((most_numbers + 5) * number_B);
    if (at_ == nullptr) {
        stop_for_want_of_room();
        return;
    }
    ++at_;
    const bool is_fresh = to.is_fresh;
    if (!to.loop.is_empty()) visit.settle();
    add((is_fresh ? visit.gap_ns_ : 0) + to.carried_ns);
    if (to.has_cpu) add((is_fresh ? visit.gap_cpu_ns_ : 0) + to.carried_cpu_ns);
    // The time of a call that is no message is replayed: it stays its own.
    const std::int64_t polled_ns = kind == other ? 0 : std::exchange(to.polled_ns, 0);
    add((is_fresh ? visit.end_ns_ - visit.start_ns_ : 0) + polled_ns, site);
    to.carried_ns = to.carried_cpu_ns = 0;
    to.is_fresh = false;
}

Event::~Event() {
    if (at_ != nullptr) recorder->file.commit(kind_, at_);
}

Event& Event::add_text(const std::string& text) {
    add(text.size());
    if (at_ != nullptr) at_ = std::copy(text.begin(), text.end(), at_);
    return *this;
}

namespace {

// Of what an address names, whose text is defined when it is met first.
std::uint64_t number_of(const void* what, std::unordered_map<const void*, std::uint64_t>& numbers, Kind kind,
                        std::string (*text_of)(const void*)) {
    const auto found = numbers.find(what);
    if (found != numbers.end()) return found->second;
    const Once once;
    const std::uint64_t number = numbers.size();
    numbers[what] = number;
    const std::string text = text_of(what);
    Event(kind, 2 * number_B + text.size()).add(number).add_text(text);
    return number;
}

}  // namespace

std::uint64_t site_number(const void* site) {
    return number_of(site, recorder->sites, Kind::site, described);
}

std::uint64_t name_number(const char* name) {
    return number_of(name, recorder->names, Kind::name,
                     [](const void* text) { return std::string(static_cast<const char*>(text)); });
}

std::uint64_t vector_number(const std::vector<Bytes>& bytes) {
    const auto found = recorder->vectors.find(bytes);
    if (found != recorder->vectors.end()) return found->second;
    const Once once;
    const std::uint64_t number = recorder->next_vector++;
    recorder->vectors_B += bytes.size() * sizeof(Bytes);
    if (recorder->vectors_B > most_vectors_B) {
        recorder->vectors.clear();
        recorder->vectors_B = 0;
    }
    Event event(Kind::vector, (2 + bytes.size()) * number_B);
    event.add(number, bytes.size());
    for (const Bytes size_B : bytes) event.add(size_B);
    recorder->vectors[bytes] = number;
    return number;
}

namespace {

std::uint64_t median_of(std::vector<std::int64_t>& times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, *middle));
}

// What is done for a call besides the call, between one and the next.
void calibrate(Header& header) {
    const auto own = std::make_unique<Recorder>("", header);
    recorder = own.get();
    is_on = true;
    Watched watched;
    std::vector<std::int64_t> wall, cpu, inside, readings;
    for (int i = 0; i < calibrating_calls; ++i)
        readings.push_back(-time_of(CLOCK_THREAD_CPUTIME_ID) + time_of(CLOCK_THREAD_CPUTIME_ID));
    ThreadClock::half_reading_ns = static_cast<std::int64_t>(median_of(readings) / 2);
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < calibrating_calls; ++i) {
        const void* const place = reinterpret_cast<const void*>(calibrate);
        library::origin_of(place);
        Channel& channel = Channel::of(MPI_COMM_WORLD);
        Visit visit("", library::program_site(place));
        visit.enter();
        visit.leave();
        watched.add("", place, i % 2, -1, false, visit.start_s(), visit.end_s());
        Request made{i, &request};
        if (i % 2 == 0)
            own->requests.add(request, made);
        else
            own->requests.take(request, &request, made);
        Event event(isend, visit);
        event.add(channel.ranks(), 1, Signed{2}, 3, 0);
        inside.push_back(std::llround((visit.end_s() - visit.start_s()) * 1e9));
        wall.push_back(visit.gap_ns());
        cpu.push_back(visit.gap_cpu_ns());
    }
    is_on = false;
    recorder = nullptr;
    reading_ns = static_cast<std::int64_t>(median_of(inside));
    header.overhead_wall_ns = median_of(wall);
    header.overhead_cpu_ns = median_of(cpu);
}

}  // namespace

void begin() {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    // Processes that the program spawns have a world of their own.
    if (settings().trace_folder.empty() || parent != MPI_COMM_NULL) return;
    Header header{};
    int rank = 0, ranks = 1, level = MPI_THREAD_SINGLE;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Query_thread(&level);
    is_threaded = level == MPI_THREAD_MULTIPLE;
    std::copy(std::begin(magic), std::end(magic), header.magic);
    header.version = version;
    header.rank = static_cast<std::uint32_t>(rank);
    header.ranks = static_cast<std::uint32_t>(ranks);
    const bool is_shared = shares_cores();
    const std::string& clock = settings().trace_clock;
    if (clock == "cpu" || (clock.empty() && is_shared)) header.flags |= has_cpu_times;
    gethostname(header.host, sizeof header.host - 1);
    std::strncpy(header.mpi, settings().mpi.c_str(), sizeof header.mpi - 1);
    calibrate(header);
    const std::string path = settings().trace_folder + "/" + std::to_string(rank) + ".events";
    recorder = new Recorder(path, header);
    if (recorder->file.lack().empty()) {
        site_number(nullptr);
        comm_number(MPI_COMM_WORLD, Channel::of(MPI_COMM_WORLD));
        comm_number(MPI_COMM_SELF, Channel::of(MPI_COMM_SELF));
        return;
    }
    std::fprintf(stderr, "hockney: rank %d keeps no trace: cannot write %s: %s\n", rank, path.c_str(),
                 recorder->file.lack().c_str());
    delete recorder;
    recorder = nullptr;
}

void begin_events() {
    if (settings().trace_folder.empty()) return;
    double first_s = Watched::global_s();
    library::Allreduce(MPI_IN_PLACE, &first_s, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    if (recorder == nullptr) return;
    recorder->file.header().start_ns =
        static_cast<std::uint64_t>(std::max(0.0, (Watched::global_s() - first_s) * 1e9));
    thread_clock.at(wall_ns(), recorder->last_end_ns);
    left_cpu_ns = thread_clock.latest();
    is_on = !recorder->is_stopped;
}

void end(const void* site) {
    if (recorder == nullptr) return;
    {
        Visit visit("MPI_Finalize", site);
        visit.enter();
        visit.leave();
        if (visit.is_traced() && is_on) {
            Event(finalize, visit);
            stop(ended);
        }
    }
    is_on = false;
    delete recorder;
    recorder = nullptr;
}

}  // namespace hockney::trace
