/* Threads that call collectives at once, each on a communicator of its own; results are checked. Usage: ROUNDS LENGTH. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4 };

typedef struct {
    MPI_Comm comm;
    int number, rounds, longest, wrong;
} Work;

static void* work(void* given) {
    Work* mine = given;
    int rank, ranks, *all = malloc(sizeof(int) * (size_t)mine->longest);
    MPI_Comm_rank(mine->comm, &rank);
    MPI_Comm_size(mine->comm, &ranks);
    for (int round = 0; round < mine->rounds; ++round) {
        int length = 1 + (round * 3701 + mine->number) % mine->longest, root = round % ranks;
        for (int i = 0; i < length; ++i) all[i] = rank + i + mine->number;
        MPI_Allreduce(MPI_IN_PLACE, all, length, MPI_INT, MPI_SUM, mine->comm);
        for (int i = 0; i < length; ++i)
            mine->wrong += all[i] != ranks * (i + mine->number) + ranks * (ranks - 1) / 2;
        for (int i = 0; i < length; ++i) all[i] = rank == root ? i * mine->number : -1;
        MPI_Bcast(all, length, MPI_INT, root, mine->comm);
        for (int i = 0; i < length; ++i) mine->wrong += all[i] != i * mine->number;
    }
    free(all);
    return NULL;
}

int main(int argc, char** argv) {
    int provided, wrong = 0, total = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    Work works[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        works[i] = (Work){MPI_COMM_NULL, i + 1, atoi(argv[1]), atoi(argv[2]), 0};
        MPI_Comm_dup(MPI_COMM_WORLD, &works[i].comm);
    }
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, &works[i]);
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        wrong += works[i].wrong;
        MPI_Comm_free(&works[i].comm);
    }
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (total != 0) printf("wrong: %d numbers\n", total);
    MPI_Finalize();
    return wrong != 0;
}
