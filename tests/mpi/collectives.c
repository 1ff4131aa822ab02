/*
 * The collectives of `rdmacomm bench`, by MPI: sums of doubles and blocks of them, measured and checked in the same
 * way, printed in the same columns.
 *
 * mpicc -O2 -o collectives collectives.c && mpirun -n 4 collectives 0.25 allreduce,barrier 8 1024 65536
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, VALUES = 97 };
enum test { BARRIER, BROADCAST, REDUCE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, TESTS };

static const char *const names[TESTS] = {
    "barrier", "broadcast", "reduce", "allreduce", "allgather", "reducescatter", "alltoall"};

static int rank, ranks;
static double *from, *into;

/* The numbers of the longer side. */
static long count_of(enum test test, long bytes)
{
    long numbers = (bytes + 7) / 8;
    return test >= ALLGATHER ? (numbers + ranks - 1) / ranks * ranks : numbers;
}

static double bus_factor(enum test test)
{
    switch (test) {
    case BARRIER:
        return 0;
    case BROADCAST:
    case REDUCE:
        return 1;
    case ALLREDUCE:
        return 2.0 * (ranks - 1) / ranks;
    default:
        return (ranks - 1.0) / ranks;
    }
}

static void call(enum test test, int count)
{
    int block = count / ranks;
    switch (test) {
    case BARRIER:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case BROADCAST:
        MPI_Bcast(rank == 0 ? from : into, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        break;
    case REDUCE:
        MPI_Reduce(from, into, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        break;
    case ALLREDUCE:
        MPI_Allreduce(from, into, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case ALLGATHER:
        MPI_Allgather(from, block, MPI_DOUBLE, into, block, MPI_DOUBLE, MPI_COMM_WORLD);
        break;
    case REDUCESCATTER:
        MPI_Reduce_scatter_block(from, into, block, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    default:
        MPI_Alltoall(from, block, MPI_DOUBLE, into, block, MPI_DOUBLE, MPI_COMM_WORLD);
    }
}

static double given(int of, long index)
{
    return (of + 1.0) * (index % VALUES + 1);
}

static double expected(enum test test, long block, long index)
{
    double factors = ranks * (ranks + 1.0) / 2;
    switch (test) {
    case BROADCAST:
        return given(0, index);
    case REDUCE:
    case ALLREDUCE:
        return factors * given(0, index);
    case ALLGATHER:
        return given((int)(index / block), index % block);
    case REDUCESCATTER:
        return factors * given(0, rank * block + index);
    default:
        return given((int)(index / block), rank * block + index % block);
    }
}

static int is_right(enum test test, int count)
{
    int block = count / ranks;
    int results = test == REDUCESCATTER ? block : count;
    for (int i = 0; i < count; i++)
        from[i] = given(rank, i);
    memset(into, 0xff, count * sizeof *into);
    call(test, count);
    if (test == BARRIER || (test == BROADCAST && rank == 0) || (test == REDUCE && rank != 0))
        return 1;
    for (int i = 0; i < results; i++)
        if (into[i] != expected(test, block, i))
            return 0;
    return 1;
}

static double seconds(enum test test, int count, long calls)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (long i = 0; i < calls; i++)
        call(test, count);
    double own = MPI_Wtime() - begin, slowest;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static void measure(enum test test, long bytes, double duration)
{
    int count = (int)count_of(test, bytes);
    int right = is_right(test, count), all;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) {
        if (rank == 0)
            fprintf(stderr, "%s of %ld bytes gave a wrong result\n", names[test], bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    long calls = 1;
    double time = seconds(test, count, calls);
    while (time < duration / ROUNDS) {
        calls *= 2;
        time = seconds(test, count, calls);
    }
    double micros[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        micros[i] = seconds(test, count, calls) * 1e6 / calls;
    qsort(micros, ROUNDS, sizeof *micros, compare);
    double median = micros[ROUNDS / 2], algorithm = test == BARRIER ? 0 : count * 8 / median / 1e3;
    if (rank == 0)
        printf("%-14s %10ld %-20s %10ld %12.2f %13.3f %13.3f\n", names[test], test == BARRIER ? 0L : count * 8L,
            "Open MPI", ROUNDS * calls, median, algorithm, algorithm * bus_factor(test));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4) {
        fprintf(stderr, "usage: collectives SECONDS TEST,... BYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    long largest = 8;
    for (int i = 3; i < argc; i++)
        largest = atol(argv[i]) > largest ? atol(argv[i]) : largest;
    from = malloc(largest + 8L * ranks);
    into = malloc(largest + 8L * ranks);
    if (rank == 0)
        printf("%-14s %10s %-20s %10s %12s %13s %13s\n", "collective", "bytes", "by", "calls", "time [us]",
            "algbw [GB/s]", "busbw [GB/s]");
    char tests[256];
    snprintf(tests, sizeof tests, ",%s,", argv[2]);
    for (int test = 0; test < TESTS; test++) {
        char name[32];
        snprintf(name, sizeof name, ",%s,", names[test]);
        if (!strstr(tests, name))
            continue;
        for (int i = 3; i < (test == BARRIER ? 4 : argc); i++)
            measure(test, atol(argv[i]), atof(argv[1]));
    }
    MPI_Finalize();
    return 0;
}
