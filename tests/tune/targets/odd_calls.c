/* Calls that an algorithm may not be able to do: in place, by an operator that is not commutative, of fewer
 * elements than ranks, of no elements. Ends with 0 where all results are right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Affine maps x -> a x + b, which do not commute: (a, b) then (c, d) is (a c, b c + d), modulo 2^32. */
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
    const unsigned *first = in, *last = inout;
    unsigned* out = inout;
    (void)type;
    for (int i = 0; i < *count; ++i) {
        const unsigned a = first[2 * i] * last[2 * i], b = first[2 * i + 1] * last[2 * i] + last[2 * i + 1];
        out[2 * i] = a;
        out[2 * i + 1] = b;
    }
}

static int wrong = 0;

static void check(int right, const char* what, int n) {
    if (right) return;
    wrong = 1;
    fprintf(stderr, "%s of %d elements is wrong\n", what, n);
}

static void orders(MPI_Comm comm, int rank, int ranks, int n) {
    MPI_Datatype pair;
    MPI_Op op;
    unsigned* in = malloc(sizeof(unsigned) * 2 * (size_t)n * (size_t)ranks);
    unsigned* out = malloc(sizeof(unsigned) * 2 * (size_t)n * (size_t)ranks);
    int* counts = malloc(sizeof(int) * (size_t)ranks);
    unsigned a = 1, b = 0;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    for (int r = 0; r < ranks; ++r) {
        b = b * (2u * (unsigned)r + 3) + 7u * (unsigned)r + 1;
        a *= 2u * (unsigned)r + 3;
        counts[r] = n;
    }
    for (int i = 0; i < n * ranks; ++i) {
        in[2 * i] = 2u * (unsigned)rank + 3;
        in[2 * i + 1] = 7u * (unsigned)rank + 1;
    }
    MPI_Allreduce(in, out, n, pair, op, comm);
    check(n == 0 || (out[2 * n - 2] == a && out[2 * n - 1] == b), "ordered allreduce", n);
    MPI_Reduce(in, out, n, pair, op, 1, comm);
    check(rank != 1 || n == 0 || (out[2 * n - 2] == a && out[2 * n - 1] == b), "ordered reduce", n);
    MPI_Reduce_scatter(in, out, counts, pair, op, comm);
    check(n == 0 || (out[2 * n - 2] == a && out[2 * n - 1] == b), "ordered reduce_scatter", n);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(counts);
    free(out);
    free(in);
}

static void in_place(MPI_Comm comm, int rank, int ranks, int n) {
    int* data = malloc(sizeof(int) * (size_t)(n * ranks + 1));
    for (int i = 0; i < n * ranks; ++i) data[i] = rank * ranks + i / n;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, n, MPI_INT, comm);
    for (int i = 0; i < n * ranks; ++i) check(data[i] == i / n * ranks + rank, "alltoall in place", n);
    for (int i = 0; i < n; ++i) data[rank * n + i] = rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, n, MPI_INT, comm);
    for (int i = 0; i < n * ranks; ++i) check(data[i] == i / n, "allgather in place", n);
    for (int i = 0; i < n; ++i) data[rank * n + i] = rank + 1;
    MPI_Gather(rank == 1 ? MPI_IN_PLACE : data + rank * n, rank == 1 ? 0 : n, MPI_INT, data, n, MPI_INT, 1, comm);
    for (int i = 0; rank == 1 && i < n * ranks; ++i) check(data[i] == i / n + 1, "gather in place", n);
    if (rank == 1)
        MPI_Scatter(data, n, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 1, comm);
    else
        MPI_Scatter(NULL, 0, MPI_INT, data, n, MPI_INT, 1, comm);
    for (int i = 0; i < n; ++i) check(data[(rank == 1) * n + i] == rank + 1, "scatter in place", n);
    for (int i = 0; i < n; ++i) data[i] = rank;
    MPI_Allreduce(MPI_IN_PLACE, data, n, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n; ++i) check(data[i] == ranks * (ranks - 1) / 2, "allreduce in place", n);
    MPI_Bcast(data, n, MPI_INT, 1, comm);
    MPI_Barrier(comm);
    free(data);
}

int main(int argc, char** argv) {
    const int sizes[] = {0, 1, 3, 100000};
    int rank, ranks, ordered = argc < 2, worst;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 4; ++i) {
        in_place(MPI_COMM_WORLD, rank, ranks, sizes[i]);
        if (ordered) orders(MPI_COMM_WORLD, rank, ranks, sizes[i]);
    }
    MPI_Allreduce(&wrong, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return worst;
}
