/* Broadcasts from memory that cannot be written, from each root, of numbers that lie together and of some with gaps. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { NUMBERS = 3000 };

int main(int argc, char** argv) {
    int rank, ranks, wrong = 0, first[NUMBERS], *page;
    const size_t size = sizeof first;
    MPI_Datatype types[2] = {MPI_INT};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Type_vector(2, 1, 2, MPI_INT, &types[1]);
    MPI_Type_commit(&types[1]);
    for (int root = 0; root < ranks; ++root)
        for (int kind = 0; kind < 2; ++kind) {
            const int count = kind == 0 ? NUMBERS : NUMBERS / 3;
            page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            for (int i = 0; i < NUMBERS; ++i) page[i] = rank == root ? i : -1;
            memcpy(first, page, size);
            if (rank == root) mprotect(page, size, PROT_READ);
            MPI_Bcast(page, count, types[kind], root, MPI_COMM_WORLD);
            for (int i = 0; i < count; ++i)
                wrong |= kind == 0 ? page[i] != i : page[3 * i] != 3 * i || page[3 * i + 2] != 3 * i + 2;
            if (rank == root) wrong |= memcmp(first, page, size) != 0;
            munmap(page, size);
        }
    MPI_Type_free(&types[1]);
    MPI_Finalize();
    if (wrong) printf("wrong\n");
    return wrong ? 3 : 0;
}
