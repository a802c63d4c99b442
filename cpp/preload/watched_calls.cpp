// Calls that are watched for a profile, and otherwise passed on at once.
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

#include "begun.hpp"
#include "channel.hpp"
#include "layer.hpp"
#include "library.hpp"
#include "noted.hpp"
#include "noted_groups.hpp"
#include "trace.hpp"
#include "watch.hpp"

namespace hockney {
namespace {

// An argument in a register, or where one has its place on the stack: MPI has no others. What the caller gave
// none of is nobody's, and is passed on as it is.
using Word = std::uintptr_t;
#define HOCKNEY_WORDS_8 Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h
#define HOCKNEY_WORDS_16 HOCKNEY_WORDS_8, Word i, Word j, Word k, Word l, Word m, Word n, Word o, Word p
#define HOCKNEY_VALUES_8 a, b, c, d, e, f, g, h
#define HOCKNEY_VALUES_16 HOCKNEY_VALUES_8, i, j, k, l, m, n, o, p
using Passed8 = int (*)(HOCKNEY_WORDS_8);
using Passed16 = int (*)(HOCKNEY_WORDS_16);

template <class Argument>
Argument argument_of(Word word) {
    if constexpr (std::is_pointer_v<Argument>)
        return reinterpret_cast<Argument>(word);
    else
        return static_cast<Argument>(word);
}

bool is_watched(const void* returns_to) {
    if (!is_active.load(std::memory_order_relaxed) || !settings().is_watching) return false;
    return library::origin_of(call_site = returns_to) != library::Origin::library;
}

Watched& watched_by(const Noted& noted) {
    static Watched& of_none = Watched::of(MPI_COMM_NULL);
    return noted.channel != nullptr ? noted.channel->watched() : of_none;
}

template <class Shape, class... Arguments, std::size_t... I>
int watch(const char* operation, const char* name, int (*own)(Arguments...), const Word* words,
          std::index_sequence<I...>) {
    std::tuple<Arguments...> arguments(argument_of<Arguments>(words[I])...);
    return std::apply(
        [&](auto&... each) {
            trace::Visit visit(name, library::program_site(call_site));
            // May give the call a status of the trace's own.
            Shape noted(visit, each...);
            Watched* const watched = *operation != 0 ? &watched_by(noted) : nullptr;
            visit.enter();
            const int code = own(each...);
            visit.leave();
            if (watched != nullptr) noted.count(*watched, operation, visit, code);
            if (visit.is_traced()) Noted::write(noted, visit, code);
            return code;
        },
        arguments);
}
template <class Shape, class... Arguments>
int watch(const char* operation, const char* name, int (*own)(Arguments...), const Word* words) {
    return watch<Shape>(operation, name, own, words, std::index_sequence_for<Arguments...>());
}

// What is no message, by its name alone.
template <class Own>
int pass_on(const char* name, Own own) {
    trace::Visit visit(name, library::program_site(call_site));
    visit.enter();
    const int code = own();
    visit.leave();
    if (std::strncmp(name, "MPI_Comm_spawn", std::strlen("MPI_Comm_spawn")) == 0) note_begun(by_mpi);
    if (visit.is_traced()) Noted::write_other(visit);
    return code;
}

}  // namespace

#define HOCKNEY_EXPORT extern "C" __attribute__((visibility("default")))
// By both names, whichever was called.
#define HOCKNEY_PASS_OR(name, words, ...)                                                 \
    HOCKNEY_EXPORT int exported_##name(HOCKNEY_WORDS_##words) __asm__("MPI_" #name);      \
    HOCKNEY_EXPORT int exported_##name(HOCKNEY_WORDS_##words) {                           \
        const auto own = reinterpret_cast<Passed##words>(library::name);                  \
        if (!is_watched(__builtin_return_address(0))) return own(HOCKNEY_VALUES_##words); \
        __VA_ARGS__                                                                       \
    }                                                                                     \
    HOCKNEY_EXPORT int profiling_##name(HOCKNEY_WORDS_##words) __asm__("PMPI_" #name)     \
        __attribute__((alias("MPI_" #name)));
#define HOCKNEY_WATCH(name, words, operation, ...)                                           \
    HOCKNEY_PASS_OR(                                                                         \
        name, words, const Word all[] = {HOCKNEY_VALUES_##words}; return watch<__VA_ARGS__>( \
            operation, "MPI_" #name, reinterpret_cast<decltype(&PMPI_##name)>(library::name), all);)
#define HOCKNEY_NAME(name) \
    HOCKNEY_PASS_OR(name, 16, return pass_on("MPI_" #name, [&] { return own(HOCKNEY_VALUES_16); });)
HOCKNEY_NAMED(HOCKNEY_NAME)
HOCKNEY_SIZED_NAMED(HOCKNEY_NAME)
HOCKNEY_SIZED_WATCHED(HOCKNEY_WATCH)
HOCKNEY_UNSIZED_WATCHED(HOCKNEY_WATCH)
#if MPI_VERSION >= 4
#define HOCKNEY_WATCH_LARGE(name, ...) HOCKNEY_WATCH(name##_c, __VA_ARGS__)
HOCKNEY_SIZED_WATCHED(HOCKNEY_WATCH_LARGE)
#define HOCKNEY_NAME_LARGE(name) HOCKNEY_NAME(name##_c)
HOCKNEY_SIZED_NAMED(HOCKNEY_NAME_LARGE)
#endif

}  // namespace hockney
