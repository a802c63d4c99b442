/* Who sends how many messages of how many bytes to whom in one call of a collective: Open MPI's own count
 * (component pml/monitoring, read through MPI_T). Arguments: operation:bytes, …; prints a line
 * "operation bytes from to messages bytes_sent" for every pair that talks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ranks, rank;
static char *from, *to;

static void call(const char *operation, int bytes) {
    MPI_Comm comm = MPI_COMM_WORLD;
    if (!strcmp(operation, "barrier")) MPI_Barrier(comm);
    else if (!strcmp(operation, "bcast")) MPI_Bcast(to, bytes, MPI_CHAR, 0, comm);
    else if (!strcmp(operation, "reduce")) MPI_Reduce(from, to, bytes / 4, MPI_INT, MPI_SUM, 0, comm);
    else if (!strcmp(operation, "allreduce")) MPI_Allreduce(from, to, bytes / 4, MPI_INT, MPI_SUM, comm);
    else if (!strcmp(operation, "gather")) MPI_Gather(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, 0, comm);
    else if (!strcmp(operation, "scatter")) MPI_Scatter(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, 0, comm);
    else if (!strcmp(operation, "allgather")) MPI_Allgather(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, comm);
    else if (!strcmp(operation, "alltoall")) MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, comm);
    else if (!strcmp(operation, "reduce_scatter")) {
        int *counts = malloc(sizeof(int) * (size_t)ranks);
        for (int i = 0; i < ranks; ++i) counts[i] = bytes / 4;
        MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm);
        free(counts);
    } else MPI_Abort(comm, 2);
}

static MPI_T_pvar_handle start(MPI_T_pvar_session session, const char *name) {
    int index, count;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_T_pvar_handle handle;
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_SIZE, &index) != MPI_SUCCESS) MPI_Abort(comm, 3);
    MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count);
    MPI_T_pvar_start(session, handle);
    return handle;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_pvar_session session;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle messages = start(session, "pml_monitoring_messages_count");
    MPI_T_pvar_handle sizes = start(session, "pml_monitoring_messages_size");
    const size_t most = ((size_t)1 << 22) * (size_t)ranks;
    from = calloc(most, 1);
    to = calloc(most, 1);
    size_t *now = calloc(4 * (size_t)ranks, sizeof(size_t));
    size_t *all = calloc(4 * (size_t)(ranks * ranks), sizeof(size_t));
    for (int i = 1; i < argc; ++i) {
        char operation[32];
        int bytes;
        if (sscanf(argv[i], "%31[^:]:%d", operation, &bytes) != 2) MPI_Abort(MPI_COMM_WORLD, 4);
        call(operation, bytes);
        MPI_T_pvar_read(session, messages, now);
        MPI_T_pvar_read(session, sizes, now + ranks);
        call(operation, bytes);
        MPI_T_pvar_read(session, messages, now + 2 * ranks);
        MPI_T_pvar_read(session, sizes, now + 3 * ranks);
        MPI_Gather(now, 4 * ranks * (int)sizeof(size_t), MPI_BYTE, all, 4 * ranks * (int)sizeof(size_t), MPI_BYTE,
                   0, MPI_COMM_WORLD);
        for (int source = 0; rank == 0 && source < ranks; ++source) {
            const size_t *one = all + 4 * source * ranks;
            for (int target = 0; target < ranks; ++target)
                if (one[2 * ranks + target] > one[target])
                    printf("%s %d %d %d %zu %zu\n", operation, bytes, source, target,
                           one[2 * ranks + target] - one[target],
                           one[3 * ranks + target] - one[ranks + target]);
        }
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
