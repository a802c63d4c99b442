/* Two ranks with two duplicates of a communicator: rank 0 sums on one and then broadcasts on the other, rank 1 begins
   with the latter, whose root it is, in a thread of its own. Ends with 77 where threads may not call. */
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static MPI_Comm summed, sent;

static void* broadcasts(void* unused) {
    int number = 0;
    for (int i = 0; i < 5; ++i) MPI_Bcast(&number, 1, MPI_INT, 1, sent);
    return unused;
}

int main(int argc, char** argv) {
    int provided, rank, one = 1, sum;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &summed);
    MPI_Comm_dup(MPI_COMM_WORLD, &sent);
    MPI_Barrier(summed);
    MPI_Barrier(sent);
    if (rank == 1) pthread_create(&thread, NULL, broadcasts, NULL);
    if (rank == 1) usleep(50000);
    for (int i = 0; i < 5; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, summed);
    if (rank == 0) broadcasts(NULL);
    if (rank == 1) pthread_join(thread, NULL);
    MPI_Comm_free(&summed);
    MPI_Comm_free(&sent);
    MPI_Finalize();
    return 0;
}
