/* The floor: the walls of a jail around one program, put up by the shortest way there is.
 *
 *     floor PLAN DIRECTORY PROGRAM
 *     floor bare PROGRAM      for each byte read: fork, exec, wait; how many nanoseconds that took, as a line
 *
 * PLAN is what `exacta-bench plan` prints, so that the view is the same: the same trees, hidden programs, files and
 * links. The layers are those of crates/jail/src/cell/entry.rs, one after the other in one process: there is no spawner, no
 * warden, no supervisor and no protocol, and what goes wrong ends it. A copy of it cleans up when it has ended. It measures; it is not a jail to be used. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 1750000000u
#define PLACE "/tmp"
#define WORKSHOP "/sys"
#define MOST 256

#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

#define CHECK(call) ({ __typeof__(call) result_ = (call); if (result_ == -1) fail(#call, __LINE__); result_; })

static void fail(const char *what, int line) {
    fprintf(stderr, "floor: line %d: %s: %s\n", line, what, strerror(errno));
    _exit(125);
}

struct tree {
    char access; /* r, w or l */
    char *source, *target, *layer, *hidden[1024];
    int hides, mount, upper;
};
static struct tree trees[MOST];
static struct { char *target, *text; } links[MOST];
static struct { char *target, *bytes; size_t length; } files[MOST];
static int tree_count, link_count, file_count;
/* What is written in this tree goes into a layer of its own: where such are, the one of this run, and their mount. */
static char *layered, *layers, layer_name[64];
static int layers_mount;

static char *field(char **at) {
    char *start = *at, *end = start + strcspn(start, "\t\n");
    char stop = *end;
    *end = 0;
    *at = end + (stop != 0);
    return start;
}

static void read_plan(const char *path) {
    struct stat found;
    int file = CHECK(open(path, O_RDONLY | O_CLOEXEC));
    CHECK(fstat(file, &found));
    char *at = malloc(found.st_size + 1), *end = at + found.st_size;
    if (read(file, at, found.st_size) != found.st_size) fail("read", __LINE__);
    *end = 0;
    while (at < end) {
        char *kind = field(&at);
        if (!strcmp(kind, "tree")) {
            struct tree *tree = &trees[tree_count++];
            tree->access = *field(&at), tree->source = field(&at), tree->target = field(&at);
            tree->layer = field(&at);
        } else if (!strcmp(kind, "hide")) {
            struct tree *tree = &trees[tree_count - 1];
            tree->hidden[tree->hides++] = field(&at);
        } else if (!strcmp(kind, "link")) {
            links[link_count].target = field(&at), links[link_count++].text = field(&at);
        } else if (!strcmp(kind, "layered")) {
            layers = field(&at), layered = field(&at);
        } else if (!strcmp(kind, "file")) {
            files[file_count].target = field(&at);
            files[file_count].length = strtoul(field(&at), NULL, 10);
            files[file_count].bytes = at;
            at += files[file_count++].length + 1;
        } else fail(kind, __LINE__);
    }
}

static void write_text(const char *path, const char *text) {
    int file = CHECK(open(path, O_WRONLY | O_CLOEXEC));
    CHECK(write(file, text, strlen(text)));
    close(file);
}

static int take(const char *path, int deep) {
    return CHECK(syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (deep ? AT_RECURSIVE : 0)));
}

static void attach(int mount, const char *at) {
    CHECK(syscall(SYS_move_mount, mount, "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH));
}

/* Nothing that is laid over it may come to lie on the host as well, where mounts are shared. */
#define ALONE (1 << 18)

static void set_flags(int mount, unsigned long flags, int deep) {
    struct mount_attr set = {.attr_set = flags, .propagation = ALONE};
    CHECK(syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | (deep ? AT_RECURSIVE : 0), &set, sizeof set));
}

static int mount_new(const char *kind, const char **options, unsigned long attributes) {
    int context = CHECK(syscall(SYS_fsopen, kind, FSOPEN_CLOEXEC));
    for (; options && *options; options += 2)
        CHECK(syscall(SYS_fsconfig, context, options[1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, options[0], options[1], 0));
    CHECK(syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
    int mount = CHECK(syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes));
    close(context);
    return mount;
}

/* A user namespace that says: this owner on disk is the jail's user. */
static int owners(uid_t user, gid_t group) {
    static int known = -1;
    static uid_t known_user;
    static gid_t known_group;
    if (known != -1 && known_user == user && known_group == group) return known;
    pid_t child = CHECK(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL));
    if (child == 0) for (;;) pause();
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/%d/uid_map", child);
    snprintf(text, sizeof text, "%u %u 1\n", user, NOBODY);
    write_text(path, text);
    snprintf(path, sizeof path, "/proc/%d/gid_map", child);
    snprintf(text, sizeof text, "%u %u 1\n", group, NOBODY);
    write_text(path, text);
    snprintf(path, sizeof path, "/proc/%d/ns/user", child);
    known = CHECK(open(path, O_RDONLY | O_CLOEXEC)), known_user = user, known_group = group;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return known;
}

static int take_owned(const char *path) {
    int mount = take(path, 1);
    struct stat found;
    CHECK(stat(path, &found));
    struct mount_attr set = {.attr_set = MOUNT_ATTR_IDMAP, .propagation = ALONE, .userns_fd = owners(found.st_uid, found.st_gid)};
    CHECK(syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | AT_RECURSIVE, &set, sizeof set));
    return mount;
}

/* Control groups of the first version, where they are and may be made. */
static const char *controllers[] = {"memory", "pids", "cpuacct"};
static char groups[3][64];
static int doors[3];

static void make_groups(void) {
    for (int i = 0; i < 3; i++) {
        char path[192];
        doors[i] = -1;
        snprintf(groups[i], sizeof groups[i], "/sys/fs/cgroup/%s/floor-%d", controllers[i], getpid());
        if (mkdir(groups[i], 0755) == -1) {
            groups[i][0] = 0;
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", groups[i], i == 0 ? "memory.limit_in_bytes" : "pids.max");
        if (i < 2) write_text(path, i == 0 ? "536870912" : "256");
        snprintf(path, sizeof path, "%s/tasks", groups[i]);
        doors[i] = CHECK(open(path, O_WRONLY | O_CLOEXEC));
    }
}

static void remove_groups(void) {
    for (int i = 0; i < 3; i++)
        for (int tries = 0; groups[i][0] && rmdir(groups[i]) == -1 && errno == EBUSY && tries < 100; tries++) usleep(1000);
}

static char *in_layer(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s/%s", layers, layer_name, name);
    return path;
}

/* As the journal makes one: the project's state is absent in it. */
static void make_layer(void) {
    snprintf(layer_name, sizeof layer_name, "floor-%d", getpid());
    CHECK(mkdir(in_layer(""), 0700));
    CHECK(mkdir(in_layer("work"), 0700));
    CHECK(mkdir(in_layer("upper"), 0755));
    close(CHECK(open(in_layer("about"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)));
    write_text(in_layer("about"), layer_name);
    CHECK(mknod(in_layer("upper/.clada"), S_IFCHR, 0));
    close(CHECK(open(in_layer("moment"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)));
}

static void remove_layer(void) {
    static const char *files[] = {"about", "moment", "upper/.clada", "work/work/incompat/volatile/dirty"};
    static const char *folders[] = {"upper", "work/work/incompat/volatile", "work/work/incompat", "work/work", "work", ""};
    for (int i = 0; i < 4; i++) unlink(in_layer(files[i]));
    for (int i = 0; i < 6; i++) rmdir(in_layer(folders[i]));
}

/* Those above it only where they are missing. */
static void make_directories(char *path) {
    if (mkdir(path, 0755) == 0 || errno != ENOENT) return;
    for (char *at = path + sizeof PLACE; *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        mkdir(path, 0755);
        *at = '/';
    }
    mkdir(path, 0755);
}

static char *placed(const char *target) {
    static char path[4096];
    snprintf(path, sizeof path, PLACE "%s", target);
    return path;
}

/* Many lie in one directory, one after the other. */
static char *make_parents(const char *target) {
    static char known[4096];
    char *path = placed(target), *last = strrchr(path, '/');
    *last = 0;
    if (strcmp(known, path)) make_directories(path), strcpy(known, path);
    *last = '/';
    return path;
}

static int lay_over(struct tree *tree, int number) {
    char mask[64], lower[8192], layer[64], upper[128], work[128], name[4096];
    snprintf(mask, sizeof mask, WORKSHOP "/mask%d", number);
    if (tree->hides) {
        CHECK(mkdir(mask, 0755));
        for (int i = 0; i < tree->hides; i++) {
            snprintf(name, sizeof name, "%s/%s", mask, tree->hidden[i]);
            if (link(WORKSHOP "/absent", name) == -1) {
                char *last = strrchr(name, '/');
                *last = 0;
                for (char *at = name + strlen(mask) + 1; *at; at++)
                    if (*at == '/') { *at = 0; mkdir(name, 0755); *at = '/'; }
                mkdir(name, 0755);
                *last = '/';
                CHECK(link(WORKSHOP "/absent", name));
            }
        }
        snprintf(lower, sizeof lower, "%s:%s", mask, placed(tree->target));
    } else snprintf(lower, sizeof lower, "%s", placed(tree->target));
    unsigned long attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    const char *options[9] = {"lowerdir", lower, "userxattr", NULL};
    if (tree->access == 'l') {
        snprintf(layer, sizeof layer, WORKSHOP "/layer%d", number);
        CHECK(mkdir(layer, 0700));
        attach(tree->upper, layer);
        snprintf(upper, sizeof upper, "%s/upper", layer), snprintf(work, sizeof work, "%s/work", layer);
        const char *with[] = {"lowerdir", lower, "upperdir", upper, "workdir", work, "userxattr", NULL, NULL};
        memcpy(options, with, sizeof with);
    } else attributes |= MOUNT_ATTR_RDONLY;
    int mount = mount_new("overlay", options, attributes);
    attach(mount, placed(tree->target));
    return mount;
}

/* Over the tree, with the upper directory behind it. */
static int lay_layer(void) {
    char upper[96], work[96];
    snprintf(upper, sizeof upper, "%s/upper", layer_name), snprintf(work, sizeof work, "%s/work", layer_name);
    CHECK(fchdir(layers_mount));
    const char *options[] = {"lowerdir", placed(layered), "upperdir", upper, "workdir", work, "userxattr", NULL, "volatile", NULL, NULL};
    int mount = mount_new("overlay", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    CHECK(chdir("/"));
    attach(mount, placed(layered));
    return mount;
}

/* Landlock holds on to directories: whoever has just mounted one need not look for it. */
static int rules = -1;

static void grant(int place, unsigned long long rights) {
    struct landlock_path_beneath_attr beneath = {.allowed_access = rights, .parent_fd = place};
    if (rules == -1) return;
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0) return;
    beneath.allowed_access &= 0xC007; /* It is no directory. */
    CHECK(syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0));
}

static void grant_path(const char *path, unsigned long long rights) {
    int place = CHECK(open(path, O_PATH | O_CLOEXEC));
    grant(place, rights);
    close(place);
}

static void begin_rules(void) {
    struct { unsigned long long files, network, scopes; } about = {.files = 0xFFFF};
    rules = syscall(SYS_landlock_create_ruleset, &about, sizeof about, 0);
}

static void build_view(void) {
    static const char *devices[] = {"null", "zero", "full", "random", "urandom"};
    static const char *standard[][2] = {{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}};
    int taken[5], by_root = trees[0].mount != 0;
    char path[64];
    for (int i = 0; i < 5; i++) snprintf(path, sizeof path, "/dev/%s", devices[i]), taken[i] = take(path, 0);
    for (int i = 0; !by_root && i < tree_count; i++) {
        trees[i].mount = take(trees[i].source, 1);
        if (trees[i].access == 'l') trees[i].upper = take(trees[i].layer, 1);
    }
    if (!by_root && layered) layers_mount = take(layers, 1);
    const char *root[] = {"mode", "0755", "size", "16m", NULL};
    int top = mount_new("tmpfs", root, 0);
    attach(top, PLACE);
    grant(top, 0xC);
    CHECK(mkdir(PLACE "/dev", 0755));
    CHECK(mkdir(PLACE "/proc", 0755));
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, PLACE "/dev/%s", devices[i]);
        close(CHECK(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)));
        attach(taken[i], path);
    }
    for (int i = 0; i < 4; i++) snprintf(path, sizeof path, PLACE "/dev/%s", standard[i][0]), CHECK(symlink(standard[i][1], path));
    const char *shared[] = {"mode", "1777", "size", "268435456", NULL};
    CHECK(mkdir(PLACE "/dev/shm", 0755));
    int memory = mount_new("tmpfs", shared, 0);
    attach(memory, PLACE "/dev/shm");
    grant(memory, 0x77BF);
    const char *workshop[] = {"mode", "0755", NULL};
    attach(mount_new("tmpfs", workshop, 0), WORKSHOP);
    CHECK(mkdir(WORKSHOP "/nothing", 0555));
    /* One says it for all: another name takes less than another file. */
    CHECK(mknod(WORKSHOP "/absent", S_IFCHR, 0));
    for (int i = 0; i < tree_count; i++) {
        struct tree *tree = &trees[i];
        set_flags(tree->mount, (tree->access == 'w' ? 0 : MOUNT_ATTR_RDONLY) | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 1);
        make_directories(placed(tree->target));
        if (layered && !strcmp(tree->target, layered)) {
            set_flags(layers_mount, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 1);
            attach(layers_mount, placed(tree->target));
        }
        attach(tree->mount, placed(tree->target));
        int seen = tree->mount;
        if (tree->access == 'l' || (tree->access == 'r' && tree->hides)) seen = lay_over(tree, i);
        if (!layered || strcmp(tree->target, layered)) grant(seen, tree->access == 'r' ? 0xD : 0x77BF);
        for (int hidden = 0; tree->access == 'w' && hidden < tree->hides; hidden++) {
            char name[4096];
            snprintf(name, sizeof name, PLACE "%s/%s", tree->target, tree->hidden[hidden]);
            if (access(name, F_OK) == -1) continue;
            int cover = take(WORKSHOP "/nothing", 0);
            set_flags(cover, MOUNT_ATTR_RDONLY, 0);
            attach(cover, name);
        }
    }
    if (layered) grant(lay_layer(), 0x77BF);
    for (int i = 0; i < link_count; i++) CHECK(symlink(links[i].text, make_parents(links[i].target)));
    for (int i = 0; i < file_count; i++) {
        int file = CHECK(open(make_parents(files[i].target), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
        CHECK(write(file, files[i].bytes, files[i].length));
        close(file);
    }
}

static void mount_processes(void) {
    static const char *covered[] = {"cmdline", "modules", "partitions", "diskstats", "interrupts", "kcore", "keys",
                                    "key-users", "locks", "mdstat", "swaps", "sysrq-trigger"};
    static const char *emptied[] = {"acpi", "asound", "bus", "driver", "fs", "irq", "scsi"};
    int empty[7];
    char path[64];
    for (int i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "/proc/%s", emptied[i]);
        empty[i] = access(path, F_OK) == 0 ? take(PLACE "/proc", 0) : -1;
        if (empty[i] != -1) set_flags(empty[i], MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0);
    }
    attach(mount_new("proc", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC), PLACE "/proc");
    for (int i = 0; i < 7; i++)
        if (empty[i] != -1) snprintf(path, sizeof path, PLACE "/proc/%s", emptied[i]), attach(empty[i], path);
    for (int i = 0; i < 12; i++) {
        snprintf(path, sizeof path, PLACE "/proc/%s", covered[i]);
        if (access(path, F_OK) == 0) attach(take(PLACE "/dev/null", 0), path);
    }
    int settings = take(PLACE "/proc/sys", 1);
    set_flags(settings, MOUNT_ATTR_RDONLY, 1);
    attach(settings, PLACE "/proc/sys");
}

static void enter_view(void) {
    int root = CHECK(open(PLACE, O_PATH | O_DIRECTORY | O_CLOEXEC));
    set_flags(root, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0);
    CHECK(fchdir(root));
    CHECK(syscall(SYS_pivot_root, ".", "."));
    CHECK(syscall(SYS_umount2, ".", 2 /* MNT_DETACH */));
    CHECK(chdir("/"));
    close(root);
}

static void drop_everything(void) {
    struct rlimit none = {0, 0};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    CHECK(setrlimit(RLIMIT_CORE, &none));
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    CHECK(syscall(SYS_capset, &header, data));
}

static void filter_calls(void) {
    static const int refused[] = {
        SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_bpf, SYS_userfaultfd, SYS_perf_event_open, SYS_keyctl,
        SYS_add_key, SYS_request_key, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick,
        SYS_open_tree, SYS_move_mount, SYS_mount_setattr, SYS_unshare, SYS_setns, SYS_clone3, SYS_ptrace, SYS_process_vm_readv,
        SYS_process_vm_writev, SYS_open_by_handle_at, SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module,
        SYS_reboot, SYS_swapon, SYS_swapoff, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_acct, SYS_quotactl, SYS_syslog,
        SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_lookup_dcookie, SYS_vhangup, SYS_nfsservctl, SYS_chroot};
    enum { COUNT = sizeof refused / sizeof *refused };
    struct sock_filter code[COUNT + 6] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xC000003E, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
    };
    for (int i = 0; i < COUNT; i++)
        code[4 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], COUNT - i, 0);
    code[COUNT + 4] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[COUNT + 5] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
    struct sock_fprog program = {.len = COUNT + 6, .filter = code};
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

static int jail(int ready, int ended, char **arguments) {
    char byte;
    for (int i = 0; i < 3; i++) if (doors[i] != -1) { CHECK(write(doors[i], "0", 1)); close(doors[i]); }
    if (read(ready, &byte, 1) != 1) _exit(125);
    setresgid(1, 1, 1);
    setresuid(1, 1, 1);
    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
    CHECK(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
    CHECK(setsid());
    CHECK(syscall(SYS_keyctl, 1, NULL));
    CHECK(unshare(CLONE_NEWCGROUP));
    CHECK(sethostname("floor", 5));
    struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    int socket_ = CHECK(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    CHECK(ioctl(socket_, SIOCSIFFLAGS, &loopback));
    close(socket_);
    begin_rules();
    build_view();
    mount_processes();
    enter_view();
    drop_everything();
    grant_path("/dev", 0xC00E);
    grant_path("/proc", 0x400E);
    filter_calls();
    syscall(SYS_close_range, 3, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */);
    pid_t child = CHECK(fork());
    if (child == 0) {
        setsid();
        CHECK(chdir(arguments[2]));
        if (rules != -1) CHECK(syscall(SYS_landlock_restrict_self, rules, 0));
        char *environment[] = {"PATH=/usr/bin:/bin", NULL};
        execve(arguments[3], arguments + 3, environment);
        fail("execve", __LINE__);
    }
    int status;
    while (waitpid(child, &status, 0) == -1 && errno == EINTR);
    /* Nobody waits for the end of the namespaces. */
    unsigned char code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    if (write(ended, &code, 1) != 1) return 125;
    return 0;
}

static int bare(char **arguments) {
    char byte;
    while (read(0, &byte, 1) == 1) {
        struct timespec begun, ended;
        int status;
        clock_gettime(CLOCK_MONOTONIC, &begun);
        pid_t child = CHECK(fork());
        if (child == 0) {
            execv(arguments[2], arguments + 2);
            fail("execv", __LINE__);
        }
        CHECK(waitpid(child, &status, 0));
        clock_gettime(CLOCK_MONOTONIC, &ended);
        if (status != 0) return 1;
        printf("%lld\n", (ended.tv_sec - begun.tv_sec) * 1000000000ll + ended.tv_nsec - begun.tv_nsec);
        fflush(stdout);
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count == 3 && !strcmp(arguments[1], "bare")) return bare(arguments);
    if (count < 4) return 2;
    int by_root = geteuid() == 0, ready[2], ended[2];
    unsigned char code = 125;
    read_plan(arguments[1]);
    for (int i = 0; by_root && i < tree_count; i++) {
        trees[i].mount = trees[i].access == 'r' ? take(trees[i].source, 1) : take_owned(trees[i].source);
        if (trees[i].access == 'l') trees[i].upper = take_owned(trees[i].layer);
    }
    if (layered) make_layer();
    if (layered && by_root) layers_mount = take_owned(layers);
    make_groups();
    CHECK(pipe2(ready, O_CLOEXEC));
    CHECK(pipe2(ended, O_CLOEXEC));
    pid_t child = CHECK(syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | SIGCHLD, NULL, NULL, NULL, NULL));
    if (child == 0) _exit(jail(ready[0], ended[1], arguments));
    close(ended[1]);
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/%d/setgroups", child);
    if (!by_root) write_text(path, "deny");
    snprintf(path, sizeof path, "/proc/%d/uid_map", child);
    snprintf(text, sizeof text, "1 %u 1\n", by_root ? NOBODY : geteuid());
    write_text(path, text);
    snprintf(path, sizeof path, "/proc/%d/gid_map", child);
    snprintf(text, sizeof text, "1 %u 1\n", by_root ? NOBODY : getegid());
    write_text(path, text);
    CHECK(write(ready[1], "", 1));
    while (read(ended[0], &code, 1) == -1 && errno == EINTR);
    /* Beside whoever has waited for this, as the spawner does. A group is busy until all in it have ended. */
    if (fork() == 0) {
        remove_groups();
        if (layered) remove_layer();
        _exit(0);
    }
    return code;
}
