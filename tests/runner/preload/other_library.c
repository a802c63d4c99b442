/* Is, for the layer, a program on another library (CASE other), or on one without MPI_Exscan (CASE missing): sums, and
   exit code 6 where they are right. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

#ifdef MISSING
void* dlsym(void* handle, const char* name) {
    static void* (*own)(void*, const char*);
    static void* library;
    if (own == NULL) own = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (own == NULL) own = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (own == NULL) own = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
    if (strcmp(name, "PMPI_Exscan") == 0) return NULL;
    if (library == NULL) {
        Dl_info found;
        if (dladdr((void*)MPI_Wtime, &found) != 0) library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    }
    /* What follows this program would be the layer. */
    return own(handle == RTLD_NEXT ? library : handle, name);
}
#else
int PMPI_Get_library_version(char* text, int* length) {
    strcpy(text, "Another MPI 1.0\nof a house that is not known");
    *length = (int)strlen(text);
    return MPI_SUCCESS;
}
#endif

int main(int argc, char** argv) {
    int one = 1, sum = 0, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 3; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum == ranks ? 6 : 3;
}
