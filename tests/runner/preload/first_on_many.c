/* Threads that are the first on one communicator after another, all at once, each with a message to itself. Exit code 3
   where more than one of them attached something to a communicator: the second takes the first one's away from under it.
   Usage: ROUNDS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4 };
static pthread_barrier_t together;
static MPI_Comm* comms;
static int rounds, attached = 0;

/* The library's own functions, which the layer calls by these names. */
int PMPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found) {
    int (*own)(MPI_Comm, int, void*, int*) = dlsym(RTLD_NEXT, "PMPI_Comm_get_attr");
    const int code = own(comm, key, value, found);
    usleep(200); /* whoever looks sees what was, not what is */
    return code;
}
int PMPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
    int (*own)(MPI_Comm, int, void*) = dlsym(RTLD_NEXT, "PMPI_Comm_set_attr");
    __atomic_add_fetch(&attached, 1, __ATOMIC_SEQ_CST);
    return own(comm, key, value);
}

static void* work(void* given) {
    const int number = *(int*)given;
    for (int round = 0; round < rounds; ++round) {
        MPI_Request request;
        int rank, sent = number, got = -1;
        MPI_Comm_rank(comms[round], &rank);
        pthread_barrier_wait(&together);
        MPI_Irecv(&got, 1, MPI_INT, rank, number, comms[round], &request);
        MPI_Send(&sent, 1, MPI_INT, rank, number, comms[round]);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (got != number) abort();
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided, numbers[THREADS];
    pthread_t threads[THREADS];
    rounds = argc > 1 ? atoi(argv[1]) : 10;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    comms = malloc(sizeof *comms * (size_t)rounds);
    for (int i = 0; i < rounds; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    pthread_barrier_init(&together, NULL, THREADS);
    attached = 0;
    for (int i = 0; i < THREADS; ++i) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    const int too_many = attached - rounds;
    for (int i = 0; i < rounds; ++i) MPI_Comm_free(&comms[i]);
    free(comms);
    MPI_Finalize();
    printf("%d attached twice\n", too_many);
    return too_many != 0 ? 3 : 0;
}
