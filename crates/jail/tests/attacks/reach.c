// reach NAME: into another process, the victim: its memory, its files, its life.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int got(long result) {
    if (result < 0) return perror("no"), 1;
    puts("GOT");
    return 0;
}

static pid_t target;

static const char *of(const char *name) {
    static char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", target, name);
    return path;
}

static char piece[1 << 20];

// Looks at every piece of memory that can be written, with the given reader.
static long each(long (*take)(unsigned long at, long size), int write_back) {
    FILE *maps = fopen(of("maps"), "r");
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || mode[1] != 'w') continue;
        long size = to - from < sizeof piece ? to - from : sizeof piece;
        if (take(from, size) <= 0) continue;
        char *found = memmem(piece, size, "exacta-canary-", 14);
        if (!found) continue;
        if (!write_back) return printf("%.20s\n", found), 0;
        return (long)(from + (found - piece));
    }
    return -1;
}

static long by_call(unsigned long at, long size) {
    struct iovec here = {piece, size}, there = {(void *)at, size};
    return process_vm_readv(target, &here, 1, &there, 1, 0);
}

static int memory;
static long by_file(unsigned long at, long size) { return pread(memory, piece, size, at); }

static int read_call(void) { return each(by_call, 0) < 0 ? got(-1) : 0; }
static int read_file(void) {
    memory = open(of("mem"), O_RDONLY);
    return memory < 0 || each(by_file, 0) < 0 ? got(-1) : 0;
}
static int write_call(void) {
    // The address is found through the file, so that only the writing is tried.
    memory = open(of("mem"), O_RDONLY);
    long at = each(by_file, 1);
    struct iovec here = {"pwned", 5}, there = {(void *)at, 5};
    return got(at < 0 ? -1 : process_vm_writev(target, &here, 1, &there, 1, 0));
}
static int write_file(void) {
    memory = open(of("mem"), O_RDWR);
    long at = memory < 0 ? -1 : each(by_file, 1);
    return got(at < 0 ? -1 : pwrite(memory, "pwned", 5, at));
}
static int attach(void) { return got(ptrace(PTRACE_ATTACH, target, 0, 0)); }
static int seize(void) { return got(ptrace(PTRACE_SEIZE, target, 0, 0)); }
static int trace_child(void) {
    pid_t child = fork();
    if (!child) pause();
    return got(ptrace(PTRACE_ATTACH, child, 0, 0));
}
static int be_traced(void) { return got(ptrace(PTRACE_TRACEME, 0, 0, 0)); }

static int show(int file) {
    char text[64] = "";
    if (file < 0 || pread(file, text, 63, 0) <= 0) return got(-1);
    puts(text);
    return 0;
}
static int take_descriptor(void) {
    int handle = syscall(SYS_pidfd_open, target, 0);
    for (int number = 3; handle >= 0 && number < 32; number++)
        if (!show(syscall(SYS_pidfd_getfd, handle, number, 0))) return 0;
    return 1;
}
static int open_descriptor(void) {
    char name[16];
    for (int number = 0; number < 32; number++) {
        snprintf(name, sizeof name, "fd/%d", number);
        if (!show(open(of(name), O_RDONLY))) return 0;
    }
    return 1;
}
static int its_directory(void) {
    char path[80];
    snprintf(path, sizeof path, "%s/secret", of("cwd"));
    return show(open(path, O_RDONLY));
}
static int its_root(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s/secret", of("root"), getenv("OUT"));
    return show(open(path, O_RDONLY));
}
static int its_words(void) {
    char text[4096] = "";
    int file = open(of("cmdline"), O_RDONLY);
    long size = read(file, text, sizeof text - 1);
    char *found = size > 0 ? memmem(text, size, "exacta-canary", 13) : NULL;
    return found ? puts(found), 0 : got(-1);
}
static int its_environment(void) {
    char text[4096] = "";
    int file = open(of("environ"), O_RDONLY);
    long size = read(file, text, sizeof text - 1);
    char *found = size > 0 ? memmem(text, size, "exacta-canary", 13) : NULL;
    return found ? puts(found), 0 : got(-1);
}
static int signal_number(void) { return got(kill(target, SIGUSR1)); }
static int signal_thread(void) { return got(syscall(SYS_tgkill, target, target, SIGUSR1)); }
static int signal_handle(void) {
    int handle = syscall(SYS_pidfd_open, target, 0);
    return got(handle < 0 ? -1 : syscall(SYS_pidfd_send_signal, handle, SIGUSR1, 0, 0));
}
static int signal_queue(void) { return got(sigqueue(target, SIGUSR1, (union sigval){0})); }
static int signal_all_numbers(void) {
    // Not knowing the number, all of them.
    int reached = -1;
    for (pid_t number = 2; number < 400; number++)
        if (number != getpid() && !kill(number, SIGUSR1)) reached = 0;
    return got(reached);
}
static int signal_by_file(void) {
    // The kernel sends it for us, when there is something to read.
    int ends[2];
    if (pipe(ends)) return 1;
    fcntl(ends[0], F_SETSIG, SIGUSR1);
    fcntl(ends[0], F_SETFL, O_ASYNC);
    if (fcntl(ends[0], F_SETOWN, target)) return got(-1);
    return got(write(ends[1], "x", 1));
}
static int stop(void) { return got(kill(target, SIGSTOP)); }
static int kill_it(void) { return got(kill(target, SIGKILL)); }
static int signal_group(void) { return got(kill(-getpgid(target), SIGUSR1)); }
static int its_session(void) { return got(getsid(target)); }
static int find_it(void) {
    // By its name, in the list of processes.
    DIR *all = opendir("/proc");
    struct dirent *entry;
    while (all && (entry = readdir(all))) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        int file = open(path, O_RDONLY);
        if (file >= 0 && read(file, name, 31) > 0 && !strncmp(name, "exacta-victim", 13)) return got(0);
        close(file);
    }
    return 1;
}
static int enter_mounts(void) { return got(setns(open(of("ns/mnt"), O_RDONLY), CLONE_NEWNS)); }
static int enter_network(void) { return got(setns(open(of("ns/net"), O_RDONLY), CLONE_NEWNET)); }
static int enter_user(void) { return got(setns(open(of("ns/user"), O_RDONLY), 0)); }

static const struct { const char *name; int (*does)(void); } ALL[] = {
    {"read-call", read_call}, {"read-file", read_file}, {"write-call", write_call}, {"write-file", write_file},
    {"attach", attach}, {"seize", seize}, {"trace-child", trace_child}, {"be-traced", be_traced},
    {"take-descriptor", take_descriptor}, {"open-descriptor", open_descriptor}, {"directory", its_directory},
    {"root", its_root}, {"words", its_words}, {"environment", its_environment}, {"signal", signal_number},
    {"signal-thread", signal_thread}, {"signal-handle", signal_handle}, {"signal-queue", signal_queue},
    {"signal-all", signal_all_numbers}, {"signal-file", signal_by_file}, {"stop", stop}, {"kill", kill_it},
    {"signal-group", signal_group}, {"session", its_session}, {"find", find_it}, {"enter-mounts", enter_mounts},
    {"enter-network", enter_network}, {"enter-user", enter_user},
};

int main(int count, char **words) {
    const char *number = count > 2 ? getenv(words[2]) : getenv("VICTIM");
    target = number ? atoi(number) : atoi(words[2]);
    for (size_t i = 0; count > 1 && i < sizeof ALL / sizeof *ALL; i++)
        if (!strcmp(ALL[i].name, words[1])) return ALL[i].does();
    fprintf(stderr, "no such attack\n");
    return 2;
}
