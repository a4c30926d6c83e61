// calls NAME: one system call that has no place in a jail. GOT: the kernel did it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static int got(long result) {
    if (result < 0) return perror("no"), 1;
    puts("GOT");
    return 0;
}

static char *outside(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("OUT"), name);
    return path;
}

static pid_t victim(void) { return atoi(getenv("VICTIM")); }

static int ring(void) {
    struct io_uring_params parameters = {0};
    return got(syscall(SYS_io_uring_setup, 4, &parameters));
}

// Opens a file where no filter of calls sees it.
static int ring_open(void) {
    struct io_uring_params parameters = {0};
    int ring = syscall(SYS_io_uring_setup, 4, &parameters);
    if (ring < 0) return got(ring);
    char *queue = mmap(0, parameters.sq_off.array + 16, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *entries = mmap(0, 4 * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    char *done = mmap(0, parameters.cq_off.cqes + 8 * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
    entries[0].opcode = IORING_OP_OPENAT;
    entries[0].fd = AT_FDCWD;
    entries[0].addr = (unsigned long)outside("secret");
    ((unsigned *)(queue + parameters.sq_off.array))[0] = 0;
    *(unsigned *)(queue + parameters.sq_off.tail) = 1;
    if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) < 0) return got(-1);
    int file = ((struct io_uring_cqe *)(done + parameters.cq_off.cqes))->res;
    char text[64] = "";
    if (file < 0 || read(file, text, 63) < 0) return errno = -file, got(-1);
    puts(text);
    return 0;
}

static int bpf_map(void) {
    union bpf_attr attribute = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    return got(syscall(SYS_bpf, BPF_MAP_CREATE, &attribute, sizeof attribute));
}

static int fault(void) { return got(syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC)); }

static int count(pid_t of) {
    struct perf_event_attr attribute = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attribute,
        .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1, .exclude_hv = 1};
    return got(syscall(SYS_perf_event_open, &attribute, of, -1, -1, 0));
}
static int perf(void) { return count(0); }
static int perf_victim(void) { return count(victim()); }

static int show_key(long key) {
    char text[256] = "";
    if (key < 0 || syscall(SYS_keyctl, KEYCTL_READ, key, text, 255) < 0) return got(-1);
    puts(text);
    return 0;
}
static int key_search(void) {
    return show_key(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", "exacta-key", 0));
}
static int key_request(void) { return show_key(syscall(SYS_request_key, "user", "exacta-key", 0, 0)); }
static int key_add(void) { return got(syscall(SYS_add_key, "user", "planted", "x", 1, KEY_SPEC_USER_KEYRING)); }
static int key_join(void) { return got(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, "exacta")); }
static int key_persistent(void) { return got(syscall(SYS_keyctl, KEYCTL_GET_PERSISTENT, -1, KEY_SPEC_PROCESS_KEYRING)); }
static int key_names(void) {
    // Guessing serial numbers: what is not ours may still be described.
    char text[256];
    FILE *keys = fopen("/proc/keys", "r");
    while (keys && fgets(text, sizeof text, keys))
        if (strstr(text, "exacta-key")) return got(0);
    return 1;
}

static int no_randomness(void) { return got(personality(ADDR_NO_RANDOMIZE)); }
static int executable_data(void) { return got(personality(READ_IMPLIES_EXEC)); }
static int other_system(void) { return got(personality(PER_LINUX32)); }

#ifdef __x86_64__
static int foreign(void) {
    // getpid of the 32-bit table: a filter that knows one table only does not see this.
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
    return got(result);
}
static int foreign_open(void) {
    char *path = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    strcpy(path, outside("secret"));
    long file;
    __asm__ volatile("int $0x80" : "=a"(file) : "a"(5L), "b"((long)path), "c"(0L), "d"(0L) : "memory");
    char text[64] = "";
    if (file < 0 || read(file, text, 63) < 0) return errno = -file, got(-1);
    puts(text);
    return 0;
}
static int foreign_table(void) { return got(syscall(0x40000000 | SYS_getpid)); }
static int ports(void) { return got(syscall(SYS_iopl, 3)); }
static int port_range(void) { return got(syscall(SYS_ioperm, 0x80, 1, 1)); }
static int segments(void) {
    char table[64];
    return got(syscall(SYS_modify_ldt, 0, table, sizeof table));
}
#endif

static int module(void) { return got(syscall(SYS_finit_module, open("file", O_RDONLY), "", 0)); }
static int another_kernel(void) { return got(syscall(SYS_kexec_load, 0, 0, NULL, 0)); }
static int kernel_log(void) {
    char text[4096];
    return got(klogctl(3, text, sizeof text));
}
static int swap(void) { return got(syscall(SYS_swapon, outside("log"), 0)); }
static int account(void) { return got(syscall(SYS_acct, outside("log"))); }
static int secret_memory(void) { return got(syscall(SYS_memfd_secret, 0)); }
static int compare(void) { return got(syscall(SYS_kcmp, getpid(), victim(), 3, 0, 0)); }
static int pages(void) { return got(syscall(SYS_move_pages, victim(), 0, NULL, NULL, NULL, 0)); }
static int watch_all(void) {
    int group = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY);
    return group < 0 ? got(-1) : got(fanotify_mark(group, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, getenv("OUT")));
}
static int watch(void) { return got(inotify_add_watch(inotify_init1(0), getenv("OUT"), IN_ALL_EVENTS)); }
static int watch_processes(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", victim());
    return got(inotify_add_watch(inotify_init1(0), path, IN_ALL_EVENTS));
}

// A handle is a number: whoever knows it needs no path. Made outside, used inside.
struct handle { struct file_handle head; unsigned char body[128]; };
static int handle_make(void) {
    struct handle it = {.head.handle_bytes = 128};
    int mount, out = open("handle", O_WRONLY | O_CREAT, 0644);
    if (name_to_handle_at(AT_FDCWD, outside("secret"), &it.head, &mount, 0)) return got(-1);
    return write(out, &it, sizeof it) == sizeof it ? 0 : 1;
}
static int handle_name(void) { return handle_make() ? 1 : got(0); }
static int handle_open(void) {
    struct handle it;
    int in = open("handle", O_RDONLY), mount = open(getenv("OUT"), O_RDONLY);
    if (mount < 0) mount = open(".", O_RDONLY);
    if (read(in, &it, sizeof it) != sizeof it) return 1;
    int file = open_by_handle_at(mount, &it.head, O_RDONLY);
    char text[64] = "";
    if (file < 0 || read(file, text, 63) < 0) return got(-1);
    puts(text);
    return 0;
}

static int more_files(void) {
    struct rlimit now;
    getrlimit(RLIMIT_NOFILE, &now);
    now.rlim_cur = now.rlim_max = 4000;
    if (setrlimit(RLIMIT_NOFILE, &now)) return got(-1);
    int last = -1;
    for (int i = 0; i < 2000; i++) last = dup(0);
    return got(last);
}
static int more_processes(void) { return got(setrlimit(RLIMIT_NPROC, &(struct rlimit){500, 500})); }
static int limit_victim(void) { return got(prlimit(victim(), RLIMIT_NOFILE, &(struct rlimit){8, 8}, NULL)); }
// Whoever starts the programs that come later: what it may not, they may not.
static int limit_first(void) { return got(prlimit(1, RLIMIT_FSIZE, &(struct rlimit){1 << 20, RLIM_INFINITY}, NULL)); }
static int slow_first(void) { return got(setpriority(PRIO_PROCESS, 1, 5)); }
static int idle_first(void) { return got(sched_setscheduler(1, SCHED_IDLE, &(struct sched_param){0})); }
static int pin_first(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    return got(sched_setaffinity(1, sizeof one, &one));
}
static int slow_victim(void) { return got(setpriority(PRIO_PROCESS, victim(), 19)); }
static int pin_victim(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    return got(sched_setaffinity(victim(), sizeof one, &one));
}
static int dumps(void) {
    struct rlimit now = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_CORE, &now);
    getrlimit(RLIMIT_CORE, &now);
    return got(now.rlim_cur == 1 << 20 ? 0 : -1);
}
static int host_name(void) { return got(sethostname("pwned", 5)); }
static int domain_name(void) { return got(setdomainname("pwned", 5)); }

static const struct { const char *name; int (*does)(void); } ALL[] = {
    {"ring", ring}, {"ring-open", ring_open}, {"bpf", bpf_map}, {"fault", fault}, {"perf", perf},
    {"perf-victim", perf_victim}, {"key-search", key_search}, {"key-request", key_request}, {"key-add", key_add},
    {"key-join", key_join}, {"key-persistent", key_persistent}, {"key-names", key_names},
    {"no-randomness", no_randomness}, {"executable-data", executable_data}, {"other-system", other_system},
#ifdef __x86_64__
    {"foreign", foreign}, {"foreign-open", foreign_open}, {"foreign-table", foreign_table}, {"ports", ports},
    {"port-range", port_range}, {"segments", segments},
#endif
    {"module", module}, {"another-kernel", another_kernel}, {"kernel-log", kernel_log}, {"swap", swap},
    {"account", account}, {"secret-memory", secret_memory}, {"compare", compare}, {"pages", pages},
    {"watch-all", watch_all}, {"watch", watch}, {"watch-processes", watch_processes}, {"handle-make", handle_make},
    {"handle-name", handle_name}, {"handle-open", handle_open}, {"more-files", more_files}, {"more-processes", more_processes},
    {"limit-victim", limit_victim}, {"limit-first", limit_first}, {"slow-first", slow_first},
    {"idle-first", idle_first}, {"pin-first", pin_first}, {"slow-victim", slow_victim},
    {"pin-victim", pin_victim}, {"dumps", dumps},
    {"host-name", host_name}, {"domain-name", domain_name},
};

int main(int count, char **words) {
    for (size_t i = 0; count > 1 && i < sizeof ALL / sizeof *ALL; i++)
        if (!strcmp(ALL[i].name, words[1])) return ALL[i].does();
    fprintf(stderr, "no such attack\n");
    return 2;
}
