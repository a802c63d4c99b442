#include "rows.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HOCKNEY_X86
#endif

namespace hockney {
namespace {

template <long planes>
void portable(double* to, const double* from, const double*, long pitch, long plane, long cells) {
    for (long z = 0; z < planes; ++z)
        for (long x = 0; x < cells; ++x) to[z * plane + x] = mean(from + z * plane + x, pitch, plane);
}

void portable_copy(double* to, const double* from, long lines) {
    for (long n = 0; n < 8 * lines; ++n) to[n] = from[n];
}

#ifdef HOCKNEY_X86

// Memory is asked for by hand: the processor's own prefetchers do not follow as many streams.
template <long planes, long rows>
[[gnu::always_inline]] inline void ask_for(const double* next, long pitch, long plane) {
#pragma GCC unroll 8
    for (long z = 0; z < planes; ++z)
#pragma GCC unroll 8
        for (long y = 0; y < rows; ++y)
            _mm_prefetch(reinterpret_cast<const char*>(next + z * plane + y * pitch), _MM_HINT_T1);
}

[[gnu::target("avx512f"), gnu::always_inline]] inline __m512d sixth_of(__m512d west, __m512d east,
                                                                       __m512d south, __m512d north,
                                                                       __m512d below, __m512d above,
                                                                       __m512d centre, __mmask8 inside) {
    const __m512d across = _mm512_add_pd(_mm512_add_pd(west, east), _mm512_add_pd(south, north));
    return _mm512_mask_mul_pd(centre, inside, _mm512_set1_pd(1.0 / 6.0),
                              _mm512_add_pd(across, _mm512_add_pd(below, above)));
}

template <bool is_non_temporal>
[[gnu::target("avx512f"), gnu::always_inline]] inline void store(double* to, __m512d value) {
    if (is_non_temporal)
        _mm512_stream_pd(to, value);
    else
        _mm512_store_pd(to, value);
}

// One row of each plane: a line stays in registers for the lines before and behind it, because a load that
// crosses two lines costs as much as two.
template <long planes, bool is_non_temporal>
[[gnu::target("avx512f")]] void avx512(double* to, const double* from, const double* next, long pitch,
                                       long plane, long cells) {
    __m512i before[planes], here[planes], behind[planes];
#pragma GCC unroll 8
    for (long z = 0; z < planes; ++z) {
        before[z] = _mm512_load_si512(from + z * plane - 8);
        here[z] = _mm512_load_si512(from + z * plane);
    }
    for (long x = 0; x < cells; x += 8) {
        const __mmask8 inside = static_cast<__mmask8>(x + 8 <= cells ? 0xff : (1 << (cells - x)) - 1);
        ask_for<planes, 1>(next + x, pitch, plane);
        __m512d centre[planes + 2];
        centre[0] = _mm512_load_pd(from + x - plane);
        centre[planes + 1] = _mm512_load_pd(from + x + planes * plane);
#pragma GCC unroll 8
        for (long z = 0; z < planes; ++z) {
            behind[z] = _mm512_load_si512(from + x + z * plane + 8);
            centre[z + 1] = _mm512_castsi512_pd(here[z]);
        }
#pragma GCC unroll 8
        for (long z = 0; z < planes; ++z) {
            const double* at = from + x + z * plane;
            const __m512d west = _mm512_castsi512_pd(_mm512_maskz_alignr_epi64(0xff, here[z], before[z], 7));
            const __m512d east = _mm512_castsi512_pd(_mm512_maskz_alignr_epi64(0xff, behind[z], here[z], 1));
            store<is_non_temporal>(to + x + z * plane, sixth_of(west, east, _mm512_load_pd(at - pitch),
                                                                _mm512_load_pd(at + pitch), centre[z],
                                                                centre[z + 2], centre[z + 1], inside));
        }
#pragma GCC unroll 8
        for (long z = 0; z < planes; ++z) {
            before[z] = here[z];
            here[z] = behind[z];
        }
    }
}

// Several rows of each plane, all of their lines loaded at once: most are not in the first cache.
template <long planes, long rows, bool is_non_temporal>
[[gnu::target("avx512f")]] void avx512_tall(double* to, const double* from, const double* next, long pitch,
                                            long plane, long cells) {
    for (long x = 0; x < cells; x += 8) {
        const __mmask8 inside = static_cast<__mmask8>(x + 8 <= cells ? 0xff : (1 << (cells - x)) - 1);
        ask_for<planes, rows>(next + x, pitch, plane);
        __m512d centre[planes + 2][rows + 2];
#pragma GCC unroll 8
        for (long z = 0; z < planes + 2; ++z)
#pragma GCC unroll 8
            for (long y = 0; y < rows + 2; ++y) {
                const bool is_corner = (z == 0 || z == planes + 1) && (y == 0 || y == rows + 1);
                centre[z][y] = is_corner ? _mm512_setzero_pd()
                                         : _mm512_load_pd(from + x + (z - 1) * plane + (y - 1) * pitch);
            }
#pragma GCC unroll 8
        for (long z = 0; z < planes; ++z)
#pragma GCC unroll 8
            for (long y = 0; y < rows; ++y) {
                const double* at = from + x + z * plane + y * pitch;
                store<is_non_temporal>(to + x + z * plane + y * pitch,
                                       sixth_of(_mm512_loadu_pd(at - 1), _mm512_loadu_pd(at + 1),
                                                centre[z + 1][y], centre[z + 1][y + 2], centre[z][y + 1],
                                                centre[z + 2][y + 1], centre[z + 1][y + 1], inside));
            }
    }
}

template <bool is_non_temporal>
[[gnu::target("avx512f")]] void avx512_copy(double* to, const double* from, long lines) {
    for (long n = 0; n < 8 * lines; n += 8) {
        if (is_non_temporal)
            _mm512_stream_pd(to + n, _mm512_load_pd(from + n));
        else
            _mm512_store_pd(to + n, _mm512_load_pd(from + n));
    }
}

template <long planes, bool is_non_temporal>
[[gnu::target("avx2"), gnu::always_inline]] inline void four(double* to, const double* from, long pitch,
                                                             long plane, __m256d inside) {
    __m256d centre[planes + 2];
#pragma GCC unroll 8
    for (long z = 0; z < planes + 2; ++z) centre[z] = _mm256_load_pd(from + (z - 1) * plane);
#pragma GCC unroll 8
    for (long z = 0; z < planes; ++z) {
        const double* at = from + z * plane;
        const __m256d along_x = _mm256_add_pd(_mm256_loadu_pd(at - 1), _mm256_loadu_pd(at + 1));
        const __m256d along_y = _mm256_add_pd(_mm256_load_pd(at - pitch), _mm256_load_pd(at + pitch));
        const __m256d along_z = _mm256_add_pd(centre[z], centre[z + 2]);
        const __m256d sum = _mm256_add_pd(_mm256_add_pd(along_x, along_y), along_z);
        const __m256d value =
            _mm256_blendv_pd(centre[z + 1], _mm256_mul_pd(_mm256_set1_pd(1.0 / 6.0), sum), inside);
        if (is_non_temporal)
            _mm256_stream_pd(to + z * plane, value);
        else
            _mm256_store_pd(to + z * plane, value);
    }
}

template <long planes, bool is_non_temporal>
[[gnu::target("avx2")]] void avx2(double* to, const double* from, const double* next, long pitch, long plane,
                                  long cells) {
    const __m256d number = _mm256_setr_pd(0, 1, 2, 3), every = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
    for (long x = 0; x < cells; x += 8) {
        ask_for<planes, 1>(next + x, pitch, plane);
        if (x + 8 <= cells) {
            four<planes, is_non_temporal>(to + x, from + x, pitch, plane, every);
            four<planes, is_non_temporal>(to + x + 4, from + x + 4, pitch, plane, every);
            continue;
        }
        for (const long half : {0L, 4L}) {
            const __m256d left = _mm256_set1_pd(static_cast<double>(cells - x - half));
            four<planes, is_non_temporal>(to + x + half, from + x + half, pitch, plane,
                                          _mm256_cmp_pd(number, left, _CMP_LT_OQ));
        }
    }
}

template <bool is_non_temporal>
[[gnu::target("avx2")]] void avx2_copy(double* to, const double* from, long lines) {
    for (long n = 0; n < 8 * lines; n += 4) {
        if (is_non_temporal)
            _mm256_stream_pd(to + n, _mm256_load_pd(from + n));
        else
            _mm256_store_pd(to + n, _mm256_load_pd(from + n));
    }
}

void fence() { _mm_sfence(); }
bool has_avx512() { return __builtin_cpu_supports("avx512f") != 0; }
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }

#endif

void nothing() {}
bool always() { return true; }

const Rows all[] = {
#ifdef HOCKNEY_X86
    {"avx512",
     has_avx512,
     {avx512<1, false>, avx512<planes_together, false>, avx512_tall<planes_together, rows_together, false>,
      avx512_copy<false>},
     {avx512<1, true>, avx512<planes_together, true>, avx512_tall<planes_together, rows_together, true>,
      avx512_copy<true>},
     fence},
    {"avx2",
     has_avx2,
     {avx2<1, false>, avx2<planes_together, false>, nullptr, avx2_copy<false>},
     {avx2<1, true>, avx2<planes_together, true>, nullptr, avx2_copy<true>},
     fence},
#endif
    {"portable", always, {portable<1>, portable<planes_together>, nullptr, portable_copy}, {}, nothing},
};

}  // namespace

void read_lines(const double* from, long lines) {
    volatile double seen = 0;
    for (long n = 0; n < 8 * lines; n += 8) seen = from[n];
    static_cast<void>(seen);
}

std::vector<Rows> rows_here() {
    std::vector<Rows> here;
    for (const Rows& rows : all)
        if (rows.is_there()) here.push_back(rows);
    return here;
}

}  // namespace hockney
