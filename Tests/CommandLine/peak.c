/*
 * peak FILE COMMAND ...: runs a command, writes its peak memory in KiB and its processor seconds to FILE, and exits with its code.
 *
 * Not measured from Python: a process inherits its parent's peak until it calls exec, so Python's peak would hide the command's.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words)
{
    if (count < 3)
        return 125;
    pid_t child = fork();
    if (child == 0) {
        execv(words[2], words + 2);
        _exit(126);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 125;
    FILE *file = fopen(words[1], "w");
    double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    if (file == NULL || fprintf(file, "%ld %.3f\n", usage.ru_maxrss, seconds) < 0 || fclose(file) != 0)
        return 125;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
