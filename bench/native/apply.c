/* Broadcasts and sums by MPI's names, which a preloaded layer may stand before, and by those of the library itself,
   in turns. Arguments: rounds, at most 31, and sizes in bytes. Prints, on rank 0, "pass NAME direct_s layer_s" of a call that moves nothing or
   has no rule, and "call NAME bytes direct_s layer_s"; times are of the slowest rank, the median of rounds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 31, CHEAP = 20000 };

static int rounds = MOST_ROUNDS;

typedef int (*Bcast)(void*, int, MPI_Datatype, int, MPI_Comm);
typedef int (*Allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

/* The library's file, whoever stands before it. */
static int is_library(struct dl_phdr_info* file, size_t size, void* found) {
    (void)size;
    const char* name = strrchr(file->dlpi_name, '/');
    if (name == NULL || (strncmp(name, "/libmpi.so", 10) != 0 && strncmp(name, "/libmpich.so", 12) != 0)) return 0;
    *(void**)found = dlopen(file->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
    return 1;
}

static int by_value(const void* a, const void* b) {
    double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}
static double median(double* values) {
    qsort(values, (size_t)rounds, sizeof(double), by_value);
    return values[rounds / 2];
}

static double passed_s(Bcast bcast, int count, MPI_Comm comm) {
    char byte = 0;
    const double start_s = MPI_Wtime();
    for (int i = 0; i < CHEAP; ++i) bcast(&byte, count, MPI_CHAR, 0, comm);
    return (MPI_Wtime() - start_s) / CHEAP;
}

static double slowest_s(double start_s, int calls, Allreduce allreduce) {
    double mine_s = (MPI_Wtime() - start_s) / calls, most_s = 0;
    allreduce(&mine_s, &most_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most_s;
}

int main(int argc, char** argv) {
    int rank = 0;
    void* library = NULL;
    MPI_Comm self;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    dl_iterate_phdr(is_library, &library);
    Bcast bcast = (Bcast)dlsym(library, "PMPI_Bcast");
    Allreduce allreduce = (Allreduce)dlsym(library, "PMPI_Allreduce");
    if (bcast == NULL || allreduce == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    double direct_s[MOST_ROUNDS], layer_s[MOST_ROUNDS];
    if (argc > 1) rounds = atoi(argv[1]);
    if (rounds < 1 || rounds > MOST_ROUNDS) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int count = 0; count < 2; ++count) {
        MPI_Comm comm = count == 0 ? MPI_COMM_WORLD : self;
        for (int round = 0; round < rounds; ++round) {
            direct_s[round] = passed_s(bcast, count, comm);
            layer_s[round] = passed_s(MPI_Bcast, count, comm);
        }
        if (rank == 0) printf("pass %s %g %g\n", count == 0 ? "empty" : "self", median(direct_s), median(layer_s));
    }
    for (int i = 2; i < argc; ++i) {
        const int size = atoi(argv[i]), calls = size < 4096 ? 50 : size < 262144 ? 10 : 3;
        float *from = calloc((size_t)size, 1), *into = calloc((size_t)size, 1);
        for (int operation = 0; operation < 2; ++operation) {
            for (int round = 0; round < rounds; ++round)
                for (int layer = 0; layer < 2; ++layer) {
                    allreduce(from, into, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                    const double start_s = MPI_Wtime();
                    for (int call = 0; call < calls; ++call) {
                        if (operation == 0)
                            (layer ? MPI_Bcast : bcast)(from, size, MPI_BYTE, 0, MPI_COMM_WORLD);
                        else
                            (layer ? MPI_Allreduce : allreduce)(from, into, size / 4, MPI_FLOAT, MPI_SUM,
                                                                MPI_COMM_WORLD);
                    }
                    (layer ? layer_s : direct_s)[round] = slowest_s(start_s, calls, allreduce);
                }
            if (rank == 0)
                printf("call %s %d %g %g\n", operation == 0 ? "bcast" : "allreduce", size, median(direct_s),
                       median(layer_s));
        }
        free(from), free(into);
    }
    MPI_Comm_free(&self);
    MPI_Finalize();
    return 0;
}
