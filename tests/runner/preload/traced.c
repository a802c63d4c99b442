/* Calls of each kind in a known order, for the recorder of traces: `traced PART`, on three ranks. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks, next, before, number;
static char from[4096], into[4096];
static int counts[3] = {1, 2, 3}, places[3] = {0, 1, 3}, twos[3] = {2, 2, 2}, ones[3] = {1, 1, 1};
static MPI_Request requests[8];
#define WORLD MPI_COMM_WORLD
#define NO_STATUS MPI_STATUS_IGNORE
#define NO_STATUSES MPI_STATUSES_IGNORE

static void messages(void) {
    if (rank == 0) {
        static char buffer[8192];
        void* detached;
        int size;
        MPI_Buffer_attach(buffer, sizeof buffer);
        MPI_Send(from, 10, MPI_BYTE, 1, 1, WORLD);
        MPI_Ssend(from, 16, MPI_BYTE, 1, 2, WORLD);
        MPI_Bsend(from, 12, MPI_BYTE, 1, 3, WORLD);
        MPI_Recv(into, 0, MPI_BYTE, 1, 4, WORLD, NO_STATUS);
        MPI_Rsend(from, 13, MPI_BYTE, 1, 5, WORLD);
        MPI_Send(from, 13, MPI_BYTE, MPI_PROC_NULL, 5, WORLD);
        MPI_Buffer_detach(&detached, &size);
    } else if (rank == 1) {
        MPI_Status status;
        MPI_Recv(into, 100, MPI_BYTE, MPI_ANY_SOURCE, 1, WORLD, NO_STATUS);
        MPI_Recv(into, 25, MPI_INT, 0, MPI_ANY_TAG, WORLD, &status);
        MPI_Recv(into, 100, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, NO_STATUS);
        MPI_Irecv(into, 13, MPI_BYTE, 0, 5, WORLD, requests);
        MPI_Send(from, 0, MPI_BYTE, 0, 4, WORLD);
        MPI_Wait(requests, NO_STATUS);
    }
    MPI_Sendrecv(from, 30, MPI_BYTE, next, 7, into, 40, MPI_BYTE, MPI_ANY_SOURCE, 7, WORLD, NO_STATUS);
    MPI_Sendrecv_replace(from, 8, MPI_INT, next, 8, before, MPI_ANY_TAG, WORLD, NO_STATUS);
    MPI_Sendrecv(from, 31, MPI_BYTE, rank == 0 ? 1 : MPI_PROC_NULL, 9, into, 40, MPI_BYTE,
                 rank == 1 ? 0 : MPI_PROC_NULL, 9, WORLD, NO_STATUS);
}

/* Completed in another order than they were begun, some by wildcards. */
static void later(void) {
    int index, count, indices[8];
    MPI_Irecv(into, 20, MPI_BYTE, MPI_ANY_SOURCE, 6, WORLD, requests);
    MPI_Irecv(into + 20, 24, MPI_BYTE, before, MPI_ANY_TAG, WORLD, requests + 1);
    MPI_Isend(from, 20, MPI_BYTE, next, 6, WORLD, requests + 2);
    MPI_Issend(from, 21, MPI_BYTE, next, 11, WORLD, requests + 3);
    MPI_Isend(from, 22, MPI_BYTE, MPI_PROC_NULL, 6, WORLD, requests + 4);
    MPI_Waitall(2, requests + 3, NO_STATUSES);
    MPI_Waitany(1, requests + 1, &index, NO_STATUS);
    MPI_Waitsome(1, requests, &count, indices, NO_STATUSES);
    MPI_Wait(requests + 2, NO_STATUS);
    MPI_Wait(requests + 2, NO_STATUS);
    MPI_Irecv(into, 20, MPI_BYTE, before, 12, WORLD, requests);
    MPI_Cancel(requests);
    MPI_Wait(requests, NO_STATUS);
    MPI_Irecv(into, 20, MPI_BYTE, before, 12, WORLD, requests);
    MPI_Cancel(requests);
    MPI_Request_free(requests);
    MPI_Isend(from, 23, MPI_BYTE, next, 13, WORLD, requests);
    MPI_Request_free(requests);
    MPI_Recv(into, 23, MPI_BYTE, before, 13, WORLD, NO_STATUS);
}

/* Of a tag and of ranks that there are not; the last message is longer than its buffer, and came. */
static void failing(void) {
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Send(from, 1, MPI_BYTE, next, -5, WORLD);
    MPI_Irecv(into, 1, MPI_BYTE, ranks, 1, WORLD, requests);
    MPI_Bcast(from, 1, MPI_BYTE, ranks, WORLD);
    MPI_Ibcast(from, 1, MPI_BYTE, ranks, WORLD, requests);
    MPI_Isend(from, 20, MPI_BYTE, next, 2, WORLD, requests);
    MPI_Recv(into, 10, MPI_BYTE, before, 2, WORLD, NO_STATUS);
    MPI_Wait(requests, NO_STATUS);
}

/* Both ways by one request, with ranks that send and receive apart; to or from nobody, from whomever; freed. */
static void exchanges(void) {
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
    if (rank == 0) {
        MPI_Isendrecv(from, 10, MPI_BYTE, next, 1, into, 20, MPI_BYTE, before, 1, WORLD, requests);
        MPI_Isendrecv_replace(from, 11, MPI_BYTE, next, 2, MPI_PROC_NULL, 2, WORLD, requests + 1);
        MPI_Isendrecv(from, 12, MPI_BYTE, MPI_PROC_NULL, 3, into, 20, MPI_BYTE, before, 3, WORLD, requests + 2);
        MPI_Isendrecv(from, 13, MPI_BYTE, next, 4, into, 20, MPI_BYTE, MPI_ANY_SOURCE, 4, WORLD, requests + 3);
        MPI_Waitall(4, requests, NO_STATUSES);
        MPI_Isendrecv(from, 14, MPI_BYTE, next, 5, into, 20, MPI_BYTE, before, 5, WORLD, requests);
#ifdef OMPI_MAJOR_VERSION /* 5.0.11 frees no such request */
        MPI_Wait(requests, NO_STATUS);
#else
        MPI_Request_free(requests);
#endif
        MPI_Recv(into, 0, MPI_BYTE, next, 6, WORLD, NO_STATUS);
    } else if (rank == 1) {
        const int tags[] = {1, 2, 4, 5};
        for (int i = 0; i < 4; ++i) MPI_Recv(into, 20, MPI_BYTE, 0, tags[i], WORLD, NO_STATUS);
        MPI_Send(from, 0, MPI_BYTE, 0, 6, WORLD);
    } else {
        const int tags[] = {1, 3, 4, 5};
        for (int i = 0; i < 4; ++i) MPI_Send(from, 10 + tags[i], MPI_BYTE, 0, tags[i], WORLD);
    }
#endif
}

static void persistent(void) {
    MPI_Recv_init(into, 20, MPI_BYTE, MPI_ANY_SOURCE, 1, WORLD, requests);
    MPI_Send_init(from, 10, MPI_BYTE, next, 1, WORLD, requests + 1);
    MPI_Ssend_init(from, 11, MPI_BYTE, next, 2, WORLD, requests + 2);
    MPI_Recv_init(into + 20, 20, MPI_BYTE, before, 2, WORLD, requests + 3);
    MPI_Send_init(from, 12, MPI_BYTE, MPI_PROC_NULL, 2, WORLD, requests + 4);
    for (int i = 0; i < 2; ++i) {
        MPI_Startall(5, requests);
        MPI_Waitall(5, requests, NO_STATUSES);
    }
    MPI_Start(requests + 1);
    MPI_Start(requests);
    MPI_Wait(requests, NO_STATUS);
    MPI_Wait(requests + 1, NO_STATUS);
    for (int i = 0; i < 5; ++i) MPI_Request_free(requests + i);
}

static void probes(void) {
    MPI_Message message;
    MPI_Status status;
    int is_there = 0;
    MPI_Isend(from, 10, MPI_BYTE, next, 1, WORLD, requests);
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, NO_STATUS);
    MPI_Recv(into, 20, MPI_BYTE, before, 1, WORLD, NO_STATUS);
    MPI_Wait(requests, NO_STATUS);
    MPI_Isend(from, 11, MPI_BYTE, next, 2, WORLD, requests);
    while (!is_there) MPI_Iprobe(before, 2, WORLD, &is_there, &status);
    MPI_Recv(into, 20, MPI_BYTE, before, 2, WORLD, NO_STATUS);
    MPI_Wait(requests, NO_STATUS);
    MPI_Isend(from, 12, MPI_BYTE, next, 3, WORLD, requests);
    MPI_Mprobe(before, 3, WORLD, &message, NO_STATUS);
    MPI_Mrecv(into, 20, MPI_BYTE, &message, NO_STATUS);
    MPI_Wait(requests, NO_STATUS);
    MPI_Isend(from, 13, MPI_BYTE, next, 4, WORLD, requests);
    for (is_there = 0; !is_there;) MPI_Improbe(before, 4, WORLD, &is_there, &message, NO_STATUS);
    MPI_Imrecv(into, 20, MPI_BYTE, &message, requests + 1);
    MPI_Waitall(2, requests, NO_STATUSES);
}

static void compute(double for_s) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double end_s = now.tv_sec + 1e-9 * now.tv_nsec + for_s;
    while (now.tv_sec + 1e-9 * now.tv_nsec < end_s) clock_gettime(CLOCK_MONOTONIC, &now);
}

/* In each way five polls, each after a millisecond of computing, and three more; then a word to rank 0, which
   computes before it answers, and polls until it does. */
static void polls(void) {
    int index, count, indices[2], is_over;
    for (int way = 0; way < 5; ++way) {
        if (rank == 0) {
            for (int of = 1; of < ranks; ++of) MPI_Recv(into, 1, MPI_BYTE, of, 9, WORLD, NO_STATUS);
            compute(0.2);
            for (int to = 1; to < ranks; ++to) MPI_Send(from, 10, MPI_BYTE, to, way, WORLD);
            continue;
        }
        MPI_Irecv(into, 10, MPI_BYTE, MPI_ANY_SOURCE, way, WORLD, requests);
        for (int poll = is_over = 0; !is_over; ++poll) {
            if (poll < 5) compute(0.001);
            if (way == 0) MPI_Test(requests, &is_over, NO_STATUS);
            if (way == 1) MPI_Testall(1, requests, &is_over, NO_STATUSES);
            if (way == 2) MPI_Testany(1, requests, &index, &is_over, NO_STATUS);
            if (way == 3) {
                MPI_Testsome(1, requests, &count, indices, NO_STATUSES);
                is_over = count == 1;
            }
            if (way == 4) MPI_Request_get_status(*requests, &is_over, NO_STATUS);
            if (poll == 7) MPI_Send(from, 1, MPI_BYTE, 0, 9, WORLD);
        }
        MPI_Test(requests, &is_over, NO_STATUS);
    }
}

/* Twice a thousand tests of what has not come, each after a microsecond of computing: the program goes on without,
   then finds another. */
static void passes(void) {
    int is_over = 0;
    if (rank == 0) {
        for (int of = 1; of < ranks; ++of)
            for (int word = 0; word < 2; ++word) MPI_Recv(into, 1, MPI_BYTE, of, 9 + word, WORLD, NO_STATUS);
        for (int to = 1; to < ranks; ++to) MPI_Send(from, 10, MPI_BYTE, to, 1, WORLD);
        return;
    }
    MPI_Irecv(into, 10, MPI_BYTE, 0, 1, WORLD, requests);
    for (int step = 0; !is_over; ++step) {
        if (step < 2000) compute(1e-6);
        MPI_Test(requests + (step >= 2000), &is_over, NO_STATUS);
        if (step == 999) MPI_Isend(from, 1, MPI_BYTE, 0, 9, WORLD, requests + 1);
    }
    MPI_Send(from, 1, MPI_BYTE, 0, 10, WORLD);
    MPI_Wait(requests, NO_STATUS);
}

static void collectives(void) {
    MPI_Barrier(WORLD);
    MPI_Bcast(from, 100, MPI_BYTE, 1, WORLD);
    MPI_Scatter(from, 2, MPI_INT, rank == 2 ? MPI_IN_PLACE : into, 2, MPI_INT, 2, WORLD);
    MPI_Gather(rank == 1 ? MPI_IN_PLACE : from, 3, MPI_INT, into, 3, MPI_INT, 1, WORLD);
    MPI_Reduce(from, into, 4, MPI_DOUBLE, MPI_SUM, 0, WORLD);
    MPI_Allreduce(MPI_IN_PLACE, into, 5, MPI_DOUBLE, MPI_MAX, WORLD);
    MPI_Allgather(from, 1, MPI_INT, into, 1, MPI_INT, WORLD);
    MPI_Reduce_scatter_block(from, into, 2, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce_scatter(from, into, twos, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce_scatter(from, into, counts, MPI_INT, MPI_SUM, WORLD);
    MPI_Alltoall(from, 3, MPI_BYTE, into, 3, MPI_BYTE, WORLD);
    MPI_Scan(from, into, 2, MPI_INT, MPI_SUM, WORLD);
    MPI_Exscan(from, into, 3, MPI_INT, MPI_SUM, WORLD);
    MPI_Allgatherv(from, counts[rank], MPI_INT, into, counts, places, MPI_INT, WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, into, counts, places, MPI_INT, WORLD);
    MPI_Gatherv(from, counts[rank], MPI_INT, into, counts, places, MPI_INT, 1, WORLD);
    MPI_Scatterv(from, counts, places, MPI_INT, into, counts[rank], MPI_INT, 1, WORLD);
    /* Rank i sends i + 1 numbers to each. */
    int out[3] = {rank + 1, rank + 1, rank + 1}, out_places[3] = {0, 4, 8};
    MPI_Alltoallv(from, out, out_places, MPI_INT, into, counts, places, MPI_INT, WORLD);
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Alltoallw(from, ones, places, types, into, ones, places, types, WORLD);
}

static void non_blocking(void) {
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    int i = 0;
    MPI_Request all[18];
    MPI_Ibarrier(WORLD, all + i++);
    MPI_Ibcast(from, 100, MPI_BYTE, 1, WORLD, all + i++);
    MPI_Iscatter(from, 2, MPI_INT, into, 2, MPI_INT, 2, WORLD, all + i++);
    MPI_Igather(from, 3, MPI_INT, into + 100, 3, MPI_INT, 1, WORLD, all + i++);
    MPI_Ireduce(from, into + 200, 4, MPI_DOUBLE, MPI_SUM, 0, WORLD, all + i++);
    MPI_Iallreduce(from, into + 300, 5, MPI_DOUBLE, MPI_SUM, WORLD, all + i++);
    MPI_Iallgather(from, 1, MPI_INT, into + 400, 1, MPI_INT, WORLD, all + i++);
    MPI_Ireduce_scatter_block(from, into + 500, 2, MPI_INT, MPI_SUM, WORLD, all + i++);
    MPI_Ireduce_scatter(from, into + 600, counts, MPI_INT, MPI_SUM, WORLD, all + i++);
    MPI_Ialltoall(from, 3, MPI_BYTE, into + 700, 3, MPI_BYTE, WORLD, all + i++);
    MPI_Iscan(from, into + 800, 2, MPI_INT, MPI_SUM, WORLD, all + i++);
    MPI_Iexscan(from, into + 900, 3, MPI_INT, MPI_SUM, WORLD, all + i++);
    MPI_Iallgatherv(from, counts[rank], MPI_INT, into + 1000, counts, places, MPI_INT, WORLD, all + i++);
    MPI_Igatherv(from, counts[rank], MPI_INT, into + 1100, counts, places, MPI_INT, 1, WORLD, all + i++);
    MPI_Iscatterv(from, counts, places, MPI_INT, into + 1200, counts[rank], MPI_INT, 1, WORLD, all + i++);
    MPI_Ialltoallv(from, ones, places, MPI_INT, into + 1300, ones, places, MPI_INT, WORLD, all + i++);
    MPI_Ialltoallw(from, ones, places, types, into + 1400, ones, places, types, WORLD, all + i++);
    MPI_Waitall(i, all, NO_STATUSES);
}

/* A chain of three, whose ends have one neighbour and nobody. */
static void neighbours(void) {
    MPI_Comm chain, ring;
    MPI_Request request;
    const int open = 0;
    int out[2] = {1, 2}, in[2] = {2, 1}, out_places[2] = {0, 1}, in_places[2] = {0, 4};
    MPI_Aint far[2] = {0, 64};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Cart_create(WORLD, 1, &ranks, &open, 0, &chain);
    MPI_Neighbor_allgather(from, 1, MPI_INT, into, 1, MPI_INT, chain);
    MPI_Neighbor_alltoall(from, 2, MPI_INT, into, 2, MPI_INT, chain);
    /* One number down and two up. */
    MPI_Neighbor_alltoallv(from, out, out_places, MPI_INT, into, in, in_places, MPI_INT, chain);
    MPI_Neighbor_alltoallw(from, out, far, types, into, in, far, types, chain);
    MPI_Ineighbor_alltoall(from, 3, MPI_INT, into, 3, MPI_INT, chain, &request);
    MPI_Wait(&request, NO_STATUS);
    MPI_Comm_free(&chain);
    MPI_Dist_graph_create_adjacent(WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &ring);
    in[0] = before + 1;
    MPI_Neighbor_allgatherv(from, rank + 1, MPI_INT, into, in, in_places, MPI_INT, ring);
    MPI_Comm_free(&ring);
}

static void communicators(void) {
    MPI_Comm same, later, again, half, pair, first, joined, grid, row;
    MPI_Group group, two;
    MPI_Comm_dup(WORLD, &same);
    MPI_Barrier(same);
    MPI_Comm_split(same, rank == 2 ? MPI_UNDEFINED : 0, -rank, &half);
    if (half != MPI_COMM_NULL) MPI_Send(from, 1, MPI_BYTE, MPI_PROC_NULL, 0, half);
    if (half != MPI_COMM_NULL) MPI_Barrier(half);
    MPI_Comm_idup(WORLD, &later, requests);
    MPI_Wait(requests, NO_STATUS);
    MPI_Barrier(later);
    MPI_Comm_dup_with_info(WORLD, MPI_INFO_NULL, &again);
    MPI_Comm_group(WORLD, &group);
    MPI_Group_incl(group, 2, places, &two);
    MPI_Comm_create(WORLD, two, &pair);
    if (rank < 2) MPI_Comm_create_group(WORLD, two, 3, &first);
    MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &row);
    MPI_Comm_free(&row);
    /* Ranks 0 and 1 beside rank 2. */
    MPI_Comm side, between;
    MPI_Comm_split(WORLD, rank == 2, 0, &side);
    MPI_Intercomm_create(side, 0, WORLD, rank == 2 ? 0 : 2, 5, &between);
    MPI_Bcast(from, 4, MPI_BYTE, rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0, between);
    if (rank == 2) MPI_Send(from, 9, MPI_BYTE, 1, 6, between);
    if (rank == 1) MPI_Recv(into, 9, MPI_BYTE, 0, 6, between, NO_STATUS);
    MPI_Intercomm_merge(between, rank == 2, &joined);
    const int sizes[2] = {3, 1}, around[2] = {1, 0}, kept[2] = {1, 0};
    MPI_Cart_create(WORLD, 2, sizes, around, 0, &grid);
    MPI_Cart_sub(grid, kept, &row);
    MPI_Comm_disconnect(&row);
    MPI_Comm_free(&between);
    MPI_Comm_free(&joined);
}

/* The same with counts that may be larger, where the library has them. */
static void large(void) {
#if MPI_VERSION >= 4
    const MPI_Count sizes[3] = {1, 2, 3};
    const MPI_Aint far[3] = {0, 4, 16};
    MPI_Isend_c(from, 5, MPI_INT, next, 1, WORLD, requests);
    MPI_Recv_c(into, 5, MPI_INT, before, MPI_ANY_TAG, WORLD, NO_STATUS);
    MPI_Wait(requests, NO_STATUS);
    MPI_Bcast_c(from, 100, MPI_BYTE, 1, WORLD);
    MPI_Reduce_scatter_c(from, into, sizes, MPI_INT, MPI_SUM, WORLD);
    MPI_Iallgatherv_c(from, rank + 1, MPI_INT, into, sizes, far, MPI_INT, WORLD, requests);
    MPI_Wait(requests, NO_STATUS);
#endif
}

/* What is no message. */
static void others(void) {
    MPI_Win window;
    MPI_File file;
    MPI_Win_create(into, sizeof into, 1, MPI_INFO_NULL, WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(from, 4, MPI_BYTE, next, 0, 4, MPI_BYTE, window);
    MPI_Get_accumulate(from, 1, MPI_INT, into, 1, MPI_INT, next, 8, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    if (MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS)
        MPI_File_close(&file);
}

/* Two threads at once, then none of which anything is kept. */
static void* waits(void* unused) {
    MPI_Recv(into, 1, MPI_BYTE, before, 1, WORLD, NO_STATUS);
    return unused;
}
static void threads(void) {
    pthread_t thread;
    MPI_Barrier(WORLD);
    pthread_create(&thread, NULL, waits, NULL);
    usleep(100000);
    MPI_Barrier(WORLD);
    MPI_Send(from, 1, MPI_BYTE, next, 1, WORLD);
    pthread_join(thread, NULL);
    MPI_Barrier(WORLD);
}
/* Two threads, one after another. */
static void* sums(void* unused) {
    compute(0.01);
    MPI_Allreduce(from, into, 1, MPI_INT, MPI_SUM, WORLD);
    return unused;
}
static void in_turn(void) {
    pthread_t thread;
    sums(NULL);
    pthread_create(&thread, NULL, sums, NULL);
    pthread_join(thread, NULL);
    sums(NULL);
}

static void killed(void) {
    for (int i = 0; i < 1000; ++i) MPI_Allreduce(from, into, 1, MPI_INT, MPI_SUM, WORLD);
    MPI_Barrier(WORLD);
    if (rank == 1) raise(SIGKILL);
    MPI_Barrier(WORLD);
    MPI_Barrier(WORLD);
}

/* Much of the same: NUMBER times two messages of a rank to itself, and a sum every tenth time. */
static void many(void) {
    for (int i = 0; i < number; ++i) {
        for (int k = 0; k < 2; ++k) MPI_Irecv(into + k, 1, MPI_BYTE, rank, k, WORLD, requests + k);
        for (int k = 0; k < 2; ++k) MPI_Isend(from, 1, MPI_BYTE, rank, k, WORLD, requests + 2 + k);
        MPI_Waitall(4, requests, NO_STATUSES);
        if (i % 10 == 0) MPI_Allreduce(from, into, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    }
}

/* Computing that is known: by the clock on the wall, and asleep. */
static void computes(void) {
    MPI_Barrier(WORLD);
    compute(0.05);
    MPI_Barrier(WORLD);
    usleep(50000);
    MPI_Barrier(WORLD);
}

int main(int argc, char** argv) {
    const struct {
        const char* name;
        void (*run)(void);
    } parts[] = {{"messages", messages},       {"later", later},       {"failing", failing}, {"exchanges", exchanges}, {"persistent", persistent},
                 {"probes", probes},           {"polls", polls},       {"passes", passes},
                 {"collectives", collectives},
                 {"non_blocking", non_blocking}, {"neighbours", neighbours}, {"communicators", communicators},
                 {"others", others}, {"large", large},           {"threads", threads},   {"in_turn", in_turn},
                 {"killed", killed},           {"many", many},         {"computes", computes}};
    int provided = MPI_THREAD_MULTIPLE;
    const char* const part = argc > 1 ? argv[1] : "";
    if (argc > 2) sscanf(argv[2], "%d", &number);
    if (strcmp(part, "threads") == 0 || strcmp(part, "in_turn") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    next = (rank + 1) % ranks;
    before = (rank + ranks - 1) % ranks;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        if (strcmp(part, parts[i].name) == 0) parts[i].run();
    MPI_Finalize();
    return 0;
}
