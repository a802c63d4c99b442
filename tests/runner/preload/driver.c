/* Calls every collective on 1, 2, … ranks, with many datatypes, operators and roots, in place and not, and checks
   each result against what the inputs, which each rank can compute of all others, must give. Knows of no layer.
   Exit code 1 and a line for each kind of wrong result. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LARGE /* the same calls with counts that may be larger */
typedef MPI_Count Number;
#define MPI_Bcast MPI_Bcast_c
#define MPI_Scatter MPI_Scatter_c
#define MPI_Gather MPI_Gather_c
#define MPI_Allgather MPI_Allgather_c
#define MPI_Alltoall MPI_Alltoall_c
#define MPI_Reduce MPI_Reduce_c
#define MPI_Allreduce MPI_Allreduce_c
#define MPI_Reduce_scatter MPI_Reduce_scatter_c
#define MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c
#else
typedef int Number;
#endif

enum { GAP = -77, MOST_SLOTS = 3 };

/* A datatype made of ints: where those of one element lie, in the order in which they are sent. */
typedef struct {
    const char* name;
    MPI_Datatype type;
    int slots, offset[MOST_SLOTS], extent;
} Layout;

static int wrong = 0, checked = 0;
static Layout layouts[5];

static void expect(int is_right, const char* what, const char* how, int ranks, int root, int count) {
    ++checked;
    if (is_right) return;
    if (++wrong <= 5) printf("wrong: %s %s, %d ranks, root %d, count %d\n", what, how, ranks, root, count);
}

static int value(int rank, int index, int salt) { return (rank * 7919 + index * 31 + salt * 131) % 100003; }

/* Element and slot of the index-th int in an array of elements. */
static int place(const Layout* layout, int index) {
    return index / layout->slots * layout->extent + layout->offset[index % layout->slots];
}

static int* room(const Layout* layout, int elements) {
    int size = elements * layout->extent + 8;
    int* made = malloc(sizeof(int) * (size_t)size);
    for (int i = 0; i < size; ++i) made[i] = GAP;
    return made;
}

static int gaps_are_whole(const Layout* layout, const int* at, int elements) {
    char* used = calloc((size_t)(elements * layout->extent + 8), 1);
    int whole = 1;
    for (int i = 0; i < elements * layout->slots; ++i) used[place(layout, i)] = 1;
    for (int i = 0; i < elements * layout->extent + 8; ++i) whole &= used[i] || at[i] == GAP;
    free(used);
    return whole;
}

static void make_layouts(void) {
    MPI_Datatype type, wide;
    int lengths[2] = {1, 1}, swapped[2] = {1, 0}, late[1] = {1};
    layouts[0] = (Layout){"int", MPI_INT, 1, {0}, 1};
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_commit(&type);
    layouts[1] = (Layout){"contiguous", type, 3, {0, 1, 2}, 3};
    MPI_Type_vector(2, 1, 2, MPI_INT, &wide);
    MPI_Type_create_resized(wide, 0, 4 * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&wide);
    layouts[2] = (Layout){"vector", type, 2, {0, 2}, 4};
    /* As large as what it holds, and in another order. */
    MPI_Type_indexed(2, lengths, swapped, MPI_INT, &type);
    MPI_Type_commit(&type);
    layouts[3] = (Layout){"swapped", type, 2, {1, 0}, 2};
    MPI_Type_indexed(1, lengths, late, MPI_INT, &wide);
    MPI_Type_create_resized(wide, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&wide);
    layouts[4] = (Layout){"late", type, 1, {1}, 2};
}

static void free_layouts(void) {
    for (int i = 1; i < 5; ++i) MPI_Type_free(&layouts[i].type);
}

/* `ints` ints to or from each rank; layouts of those who send and of those who receive. */
static void moving(MPI_Comm comm, int ints, const Layout* from, const Layout* into, int root, int salt) {
    int rank, ranks;
    char how[64];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    snprintf(how, sizeof how, "%s to %s", from->name, into->name);
    int count = ints / from->slots, into_count = ints / into->slots;
    for (int in_place = 0; in_place < 2; ++in_place) {
        int *sent = room(from, count * ranks), *got = room(into, into_count * ranks), right;
        if (!in_place) {
            const Layout* mine = rank == root ? from : into;
            int* both = room(mine, ints / mine->slots);
            if (rank == root)
                for (int i = 0; i < ints; ++i) both[place(mine, i)] = value(root, i, salt);
            MPI_Bcast(both, ints / mine->slots, mine->type, root, comm);
            right = gaps_are_whole(mine, both, ints / mine->slots);
            for (int i = 0; i < ints; ++i) right &= both[place(mine, i)] == value(root, i, salt);
            expect(right, "bcast", how, ranks, root, ints);
            free(both);
        }
        for (int i = 0; i < ints * ranks; ++i) sent[place(from, i)] = value(rank, i, salt);
        int at_root_in_place = in_place && rank == root;
        MPI_Scatter(sent, count, from->type, at_root_in_place ? MPI_IN_PLACE : got, into_count, into->type, root, comm);
        right = gaps_are_whole(into, got, into_count * ranks);
        for (int i = 0; i < ints && !at_root_in_place; ++i)
            right &= got[place(into, i)] == value(root, rank * ints + i, salt);
        expect(right, "scatter", how, ranks, root, ints);

        free(got);
        got = room(into, into_count * ranks);
        if (at_root_in_place)
            for (int i = 0; i < ints; ++i) got[place(into, rank * ints + i)] = value(rank, i, salt);
        MPI_Gather(at_root_in_place ? MPI_IN_PLACE : sent, count, from->type, got, into_count, into->type, root, comm);
        right = gaps_are_whole(into, got, into_count * ranks);
        for (int i = 0; i < ints * ranks && rank == root; ++i)
            right &= got[place(into, i)] == value(i / ints, i % ints, salt);
        expect(right, "gather", how, ranks, root, ints);

        free(got);
        got = room(into, into_count * ranks);
        if (in_place)
            for (int i = 0; i < ints; ++i) got[place(into, rank * ints + i)] = value(rank, i, salt);
        MPI_Allgather(in_place ? MPI_IN_PLACE : sent, count, from->type, got, into_count, into->type, comm);
        right = gaps_are_whole(into, got, into_count * ranks);
        for (int i = 0; i < ints * ranks; ++i) right &= got[place(into, i)] == value(i / ints, i % ints, salt);
        expect(right, "allgather", how, ranks, root, ints);

        free(got);
        got = room(into, into_count * ranks);
        if (in_place)
            for (int i = 0; i < ints * ranks; ++i) got[place(into, i)] = value(rank, i, salt);
        MPI_Alltoall(in_place ? MPI_IN_PLACE : sent, count, from->type, got, into_count, into->type, comm);
        right = gaps_are_whole(into, got, into_count * ranks);
        for (int i = 0; i < ints * ranks; ++i)
            right &= got[place(into, i)] == value(i / ints, rank * ints + i % ints, salt);
        expect(right, "alltoall", how, ranks, root, ints);
        /* What is sent is only read. */
        right = gaps_are_whole(from, sent, count * ranks);
        for (int i = 0; i < ints * ranks; ++i) right &= sent[place(from, i)] == value(rank, i, salt);
        expect(right, "input", how, ranks, root, ints);
        free(sent);
        free(got);
    }
}

/* x → a·x + b modulo a prime, one after the other: associative, and not commutative. */
enum { PRIME = 10007 };
static void compose(const int* first, int* both) {
    int a = first[0] * both[0] % PRIME, b = (first[1] * both[0] + both[1]) % PRIME;
    both[0] = a;
    both[1] = b;
}
static void user_compose(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) compose((int*)in + 2 * i, (int*)inout + 2 * i);
}
static void user_add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) ((int*)inout)[i] = (((int*)in)[i] + ((int*)inout)[i]) % PRIME;
}
/* Of elements of three ints, the middle one a gap. */
static void user_gaps(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i)
        for (int k = 0; k < 3; k += 2) ((int*)inout)[3 * i + k] += ((int*)in)[3 * i + k];
}

typedef struct {
    const char* name;
    MPI_Op op;
    MPI_Datatype type;
    int kind, slots; /* ints of an element */
} Reduction;

static void fold(const Reduction* how, const int* first, int* both) {
    switch (how->kind) {
        case 0: both[0] = first[0] + both[0]; break;
        case 1: both[0] = first[0] > both[0] ? first[0] : both[0]; break;
        case 2: both[0] = first[0] ^ both[0]; break;
        case 3: both[0] = (first[0] + both[0]) % PRIME; break;
        case 4: compose(first, both); break;
        case 5: both[0] += first[0], both[2] += first[2]; break;
        case 6: { /* the largest, and the lowest rank that has it */
            int is_first = first[0] > both[0] || (first[0] == both[0] && first[1] < both[1]);
            if (is_first) memcpy(both, first, 2 * sizeof(int));
            break;
        }
    }
}

static void contribution(const Reduction* how, int rank, int element, int salt, int* out) {
    for (int k = 0; k < how->slots; ++k) out[k] = value(rank, element * how->slots + k, salt) % PRIME;
    if (how->kind == 5) out[1] = GAP;
    if (how->kind == 6) out[0] %= 3, out[1] = rank;
}

static void expected(const Reduction* how, int ranks, int element, int salt, int* out) {
    int next[MOST_SLOTS];
    contribution(how, 0, element, salt, out);
    for (int rank = 1; rank < ranks; ++rank) {
        contribution(how, rank, element, salt, next);
        int held[MOST_SLOTS];
        memcpy(held, out, sizeof held);
        memcpy(out, next, sizeof held);
        fold(how, held, out);
    }
}

static int holds(const Reduction* how, const int* got, int ranks, int first, int count, int salt) {
    int right = 1, want[MOST_SLOTS];
    for (int e = 0; e < count; ++e) {
        expected(how, ranks, first + e, salt, want);
        for (int k = 0; k < how->slots; ++k) right &= got[e * how->slots + k] == want[k];
    }
    return right;
}

static void reducing(MPI_Comm comm, const Reduction* how, int count, int root, int salt) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    size_t size = sizeof(int) * (size_t)(count * ranks * how->slots);
    int *input = malloc(size), *sent = malloc(size), *got = malloc(size);
    Number* counts = malloc(sizeof(Number) * (size_t)ranks);
    for (int e = 0; e < count * ranks; ++e) contribution(how, rank, e, salt, input + e * how->slots);
    memcpy(sent, input, size);
    for (int i = 0; i < ranks; ++i) counts[i] = count;
    for (int in_place = 0; in_place < 2; ++in_place) {
        memcpy(got, input, size);
        const void* from = in_place && rank == root ? MPI_IN_PLACE : sent;
        MPI_Reduce(from, rank == root ? got : NULL, count, how->type, how->op, root, comm);
        expect(rank != root || holds(how, got, ranks, 0, count, salt), "reduce", how->name, ranks, root, count);
        from = in_place ? MPI_IN_PLACE : sent;
        memcpy(got, input, size);
        MPI_Allreduce(from, got, count, how->type, how->op, comm);
        expect(holds(how, got, ranks, 0, count, salt), "allreduce", how->name, ranks, root, count);
        memcpy(got, input, size);
        MPI_Reduce_scatter_block(from, got, count, how->type, how->op, comm);
        expect(holds(how, got, ranks, rank * count, count, salt), "reduce_scatter_block", how->name, ranks, root,
               count);
        memcpy(got, input, size);
        MPI_Reduce_scatter(from, got, counts, how->type, how->op, comm);
        expect(holds(how, got, ranks, rank * count, count, salt), "reduce_scatter", how->name, ranks, root, count);
    }
    expect(memcmp(sent, input, size) == 0, "input of reductions", how->name, ranks, root, count);
    if (ranks > 1 && count > 1) { /* blocks of different sizes */
        counts[0] = count - 1;
        counts[1] = count + 1;
        int first = rank == 0 ? 0 : rank == 1 ? count - 1 : rank * count;
        int* more = malloc(size + sizeof(int) * MOST_SLOTS);
        memset(more, 0, size + sizeof(int) * MOST_SLOTS);
        for (int i = 1; how->kind == 5 && i < counts[rank] * 3; i += 3) more[i] = GAP;
        MPI_Reduce_scatter(sent, more, counts, how->type, how->op, comm);
        expect(holds(how, more, ranks, first, counts[rank], salt), "irregular reduce_scatter", how->name, ranks, root,
               (int)counts[rank]);
        free(more);
    }
    free(input), free(sent), free(got), free(counts);
}

/* Doubles add up exactly: whole numbers. */
static void doubles(MPI_Comm comm, int count) {
    int rank, ranks, right = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    double* all = malloc(sizeof(double) * (size_t)count);
    for (int i = 0; i < count; ++i) all[i] = rank + i;
    MPI_Allreduce(MPI_IN_PLACE, all, count, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < count; ++i) right &= all[i] == (double)ranks * i + ranks * (ranks - 1) / 2.0;
    expect(right, "allreduce", "double", ranks, 0, count);
    free(all);
}

/* Sixteen bytes of which four are a gap: the largest value, and the lowest rank that has it. */
static void places(MPI_Comm comm, int count) {
    struct {
        double value;
        int rank, gap;
    } *all = malloc(sizeof *all * (size_t)(count + 1)), *sent = malloc(sizeof *sent * (size_t)(count + 1));
    int rank, ranks, right = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int in_place = 0; in_place < 2; ++in_place) {
        for (int i = 0; i < count; ++i) {
            sent[i].value = all[i].value = (rank + i) % ranks == 0 ? 0.5 + i : -1.0;
            sent[i].rank = all[i].rank = rank;
            sent[i].gap = all[i].gap = GAP;
        }
        MPI_Allreduce(in_place ? MPI_IN_PLACE : sent, all, count, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
        for (int i = 0; i < count; ++i)
            right &= all[i].value == 0.5 + i && (all[i].rank + i) % ranks == 0 && all[i].gap == GAP;
        expect(right, "allreduce", "double and int", ranks, 0, count);
    }
    free(all), free(sent);
}

/* Data at absolute addresses: every second int of those of each rank. */
static void absolute(MPI_Comm comm) {
    int rank, ranks, right = 1, *all = malloc(sizeof(int) * 40), *into = malloc(sizeof(int) * 40);
    MPI_Datatype far[2];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int k = 0; k < 2; ++k) {
        MPI_Aint places[20];
        for (int i = 0; i < 20; ++i) MPI_Get_address((k == 0 ? all : into) + 2 * i, &places[i]);
        MPI_Type_create_hindexed_block(20, 1, places, MPI_INT, &far[k]);
        MPI_Type_commit(&far[k]);
    }
    for (int i = 0; i < 40; ++i) all[i] = value(rank, i, 7), into[i] = GAP;
    MPI_Bcast(MPI_BOTTOM, 1, far[0], ranks - 1, comm);
    for (int i = 0; i < 40; ++i) right &= all[i] == value(i % 2 == 0 ? ranks - 1 : rank, i, 7);
    expect(right, "bcast", "absolute addresses", ranks, ranks - 1, 20);
    int* sent = malloc(sizeof(int) * 20 * (size_t)ranks);
    for (int i = 0; i < 20 * ranks; ++i) sent[i] = value(rank, i, 8);
    MPI_Scatter(sent, 20, MPI_INT, MPI_BOTTOM, 1, far[1], 0, comm);
    right = 1;
    for (int i = 0; i < 40; ++i) right &= into[i] == (i % 2 == 0 ? value(0, 20 * rank + i / 2, 8) : GAP);
    expect(right, "scatter", "absolute addresses", ranks, 0, 20);
    for (int k = 0; k < 2; ++k) MPI_Type_free(&far[k]);
    free(all), free(into), free(sent);
}

/* The program's own messages, begun before and ended after, with any tag from anyone. */
static void crossing(MPI_Comm comm, int salt) {
    int rank, ranks, got = -1, number = 5, sum = 0;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int mine = value(rank, 0, salt), next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
    MPI_Iallreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
    MPI_Barrier(comm);
    doubles(comm, 100);
    MPI_Isend(&mine, 1, MPI_INT, next, 0, comm, &requests[2]);
    doubles(comm, 3);
    MPI_Waitall(3, requests, statuses);
    expect(got == value(before, 0, salt) && sum == 5 * ranks, "crossing messages", "", ranks, 0, 1);
}

static void between_groups(MPI_Comm comm) {
    int rank, ranks, code, number;
    MPI_Comm local, inter;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (ranks < 2) return;
    int side = rank % 2;
    MPI_Comm_split(comm, side, rank, &local);
    MPI_Intercomm_create(local, 0, comm, 1 - side, 12, &inter);
    number = side == 0 && rank == 0 ? 4711 : -1;
    code = MPI_Bcast(&number, 1, MPI_INT, side == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    expect(code == MPI_SUCCESS && (side == 0 || number == 4711), "intercommunicator", "bcast", ranks, 0, 1);
    int sum = 0, one = 1, others = side == 0 ? ranks / 2 : (ranks + 1) / 2;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    expect(sum == others, "intercommunicator", "allreduce", ranks, 0, 1);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

/* Wrong arguments end as errors, as without a layer. */
static void mistakes(MPI_Comm comm) {
    int ranks, number = 0;
    MPI_Comm own;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_dup(comm, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    expect(MPI_Bcast(&number, 1, MPI_INT, ranks, own) != MPI_SUCCESS, "mistake", "root", ranks, 0, 1);
    expect(MPI_Bcast(&number, -1, MPI_INT, 0, own) != MPI_SUCCESS, "mistake", "count", ranks, 0, 1);
    expect(MPI_Bcast(&number, 1, MPI_DATATYPE_NULL, 0, own) != MPI_SUCCESS, "mistake", "type",
           ranks, 0, 1);
    expect(MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_FLOAT, MPI_BAND, own) != MPI_SUCCESS, "mistake", "operator",
           ranks, 0, 1);
    MPI_Comm_free(&own);
}

static int copies = 0, deletions = 0;
static int copied(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    ++copies;
    *flag = 0;
    return MPI_SUCCESS;
}
static int deleted(MPI_Comm comm, int key, void* value_, void* extra) {
    (void)comm, (void)key, (void)value_, (void)extra;
    ++deletions;
    return MPI_SUCCESS;
}

/* What the program attached to its communicators is copied when the program does, and not otherwise. */
static void attributes(MPI_Comm comm) {
    int key, ranks;
    MPI_Comm own, twin;
    MPI_Comm_size(comm, &ranks);
    copies = deletions = 0;
    MPI_Comm_create_keyval(copied, deleted, &key, NULL);
    MPI_Comm_dup(comm, &own);
    MPI_Comm_set_attr(own, key, NULL);
    doubles(own, 10);
    expect(copies == 0, "attribute", "copied", ranks, 0, 0);
    MPI_Comm_dup(own, &twin);
    doubles(twin, 10);
    MPI_Comm_free(&own);
    doubles(twin, 10);
    MPI_Comm_free(&twin);
    expect(copies == 1 && deletions == 1, "attribute", "copied once", ranks, 0, 0);
    MPI_Comm_free_keyval(&key);
}

/* More sizes than anybody keeps something of. */
static void many_sizes(MPI_Comm comm) {
    int rank, ranks, right = 1;
    char all[900];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int size = 1; size < 900; ++size) {
        memset(all, rank == size % ranks ? size % 120 : -1, sizeof all);
        MPI_Bcast(all, size, MPI_CHAR, size % ranks, comm);
        for (int i = 0; i < size; ++i) right &= all[i] == size % 120;
    }
    expect(right, "bcast", "many sizes", ranks, 0, 0);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, all, rounds = argc > 1 ? atoi(argv[1]) : 1, salt = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    make_layouts();
    MPI_Op composing, adding, with_gaps;
    MPI_Datatype pair, gapped, wide;
    MPI_Op_create(user_compose, 0, &composing);
    MPI_Op_create(user_add, 1, &adding);
    MPI_Op_create(user_gaps, 1, &with_gaps);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_vector(2, 1, 2, MPI_INT, &wide);
    MPI_Type_create_resized(wide, 0, 3 * sizeof(int), &gapped);
    MPI_Type_commit(&gapped);
    MPI_Type_free(&wide);
    const Reduction reductions[] = {
        {"sum", MPI_SUM, MPI_INT, 0, 1},        {"max", MPI_MAX, MPI_INT, 1, 1},
        {"bxor", MPI_BXOR, MPI_INT, 2, 1},      {"user's", adding, MPI_INT, 3, 1},
        {"not commutative", composing, pair, 4, 2}, {"with gaps", with_gaps, gapped, 5, 3},
        {"maxloc", MPI_MAXLOC, MPI_2INT, 6, 2},
    };
    const int counts[] = {0, 6, 30, 3000};
    for (int ranks = 1; ranks <= all; ++ranks) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm);
        if (comm == MPI_COMM_NULL) continue;
        salt = 1000 * ranks;
        for (int round = 0; round < rounds; ++round)
            for (int i = 0; i < 4; ++i) {
                /* Two roots of one size; a long vector goes to one. */
                for (int more = 0; more < (counts[i] > 100 ? 1 : 2); ++more) {
                    int root = (round + i + more) % ranks;
                    for (int k = 0; k < 5; ++k)
                        moving(comm, counts[i], &layouts[k], &layouts[(k + i + round) % 5], root, ++salt);
                    for (int how = 0; how < 7; ++how) reducing(comm, &reductions[how], counts[i], root, ++salt);
                }
                doubles(comm, counts[i]);
                places(comm, counts[i]);
                MPI_Barrier(comm);
            }
        absolute(comm);
        crossing(comm, ++salt);
        between_groups(comm);
        mistakes(comm);
        attributes(comm);
        if (ranks == all) many_sizes(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Op_free(&composing);
    MPI_Op_free(&adding);
    MPI_Op_free(&with_gaps);
    MPI_Type_free(&pair);
    MPI_Type_free(&gapped);
    free_layouts();
    int total = 0;
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d checks on rank 0, %d wrong on all\n", checked, total);
    MPI_Finalize();
    return total == 0 ? 0 : 1;
}
