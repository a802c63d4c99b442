/* PETSc's conjugate gradients on the problem of `hockney run cg`: the time of an iteration.

   cg_petsc -n NX,NY[,NZ] -iterations N -repetitions R -matrix aij|shell

   Prints one line for each repetition: seconds of N iterations, of the slowest rank. The shell's operator is
   as a user of PETSc writes it: ghosts by a DMDA, one loop. */
#include <petscdmda.h>
#include <petscksp.h>

static PetscErrorCode multiply_flat(Mat matrix, Vec from, Vec to) {
    DM grid;
    Vec local;
    DMDALocalInfo info;
    const PetscScalar** p;
    PetscScalar** q;
    PetscFunctionBeginUser;
    PetscCall(MatShellGetContext(matrix, &grid));
    PetscCall(DMGetLocalVector(grid, &local));
    PetscCall(DMGlobalToLocal(grid, from, INSERT_VALUES, local));
    PetscCall(DMDAGetLocalInfo(grid, &info));
    PetscCall(DMDAVecGetArrayRead(grid, local, &p));
    PetscCall(DMDAVecGetArray(grid, to, &q));
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
        for (PetscInt i = info.xs; i < info.xs + info.xm; ++i)
            q[j][i] = 4 * p[j][i] - p[j][i - 1] - p[j][i + 1] - p[j - 1][i] - p[j + 1][i];
    PetscCall(DMDAVecRestoreArray(grid, to, &q));
    PetscCall(DMDAVecRestoreArrayRead(grid, local, &p));
    PetscCall(DMRestoreLocalVector(grid, &local));
    PetscFunctionReturn(0);
}

static PetscErrorCode multiply(Mat matrix, Vec from, Vec to) {
    DM grid;
    Vec local;
    DMDALocalInfo info;
    const PetscScalar*** p;
    PetscScalar*** q;
    PetscFunctionBeginUser;
    PetscCall(MatShellGetContext(matrix, &grid));
    PetscCall(DMGetLocalVector(grid, &local));
    PetscCall(DMGlobalToLocal(grid, from, INSERT_VALUES, local));
    PetscCall(DMDAGetLocalInfo(grid, &info));
    PetscCall(DMDAVecGetArrayRead(grid, local, &p));
    PetscCall(DMDAVecGetArray(grid, to, &q));
    for (PetscInt k = info.zs; k < info.zs + info.zm; ++k)
        for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
            for (PetscInt i = info.xs; i < info.xs + info.xm; ++i)
                q[k][j][i] = 6 * p[k][j][i] - p[k][j][i - 1] - p[k][j][i + 1] - p[k][j - 1][i] -
                             p[k][j + 1][i] - p[k - 1][j][i] - p[k + 1][j][i];
    PetscCall(DMDAVecRestoreArray(grid, to, &q));
    PetscCall(DMDAVecRestoreArrayRead(grid, local, &p));
    PetscCall(DMRestoreLocalVector(grid, &local));
    PetscFunctionReturn(0);
}

static PetscErrorCode fill(DM grid, Mat matrix) {
    DMDALocalInfo info;
    PetscFunctionBeginUser;
    PetscCall(DMDAGetLocalInfo(grid, &info));
    const PetscInt sizes[3] = {info.mx, info.my, info.mz};
    for (PetscInt k = info.zs; k < info.zs + info.zm; ++k)
        for (PetscInt j = info.ys; j < info.ys + info.ym; ++j)
            for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
                const PetscInt at[3] = {i, j, k};
                MatStencil row = {k, j, i, 0}, columns[7];
                PetscScalar values[7];
                PetscInt count = 0;
                columns[count] = row;
                values[count++] = 2 * info.dim;
                for (int d = 0; d < info.dim; ++d)
                    for (int side = -1; side <= 1; side += 2) {
                        if (at[d] + side < 0 || at[d] + side >= sizes[d]) continue;
                        MatStencil other = row;
                        if (d == 0) other.i += side;
                        if (d == 1) other.j += side;
                        if (d == 2) other.k += side;
                        columns[count] = other;
                        values[count++] = -1;
                    }
                PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
            }
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
    PetscInt n[3] = {100, 100, 100}, given = 3, iterations = 10, repetitions = 5;
    char kind[16] = "aij";
    DM grid;
    Mat matrix;
    Vec b, x;
    KSP solver;
    PC none;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", n, &given, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &iterations, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-repetitions", &repetitions, NULL));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-matrix", kind, sizeof kind, NULL));
    if (given == 2)
        PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_STAR,
                               n[0], n[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &grid));
    else
        PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_GHOSTED, DM_BOUNDARY_GHOSTED,
                               DM_BOUNDARY_GHOSTED, DMDA_STENCIL_STAR, n[0], n[1], n[2], PETSC_DECIDE,
                               PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &grid));
    PetscCall(DMSetUp(grid));
    PetscCall(DMCreateGlobalVector(grid, &b));
    PetscCall(VecDuplicate(b, &x));
    if (kind[0] == 's') {
        PetscInt mine;
        PetscCall(VecGetLocalSize(b, &mine));
        PetscCall(
            MatCreateShell(PETSC_COMM_WORLD, mine, mine, PETSC_DETERMINE, PETSC_DETERMINE, grid, &matrix));
        PetscCall(MatShellSetOperation(matrix, MATOP_MULT,
                                       (void (*)(void))(given == 2 ? multiply_flat : multiply)));
    } else {
        PetscCall(DMCreateMatrix(grid, &matrix));
        PetscCall(fill(grid, matrix));
    }
    PetscCall(VecSetRandom(b, NULL));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
    PetscCall(KSPSetOperators(solver, matrix, matrix));
    PetscCall(KSPSetType(solver, KSPCG));
    PetscCall(KSPGetPC(solver, &none));
    PetscCall(PCSetType(none, PCNONE));
    PetscCall(KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetTolerances(solver, 1e-300, 1e-300, PETSC_DEFAULT, iterations));
    for (PetscInt repetition = -1; repetition < repetitions; ++repetition) {
        double mine_s, slowest_s;
        PetscCall(VecSet(x, 0));
        MPI_Barrier(PETSC_COMM_WORLD);
        mine_s = -MPI_Wtime();
        PetscCall(KSPSolve(solver, b, x));
        mine_s += MPI_Wtime();
        MPI_Allreduce(&mine_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
        if (repetition >= 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.9g\n", slowest_s));
    }
    PetscCall(KSPDestroy(&solver));
    PetscCall(MatDestroy(&matrix));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(DMDestroy(&grid));
    return PetscFinalize();
}
