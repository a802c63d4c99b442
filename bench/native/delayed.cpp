// A library to preload: each message of two ranks on one host completes no earlier than a delay after it
// came, so that delays overlap as on a wire. HOCKNEY_DELAYED is FILE:DELAY_NS:EMPTY_NS:PER_BYTE_NS, a file
// that both ranks map, the delay, and what a message takes without it. Collectives are exchanges here, as
// schedules on two ranks are.
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

namespace {

constexpr std::size_t tags = 32, places = 4096;
constexpr int own_tag = tags - 1;

// When messages may complete, by their receiver and tag, in order.
struct Queue {
    std::atomic<std::uint64_t> sent, received;
    std::int64_t due_ns[places];
};
Queue (*queues)[tags] = nullptr;
double delay_ns = 0, empty_ns = 0, per_byte_ns = 0;
int self = 0;
std::unordered_map<std::uintptr_t, bool> receives;

std::int64_t now_ns() {
    timespec at{};
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

[[noreturn]] void stop(const char* why) {
    std::fprintf(stderr, "delayed: %s\n", why);
    std::abort();
}

void sends(int count, MPI_Datatype type, int to, int tag) {
    if (to == MPI_PROC_NULL || to == self) return;
    if (tag < 0 || tag >= static_cast<int>(tags)) stop("tags end at 31");
    int size_B = 0;
    PMPI_Type_size(type, &size_B);
    Queue& queue = queues[to][tag];
    const std::uint64_t place = queue.sent.load();
    if (place - queue.received.load() >= places) stop("too many messages are under way");
    const double takes_ns = delay_ns + empty_ns + per_byte_ns * size_B * count;
    queue.due_ns[place % places] = now_ns() + static_cast<std::int64_t>(takes_ns);
    queue.sent.store(place + 1);
}

// The oldest message with such a tag is complete once that is due.
void complete(const MPI_Status& status) {
    if (status.MPI_SOURCE < 0 || status.MPI_SOURCE == self) return;
    Queue& queue = queues[self][status.MPI_TAG];
    const std::uint64_t place = queue.received.load();
    const std::int64_t due_ns = queue.due_ns[place % places];
    queue.received.store(place + 1);
    if (delay_ns > 0)
        while (now_ns() < due_ns) {
        }
}

std::uintptr_t key(MPI_Request request) { return reinterpret_cast<std::uintptr_t>(request); }

void begin() {
    int ranks = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &self);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* const words = std::getenv("HOCKNEY_DELAYED");
    if (ranks != 2 || words == nullptr) stop("two ranks and HOCKNEY_DELAYED, please");
    const std::string all = words;
    const std::string path = all.substr(0, all.find(':'));
    if (std::sscanf(all.c_str() + path.size(), ":%lf:%lf:%lf", &delay_ns, &empty_ns, &per_byte_ns) != 3)
        stop("HOCKNEY_DELAYED is FILE:DELAY_NS:EMPTY_NS:PER_BYTE_NS");
    const int file = open(path.c_str(), O_RDWR);
    const std::size_t size_B = 2 * tags * sizeof(Queue);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size_B)) != 0) stop("no such file");
    void* const at = mmap(nullptr, size_B, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) stop("the file cannot be mapped");
    queues = static_cast<Queue(*)[tags]>(at);
    // Of the run before.
    std::memset(static_cast<void*>(queues[self]), 0, sizeof queues[self]);
    PMPI_Barrier(MPI_COMM_WORLD);
}

int exchange(const void* out, void* in, int count, MPI_Datatype type, MPI_Comm comm) {
    return MPI_Sendrecv(out, count, type, 1 - self, own_tag, in, count, type, 1 - self, own_tag, comm,
                        MPI_STATUS_IGNORE);
}

const char* behind(const void* at, int count, MPI_Datatype type, int blocks) {
    MPI_Aint low = 0, extent = 0;
    PMPI_Type_get_extent(type, &low, &extent);
    return static_cast<const char*>(at) + blocks * count * extent;
}

}  // namespace

extern "C" {

int MPI_Init(int* count, char*** words) {
    const int code = PMPI_Init(count, words);
    begin();
    return code;
}
int MPI_Send(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    sends(count, type, to, tag);
    return PMPI_Send(from, count, type, to, tag, comm);
}
int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
    sends(count, type, to, tag);
    return PMPI_Isend(from, count, type, to, tag, comm, request);
}
int MPI_Recv(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    MPI_Status own;
    const int code = PMPI_Recv(into, count, type, from, tag, comm, &own);
    complete(own);
    if (status != MPI_STATUS_IGNORE) *status = own;
    return code;
}
int MPI_Irecv(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
    const int code = PMPI_Irecv(into, count, type, from, tag, comm, request);
    receives[key(*request)] = true;
    return code;
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    const bool is_receive = receives.erase(key(*request)) != 0;
    MPI_Status own;
    const int code = PMPI_Wait(request, &own);
    if (is_receive) complete(own);
    if (status != MPI_STATUS_IGNORE) *status = own;
    return code;
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    for (int i = 0; i < count; ++i)
        MPI_Wait(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    return MPI_SUCCESS;
}
int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                 int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status* status) {
    MPI_Request request;
    MPI_Irecv(in, in_count, in_type, from, in_tag, comm, &request);
    MPI_Send(out, out_count, out_type, to, out_tag, comm);
    return MPI_Wait(&request, status);
}
int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    const int code = exchange(out, in, count, type, comm);
    PMPI_Reduce_local(out, in, count, type, op);
    return code;
}
int MPI_Alltoall(const void* out, int count, MPI_Datatype type, void* in, int, MPI_Datatype, MPI_Comm comm) {
    std::memcpy(
        const_cast<char*>(behind(in, count, type, self)), behind(out, count, type, self),
        static_cast<std::size_t>(behind(nullptr, count, type, 1) - static_cast<const char*>(nullptr)));
    return exchange(behind(out, count, type, 1 - self), const_cast<char*>(behind(in, count, type, 1 - self)),
                    count, type, comm);
}
int MPI_Barrier(MPI_Comm comm) {
    char out = 0, in = 0;
    return exchange(&out, &in, 0, MPI_CHAR, comm);
}
}
