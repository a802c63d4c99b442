// The sweeps, written once for vectors of `lanes` doubles. Included by one file for each instruction set,
// after its `#pragma` and its definition of `lanes`; everything here is local to that file.

namespace hockney::cg {
namespace {

// How far ahead lines are fetched, in doubles: by the operator alone, and by the update of x and p with the
// operator a plane behind. Measured; the update by itself and that of several rows are slower with any.
constexpr long fetched_ahead = 512, fetched_ahead_together = 64;

typedef double Lanes __attribute__((vector_size(8 * lanes)));

inline __attribute__((always_inline)) Lanes load(const double* from) {
    Lanes value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

inline __attribute__((always_inline)) void store(double* to, const Lanes& value) {
    __builtin_memcpy(to, &value, sizeof value);
}

#ifndef HOCKNEY_CG_WHOLE_LINES
// A store that passes by the caches pays for whole lines only.
inline __attribute__((always_inline)) void stream(double* to, const Lanes& value) { store(to, value); }
inline __attribute__((always_inline)) void fence() {}
// The lanes at one place before and behind.
inline __attribute__((always_inline)) Lanes left_of(const double* at, const Lanes&, const Lanes&) {
    return load(at - 1);
}
inline __attribute__((always_inline)) Lanes right_of(const double* at, const Lanes&, const Lanes&) {
    return load(at + 1);
}
#endif

template <bool is_streaming>
inline __attribute__((always_inline)) void put(double* to, const Lanes& value) {
    if constexpr (is_streaming)
        stream(to, value);
    else
        store(to, value);
}

inline __attribute__((always_inline)) double sum(const Lanes& value) {
    double total = 0;
    for (int lane = 0; lane < lanes; ++lane) total += value[lane];
    return total;
}

// Calls `row(offset, n)` for each row of the box.
template <class Row>
inline __attribute__((always_inline)) void for_rows(const Space& space, const Cuboid& box, const Row& row) {
    if (box.is_empty()) return;
    const long x = box.from[0], n = box.to[0] - x;
    for (long z = box.from[2]; z < box.to[2]; ++z)
        for (long y = box.from[1]; y < box.to[1]; ++y) row(space.at(x, y, z), n, y, z);
}

// Likewise in blocks of rows so few that three planes of a block stay in the caches: the operator reads
// what it read a plane before.
template <class Row>
inline __attribute__((always_inline)) void for_blocked_rows(const Space& space, const Cuboid& box,
                                                            const Row& row) {
    Cuboid block = box;
    for (; block.from[1] < box.to[1]; block.from[1] = block.to[1]) {
        block.to[1] = std::min(block.from[1] + space.block_rows(), box.to[1]);
        for_rows(space, block, row);
    }
}

// How many unknowns of a row come before the first one that may pass by the caches as a whole vector.
template <bool is_streaming>
inline __attribute__((always_inline)) long before_aligned(const double* row, long n) {
    if constexpr (!is_streaming) return 0;
    const long past = static_cast<long>(reinterpret_cast<unsigned long>(row) / sizeof(double) % lanes);
    const long before = past == 0 ? 0 : lanes - past;
    return before < n ? before : n;
}

// A at one place or, with Lanes, at several next to each other; `get` reads there and elsewhere.
template <int dimensions, class T, class Get>
inline __attribute__((always_inline)) T operator_at(const Get& get, const T& left, const T& here,
                                                    const T& right, long pitch, long plane) {
    T value = (2.0 * dimensions) * here - left - right - get(-pitch) - get(pitch);
    if constexpr (dimensions == 3) value = value - get(-plane) - get(plane);
    return value;
}

// A on one row from x on, by whole vectors: calls `use(x, p, A p)` for each and returns where the rest
// begins. The line that comes next from far away is fetched early: no processor foresees it among the rows
// that are near.
template <int dimensions, class Use>
inline __attribute__((always_inline)) long operator_on_row(const double* p, long x, long n, long pitch,
                                                           long plane, const Use& use) {
    const double* far = p + (dimensions == 2 ? pitch : plane) + fetched_ahead;
    Lanes before = load(p + x - lanes), here = load(p + x);
    for (; x + lanes <= n; x += lanes) {
        __builtin_prefetch(far + x);
        const Lanes next = load(p + x + lanes);
        const auto get = [p, x](long offset) { return load(p + x + offset); };
        use(x, here,
            operator_at<dimensions, Lanes>(get, left_of(p + x, before, here), here,
                                           right_of(p + x, here, next), pitch, plane));
        before = here;
        here = next;
    }
    return x;
}

// q = A p on one row; adds p · q to the sums.
template <int dimensions, bool is_streaming>
inline __attribute__((always_inline)) void apply_row(const double* p, double* q, long n, long pitch,
                                                     long plane, Lanes& sums, double& rest) {
    const auto one = [&](long x) {
        const auto get = [p, x](long offset) { return p[x + offset]; };
        q[x] = operator_at<dimensions, double>(get, p[x - 1], p[x], p[x + 1], pitch, plane);
        rest += p[x] * q[x];
    };
    long x = 0;
    for (const long first = before_aligned<is_streaming>(q, n); x < first; ++x) one(x);
    x = operator_on_row<dimensions>(p, x, n, pitch, plane,
                                    [&](long at, const Lanes& here, const Lanes& value) {
                                        put<is_streaming>(q + at, value);
                                        sums += here * value;
                                    });
    for (; x < n; ++x) one(x);
}

template <bool is_fetching>
inline __attribute__((always_inline)) void joint_lanes(double alpha, double beta, const double* r, double* p,
                                                       double* x) {
    if constexpr (is_fetching) {
        __builtin_prefetch(r + fetched_ahead_together);
        __builtin_prefetch(p + fetched_ahead_together);
        __builtin_prefetch(x + fetched_ahead_together);
    }
    const Lanes old = load(p);
    store(x, load(x) + alpha * old);
    store(p, load(r) + beta * old);
}

inline __attribute__((always_inline)) void joint_row(double alpha, double beta, const double* r, double* p,
                                                     double* x_, long n) {
    long x = 0;
    for (; x + lanes <= n; x += lanes) joint_lanes<false>(alpha, beta, r + x, p + x, x_ + x);
    for (; x < n; ++x) {
        x_[x] += alpha * p[x];
        p[x] = r[x] + beta * p[x];
    }
}

// Calls `use` with each number below `count`, as a constant.
template <int count, class Use>
inline __attribute__((always_inline)) void for_each_number(const Use& use) {
    if constexpr (count > 0) {
        for_each_number<count - 1>(use);
        use(std::integral_constant<int, count - 1>{});
    }
}

// x and p of one row in each of `several` layers (planes; in two dimensions rows) at `here`, and q = A p of
// one in each of the layers before them at `behind`. That may need the new p at `here`, but only at the same
// place. Layers together, because the operator reads a line from a further cache once for all of them.
template <int dimensions, bool is_streaming, int several>
inline __attribute__((always_inline)) void layers_row(double alpha, double beta, const double* r, double* p,
                                                      double* x_, double* q, long here, long behind, long n,
                                                      long pitch, long plane, Lanes& sums, double& rest) {
    const long layer = dimensions == 2 ? pitch : plane;
    const double* from = p + behind;
    double* to = q + behind;
    Lanes before[several], now[several], next[several];
    for_each_number<several>([&](auto k) __attribute__((always_inline)) {
        before[k] = load(from + k * layer - lanes);
        now[k] = load(from + k * layer);
    });
    long i = 0;
    for (; i + lanes <= n; i += lanes) {
        for_each_number<several>([&](auto k) __attribute__((always_inline)) {
            const long at = here + i + k * layer;
            joint_lanes<dimensions == 3>(alpha, beta, r + at, p + at, x_ + at);
        });
        for_each_number<several>(
            [&](auto k) __attribute__((always_inline)) { next[k] = load(from + i + k * layer + lanes); });
        for_each_number<several>([&](auto k) __attribute__((always_inline)) {
            const double* at = from + i + k * layer;
            Lanes value =
                (2.0 * dimensions) * now[k] - left_of(at, before[k], now[k]) - right_of(at, now[k], next[k]);
            if constexpr (dimensions == 3) value = value - load(at - pitch) - load(at + pitch);
            if constexpr (k == 0)
                value = value - load(at - layer);
            else
                value = value - now[k - 1];
            if constexpr (k == several - 1)
                value = value - load(at + layer);
            else
                value = value - now[k + 1];
            put<is_streaming>(to + i + k * layer, value);
            sums += now[k] * value;
        });
        for_each_number<several>([&](auto k) __attribute__((always_inline)) {
            before[k] = now[k];
            now[k] = next[k];
        });
    }
    for (int k = 0; k < several; ++k) {
        const long rest_here = here + i + k * layer;
        joint_row(alpha, beta, r + rest_here, p + rest_here, x_ + rest_here, n - i);
    }
    for (int k = 0; k < several; ++k)
        apply_row<dimensions, false>(from + i + k * layer, to + i + k * layer, n - i, pitch, plane, sums,
                                     rest);
}

}  // namespace
}  // namespace hockney::cg
