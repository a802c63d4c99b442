// Small programs whose runs are recorded and replayed: each communicates in a way of its own, computes in
// between, and prints the seconds from MPI_Init to the end of its work on rank 0.
//
//     programs NAME ELEMENTS STEPS [ROWS_OF_GRID]
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using Vector = std::vector<double>;

int rank = 0, ranks = 1;

// Some passes over memory, as a solver makes them.
void relax(Vector& values, int passes) {
    for (int pass = 0; pass < passes; ++pass)
        for (std::size_t i = 1; i + 1 < values.size(); ++i)
            values[i] = 0.25 * values[i - 1] + 0.5 * values[i] + 0.25 * values[i + 1];
}

// Five-point relaxation on a square of n × n on each rank of a grid, four neighbours, a norm each tenth step.
void jacobi(int n, int steps, int rows) {
    int shape[2] = {rows, 0}, periods[2] = {1, 1}, up = 0, down = 0, left = 0, right = 0;
    MPI_Dims_create(ranks, 2, shape);
    MPI_Comm grid = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    const auto size = static_cast<std::size_t>(n);
    Vector now((size + 2) * (size + 2), 1), next(now), out(4 * size), in(4 * size);
    for (int step = 0; step < steps; ++step) {
        const int to[4] = {up, down, left, right}, from[4] = {down, up, right, left};
        MPI_Request requests[8];
        for (std::size_t side = 0; side < 4; ++side) {
            for (std::size_t i = 0; i < size; ++i) out[side * size + i] = now[(i + 1) * (size + 2) + 1];
            MPI_Irecv(&in[side * size], n, MPI_DOUBLE, from[side], static_cast<int>(side), grid,
                      &requests[side]);
            MPI_Isend(&out[side * size], n, MPI_DOUBLE, to[side], static_cast<int>(side), grid,
                      &requests[4 + side]);
        }
        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        for (std::size_t i = 1; i <= size; ++i)
            for (std::size_t j = 1; j <= size; ++j)
                next[i * (size + 2) + j] =
                    0.25 * (now[(i - 1) * (size + 2) + j] + now[(i + 1) * (size + 2) + j] +
                            now[i * (size + 2) + j - 1] + now[i * (size + 2) + j + 1]);
        std::swap(now, next);
        if (step % 10 != 0) continue;
        double norm = now[size], sum = 0;
        MPI_Allreduce(&norm, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
    MPI_Comm_free(&grid);
}

// Conjugate gradients on a line: halos by blocking calls, two sums a step.
void cg(int n, int steps, int) {
    Vector x(static_cast<std::size_t>(n), 1);
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    const int halo = std::max(1, n / 64);
    Vector in(static_cast<std::size_t>(halo));
    for (int step = 0; step < steps; ++step) {
        MPI_Sendrecv(x.data(), halo, MPI_DOUBLE, left, 1, in.data(), halo, MPI_DOUBLE, right, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(x.data(), halo, MPI_DOUBLE, right, 2, in.data(), halo, MPI_DOUBLE, left, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        relax(x, 1);
        for (int dot = 0; dot < 2; ++dot) {
            double mine = 0, sum = 0;
            for (const double value : x) mine += value * value;
            MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
}

// A piece travels once around for each step; each rank works on it before it sends it on.
void ring(int n, int steps, int) {
    Vector mine(static_cast<std::size_t>(n), 1), theirs(mine);
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int step = 0; step < steps; ++step)
        for (int hop = 0; hop < ranks; ++hop) {
            relax(mine, 1);
            MPI_Request requests[2];
            MPI_Irecv(theirs.data(), n, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(mine.data(), n, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            std::swap(mine, theirs);
        }
}

// Halos travel while the rank works on what they do not touch.
void ahead(int n, int steps, int) {
    Vector x(static_cast<std::size_t>(n), 1), edge(64, 1), theirs(edge);
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int step = 0; step < steps; ++step) {
        MPI_Request requests[2];
        MPI_Irecv(theirs.data(), 64, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(edge.data(), 64, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &requests[1]);
        relax(x, 4);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

// A Fourier transform's shape: work on lines, transpose, work again, transpose back.
void transpose(int n, int steps, int) {
    const int block = std::max(1, n / ranks);
    Vector a(static_cast<std::size_t>(block) * static_cast<std::size_t>(ranks), 1), b(a);
    for (int step = 0; step < steps; ++step) {
        relax(a, 2);
        MPI_Alltoall(a.data(), block, MPI_DOUBLE, b.data(), block, MPI_DOUBLE, MPI_COMM_WORLD);
        relax(b, 2);
        MPI_Alltoall(b.data(), block, MPI_DOUBLE, a.data(), block, MPI_DOUBLE, MPI_COMM_WORLD);
    }
}

// Training in parallel: a gradient is summed up in pieces while nothing else is done, weights are sent out.
void training(int n, int steps, int) {
    Vector weights(static_cast<std::size_t>(n), 1), sums(weights);
    for (int step = 0; step < steps; ++step) {
        relax(weights, 2);
        for (int piece = 0; piece < 4; ++piece)
            MPI_Allreduce(weights.data() + piece * (n / 4), sums.data() + piece * (n / 4), n / 4, MPI_DOUBLE,
                          MPI_SUM, MPI_COMM_WORLD);
        if (step % 10 == 0) MPI_Bcast(weights.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

// A sweep: ranks wait for the one before, work, and send on; forwards and back.
void sweep(int n, int steps, int) {
    Vector x(static_cast<std::size_t>(n), 1), edge(64, 1);
    for (int step = 0; step < steps; ++step)
        for (const int way : {1, -1})
            for (int plane = 0; plane < 8; ++plane) {
                const int before = rank - way, after = rank + way;
                if (before >= 0 && before < ranks)
                    MPI_Recv(edge.data(), 64, MPI_DOUBLE, before, plane, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                relax(x, 1);
                if (after >= 0 && after < ranks)
                    MPI_Send(edge.data(), 64, MPI_DOUBLE, after, plane, MPI_COMM_WORLD);
            }
}

// A master hands out pieces to whoever comes back; uneven work.
void farm(int n, int steps, int) {
    Vector piece(static_cast<std::size_t>(n), 1);
    if (rank == 0) {
        int sent = 0;
        for (int worker = 1; worker < ranks; ++worker, ++sent)
            MPI_Send(piece.data(), n, MPI_DOUBLE, worker, sent < steps ? 1 : 0, MPI_COMM_WORLD);
        for (int returned = 0; returned < std::min(steps, std::max(sent, steps)); ++returned) {
            MPI_Status status;
            MPI_Recv(piece.data(), n, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Send(piece.data(), n, MPI_DOUBLE, status.MPI_SOURCE, sent < steps ? 1 : 0, MPI_COMM_WORLD);
            ++sent;
        }
        return;
    }
    for (int number = 0;; ++number) {
        MPI_Status status;
        MPI_Recv(piece.data(), n, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == 0) return;
        relax(piece, 1 + number % 3);
        MPI_Send(piece.data(), n, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    }
}

}  // namespace

int main(int count, char** words) {
    MPI_Init(&count, &words);
    const double start_s = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::map<std::string, std::function<void(int, int, int)>> programs{
        {"jacobi", jacobi},     {"cg", cg},       {"ring", ring}, {"transpose", transpose},
        {"training", training}, {"sweep", sweep}, {"farm", farm}, {"ahead", ahead}};
    const auto found = count > 3 ? programs.find(words[1]) : programs.end();
    if (found == programs.end()) {
        std::fprintf(stderr, "programs NAME ELEMENTS STEPS [ROWS_OF_GRID]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    found->second(std::atoi(words[2]), std::atoi(words[3]), count > 4 ? std::atoi(words[4]) : 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::printf("%.9f\n", MPI_Wtime() - start_s);
    MPI_Finalize();
}
