/* Counts what the layer allocates, and the bytes that it holds: its calls of malloc and free are this program's. */
#define _GNU_SOURCE
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void __libc_free(void*);

static uintptr_t first_of_layer = 0, end_of_layer = 0;
static long allocations = 0, held_B = 0;

static int is_layers(const void* caller) {
    return (uintptr_t)caller >= first_of_layer && (uintptr_t)caller < end_of_layer;
}

void* malloc(size_t size) {
    void* const made = __libc_malloc(size);
    if (is_layers(__builtin_return_address(0))) {
        ++allocations;
        held_B += (long)malloc_usable_size(made);
    }
    return made;
}

void free(void* made) {
    if (is_layers(__builtin_return_address(0))) held_B -= (long)malloc_usable_size(made);
    __libc_free(made);
}

static int find_layer(struct dl_phdr_info* file, size_t size, void* data) {
    (void)size, (void)data;
    if (strstr(file->dlpi_name, "libhockney-preload") == NULL) return 0;
    for (int i = 0; i < file->dlpi_phnum; ++i)
        if (file->dlpi_phdr[i].p_type == PT_LOAD && (file->dlpi_phdr[i].p_flags & PF_X)) {
            first_of_layer = file->dlpi_addr + file->dlpi_phdr[i].p_vaddr;
            end_of_layer = first_of_layer + file->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

/* From here on they count. */
static void count_allocations(void) { dl_iterate_phdr(find_layer, NULL); }
